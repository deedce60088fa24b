"""What an evaluation leaves in the state of a captured function."""

from __future__ import annotations

from collections.abc import Callable

from capturelint.kind import UNKNOWN, Value
from capturelint.lint.values.frame import Frame
from capturelint.lint.values.join import join
from capturelint.lint.values.packed import Packed
from capturelint.lint.values.state import FunctionState
from capturelint.rule import Trait


def note(
    state: FunctionState, frame: Frame, wanted: Callable[[set[str], set[Trait]], bool]
) -> None:
    """Keep what an evaluation noted. `wanted`: whether a rule needs a function's values."""
    frame.kept.settle()
    state.kept = frame.kept
    if frame.kept.moved or any(store.mark is not None for store in frame.kept.stores):
        frame.traits.add(Trait.TENSOR_KEPT)
    keeps = state.is_site or wanted(frame.names, frame.traits)
    state.names, state.traits = (frame.names, frame.traits) if keeps else (frozenset(), frozenset())
    # What a lambda does is noted when it is called, which may be later.
    noted = frame.values if frame.has_lambdas else Packed(frame.values)
    state.noted = noted if keeps else {}


def is_new(state: FunctionState, result: Value) -> bool:
    """Join the result of an evaluation to what was known; return whether they differed.

    Callers are followed again then, also where the joined result stays what it was: what they pass
    to others may be known better by now.
    """
    before = state.returns
    if result == before:
        return False
    is_first = state.rounds == 1 or before == UNKNOWN
    state.returns = result if is_first else join(before, result)
    return True
