"""A step in captured pieces: what is excluded runs eagerly, and so do the lines of what calls it.

Each largest module that holds nothing excluded is a piece, with a graph for each of its calls in a
step. What comes between the pieces runs as it is written, at each step.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

from torch import Tensor, nn

from capturelint.debug.attempts.calls import Run, answered_by, every_call_through
from capturelint.debug.attempts.compare import EXACT, difference
from capturelint.debug.attempts.part import Call, named
from capturelint.debug.attempts.runs import Inputs
from capturelint.debug.backend import Backend, Captured
from capturelint.debug.running import names_of
from capturelint.debug.trees.copies import copied, nodes
from capturelint.debug.trees.descriptions import described
from capturelint.debug.trees.trees import ArgumentVariesError, leaves
from capturelint.measure.graphs.exclusion import Exclusion
from capturelint.measure.graphs.mistakes import RunnerError
from capturelint.measure.graphs.same import is_same


@dataclass(frozen=True, slots=True)
class _Piece:
    """A captured call of a module. `given`: tensors in its arguments that are where they were.

    `others`: what else is in its arguments, by path.
    """

    module: nn.Module
    inputs: Inputs
    given: tuple[Tensor, ...]
    others: Mapping[str, object]
    captured: Captured


class Pieces:
    """A callable at one size, whose step runs in pieces. `output`: of the last replay."""

    def __init__(
        self,
        run: Callable[..., object],
        arguments: Callable[[], tuple[tuple[Any, ...], dict[str, Any]]],
        exclusion: Exclusion,
        backend: Backend,
        modes: Callable[[], AbstractContextManager[None]],
    ) -> None:
        """Capture the pieces of `run`, called with static `arguments`. Raises what a capture raises."""
        self._run = run
        self._arguments = arguments
        self._exclusion = exclusion
        self._backend = backend
        self._modes = modes
        self._pieces: list[_Piece] = []
        self._static: set[int] = set()
        self._next = 0
        self._is_inside = False
        args, kwargs = arguments()
        self._static.update(id(one) for one in nodes((args, kwargs)) if isinstance(one, Tensor))
        # By their ids alone another tensor could take the place of one that has gone.
        self._alive: list[object] = [args, kwargs]
        self._modules = self._called()
        if not self._modules:
            raise RunnerError("nothing is left to capture; exclude fewer modules")
        self.output: object = None
        try:
            self._step(self._capture)
        except BaseException:
            self.close()
            raise

    def __len__(self) -> int:
        return len(self._pieces)

    def replay(self) -> None:
        """Run the step on what the static arguments hold now."""
        self._next = 0
        self._step(self._replay)
        if self._next != len(self._pieces):
            raise RunnerError(
                f"a step called {self._next} of its {len(self._pieces)} captured pieces; exclude the"
                " modules whose calls depend on data"
            )

    def close(self) -> None:
        """Give the graphs' memory back."""
        for piece in self._pieces:
            piece.captured.close()
        self._pieces.clear()
        self._alive.clear()
        self.output = None

    def _step(self, answer: Callable[[nn.Module, Call], object]) -> None:
        def entry(module: nn.Module) -> Run:
            before: Run | None = vars(module).get("_compiled_call_impl")
            run = before or module._call_impl  # noqa: SLF001 - what a call of the module runs

            def answered(*args: Any, **kwargs: Any) -> object:
                call = Call(args, kwargs)
                return run(*args, **kwargs) if self._is_inside else answer(module, call)

            return answered

        args, kwargs = self._arguments()
        with self._modes(), answered_by({one: entry(one) for one in self._modules}):
            self.output = self._run(*args, **kwargs)

    def _called(self) -> list[nn.Module]:
        """Return the largest modules that a step calls and that may be captured."""
        found: dict[int, nn.Module] = {}
        inside = 0

        def spy(
            module: nn.Module, run: Run, args: tuple[Any, ...], kwargs: dict[str, Any]
        ) -> object:
            nonlocal inside
            is_piece = self._exclusion.is_piece(module)
            if is_piece and not inside:
                found[id(module)] = module
            # Nor is anything a piece inside of what is excluded.
            is_closed = is_piece or id(module) in self._exclusion.excluded
            inside += is_closed
            try:
                return run(*args, **kwargs)
            finally:
                inside -= is_closed

        modules = list(names_of({"": self._run}).values())
        args, kwargs = self._arguments()
        with self._modes(), self._backend.warming_up(), every_call_through(spy, modules):
            self._run(*args, **kwargs)
        return list(found.values())

    def _path(self, module: nn.Module) -> str:
        return self._exclusion.paths[id(module)]

    def _static_in(self, call: Call) -> list[Tensor]:
        """Return the tensors in a call that lie where they lay when it was captured."""
        held = nodes((call.args, dict(call.kwargs)))
        return [one for one in held if isinstance(one, Tensor) and id(one) in self._static]

    def _capture(self, module: nn.Module, call: Call) -> object:
        given = tuple(self._static_in(call))
        shared = Call(call.args, call.kwargs, shared=given)
        inputs = Inputs([shared])
        (own,) = inputs.filled([shared])
        self._is_inside = True
        try:
            self._refuse_written(module, own)
            (own,) = inputs.filled([shared])
            captured = self._backend.capture(lambda: own.of(module))
        finally:
            self._is_inside = False
        others = copied(_others(module, call), shared=given)
        self._pieces.append(_Piece(module, inputs, given, others, captured))
        made = [one for one in nodes(captured.output) if isinstance(one, Tensor)]
        self._static.update(map(id, made))
        self._alive += [made, given]
        # What comes after it is captured on what it computes.
        captured.replay()
        return captured.output

    def _refuse_written(self, module: nn.Module, call: Call) -> None:
        """Run a call once eagerly. Raises `RunnerError` if it writes its arguments."""
        arguments = named(module, call)
        before, versions = copied(arguments), _versions(arguments)
        with self._backend.warming_up():
            call.of(module)
        found = difference(before, named(module, call), EXACT)
        # What was there before may have been written again.
        written = [path for path, one in _versions(arguments).items() if one != versions.get(path)]
        if found is not None or written:
            path = written[0] if found is None else found.path
            raise RunnerError(
                f"{self._path(module)} writes its argument `{path}`, which the code"
                " around it would not see; exclude what calls it too"
            )

    def _replay(self, module: nn.Module, call: Call) -> object:
        piece = self._pieces[self._next] if self._next < len(self._pieces) else None
        if piece is None or piece.module is not module:
            raise RunnerError(
                f"{self._path(module)} was not called here when the pieces were captured; exclude the"
                " modules whose calls depend on data"
            )
        self._next += 1
        if list(map(id, self._static_in(call))) != list(map(id, piece.given)):
            raise RunnerError(
                f"{self._path(module)} was given other tensors when it was captured; exclude it too"
            )
        try:
            piece.inputs.fill([call])
        except ArgumentVariesError as error:
            raise self._varies(module, error.was, error.is_) from None
        for path, value in _others(module, call).items():
            if not is_same(piece.others.get(path), value):
                raise self._varies(module, described(piece.others.get(path)), described(value))
        piece.captured.replay()
        return piece.captured.output

    def _varies(self, module: nn.Module, was: str, is_: str) -> RunnerError:
        told = f"was {was} and is {is_ if is_ != was else 'another'}"
        return RunnerError(f"an argument of the piece {self._path(module)} {told}; exclude it too")


def _others(module: nn.Module, call: Call) -> dict[str, object]:
    """Return what a graph keeps of the arguments of a call: all but tensors, by path."""
    found = leaves(named(module, call))
    return {leaf.path: leaf.value for leaf in found if not isinstance(leaf.value, Tensor)}


def _versions(arguments: object) -> dict[str, int]:
    """Return how often each tensor was written, by path."""
    return {
        leaf.path: leaf.value._version  # noqa: SLF001 - no other way
        for leaf in leaves(arguments)
        if isinstance(leaf.value, Tensor) and not leaf.value.is_inference()
    }
