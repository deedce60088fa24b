"""What calls write to the objects that they receive: state where all steps share one, else a copy."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from capturelint.debug.attempts.explanation import RANDOM
from capturelint.debug.attempts.part import Call, Part, named
from capturelint.debug.cases.shared import is_mutable
from capturelint.debug.instance import Instance
from capturelint.debug.states.state import State
from capturelint.debug.trees.branches import branches
from capturelint.debug.trees.trees import nodes


def inputs_write_shared(instance: Instance) -> bool:
    """Return whether the user's inputs change an object that all steps share, as by a reset.

    It is then made anew for each step, and no state.
    """
    if not instance.steps.shared.objects:
        return False
    shared = State(instance.steps.shared.objects)
    before = instance.state.save()
    held = shared.save()
    with instance.state.watching(), shared.watching():
        instance.steps.draw(1)
    # Before each call of the user's function the generators of the host are seeded.
    is_written = any(one.kind != RANDOM for one in shared.changes(held, shared.save()))
    instance.state.restore(before)
    return is_written


def held_by(call: Call) -> dict[int, dict[str, object]]:
    """Return by id what each object and container in what a call receives holds now, by path."""
    tree = (call.args, dict(call.kwargs))
    return {
        id(value): dict(branches(value, "") or ())
        for value in nodes(tree, outside=[id(one) for one in call.shared])
        if is_mutable(value)
    }


def rebound(part: Part, call: Call, held: Mapping[int, Mapping[str, object]]) -> Iterator[str]:
    """Yield what the call made of its arguments hold something else, by name."""
    for name, value in named(part.run, call).items():
        for one in nodes(value, outside=[id(one) for one in call.shared]):
            before = held.get(id(one))
            if before is None:
                continue
            now = dict(branches(one, "") or ())
            if before.keys() != now.keys() or any(before[key] is not now[key] for key in now):
                yield name
                break


def note_on_written(name: str) -> str:
    """Return what to say of an argument that each step has a copy of, and a call changes."""
    return (
        f"each call changes what the argument `{name}` holds, of which every step has a copy of its "
        "own: what one call leaves there the next does not see; let `inputs` return one and the same "
        "object, or hold it in the module, to have it judged as state"
    )
