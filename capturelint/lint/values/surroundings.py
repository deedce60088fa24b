"""What the configuration and the presets say about code: never captured, guards, host names."""

from __future__ import annotations

import ast
import fnmatch
import re
from collections.abc import Callable, Container, Sequence

from capturelint.kind import HOST, UNKNOWN, Kind, Pinned, Value
from capturelint.lint.project import Project
from capturelint.lint.symbols import Function
from capturelint.lint.values import hints, tables
from capturelint.lint.values.modes import EngineModes
from capturelint.preset import Preset
from capturelint.source import line_shift

_BUILT_IN = {
    name: Value(Kind.HOST_VALUE, constant=(answer,)) for name, answer in tables.GUARDS.items()
}
_YES, _NO = (Value(Kind.HOST_VALUE, constant=(answer,)) for answer in (True, False))
_HOST_NAME = re.compile(tables.HOST_NAME)
# A function that remembers its results runs once, in the warm-up.
_ONCE = frozenset("lru_cache cache cached_property cached".split())
_ESCAPES = frozenset({"torch.compiler.disable", "torch._dynamo.disable"})
# Bodies in a language for kernels are not Python that runs on the host.
_KERNELS = frozenset(
    "triton.jit triton.autotune triton.heuristics tl.jit gluon.jit cute.jit cute.kernel T.prim_func "
    "tilelang.jit helion.kernel cuda.jit numba.jit numba.njit warp.kernel wp.kernel cutlass.jit "
    "flyc.jit flyc.kernel flydsl.jit flydsl.kernel tl.prim_func pl.kernel prim_func njit".split()
)


class Surroundings:
    """Answers that depend on configuration and presets, each remembered.

    `left_out` are functions that are not looked at. In a captured region those are what runs
    eagerly; `around` it, they are what is captured, and comments that mark code as eager do not count.
    `thorough`: what only training runs, or only the first call moves, is looked at too.
    """

    def __init__(
        self,
        project: Project,
        presets: Sequence[Preset],
        left_out: Callable[[Function], bool],
        *,
        around: bool = False,
        thorough: bool = False,
    ) -> None:
        self.project = project
        self.around = around
        self.thorough = thorough
        self.training = HOST if thorough else _NO
        self._left_out = left_out
        self._everything = False
        self._captured: Container[int] = ()
        self._is_eager: dict[int, bool] = {}
        self._fixed = {
            guard.name: Value(Kind.HOST_VALUE, constant=(guard.value,))
            for preset in presets
            for guard in preset.guards
            if not (around and guard.asks_capture)
        }
        capturing = dict.fromkeys(tables.CAPTURE_GUARDS, _NO if around else _YES)
        asked = [g.name for p in presets for g in p.guards if around and g.asks_capture]
        self._own_guards = {**_BUILT_IN, **capturing}
        self._guards = {**self._own_guards, **dict.fromkeys(asked, _NO), **self._fixed}
        self._decorators = frozenset(d for preset in presets for d in preset.decorators)
        self._contexts = frozenset(c for preset in presets for c in preset.contexts)
        self._host_names = tuple(n for preset in presets for n in preset.host_names)
        # Around captured regions all modes are run.
        has_modes = not around and any(preset.modes.captured for preset in presets)
        self.modes = EngineModes(project, presets) if has_modes else None
        is_cuda = any(preset.default_device == "cuda" for preset in presets)
        self.setup_place = Kind.DEVICE_TENSOR if is_cuda else Kind.HOST_TENSOR
        self._hosts: dict[str, bool] = {}

    def include_everything(self, captured: Container[int]) -> None:
        """Forget which code runs eagerly: from here on all is looked at that is not `captured`."""
        self._everything = True
        self._captured = captured
        self._is_eager.clear()
        # What a preset says of captured code does not hold for the rest.
        self._guards = self._own_guards
        self._fixed = {}
        self.modes = None

    def is_outside(self, function: Function | None) -> bool:
        """Return whether code is looked at as it runs outside captured regions."""
        return self.around or self.is_extra(function)

    def is_extra(self, function: Function | None) -> bool:
        """Return whether a function is looked at only because all are: nothing says it is captured."""
        if not self._everything or function is None:
            return False
        return function.index not in self._captured

    def is_eager(self, function: Function) -> bool:
        """Return whether a function never runs under capture."""
        found = self._is_eager.get(function.index)
        if found is None:
            found = self._find_eager(function)
            self._is_eager[function.index] = found
        return found

    def runs_once(self, function: Function) -> bool:
        """Return whether a function remembers its results, so that capture only looks them up."""
        return any(map(_is_memo, function.facts.decorators))

    def _find_eager(self, function: Function) -> bool:
        if function.facts.marker == "captured" and not self.around:
            return False
        marked = self._is_marked(function.facts.marker)
        if function.owner >= 0:
            owner = self.project.classes[function.owner].facts
            # A class decorator that is an escape replaces the methods it is known for.
            marked = (
                marked
                or self._is_marked(owner.marker)
                or any(map(self._is_escape, owner.decorators))
            )
        if marked or any(map(self._is_escape, function.facts.decorators)):
            return True
        if function.facts.name in self._decorators:
            # What an escape hatch is applied to by a call leaves the capture as well.
            return True
        return not self._everything and self._left_out(function)

    def _is_marked(self, marker: str) -> bool:
        return not self.around and marker in ("eager", "step")

    def _is_escape(self, decorator: str) -> bool:
        last = decorator.rpartition(".")[2]
        if decorator in _KERNELS or ".".join(decorator.split(".")[-2:]) in _KERNELS:
            return True
        if _is_memo(decorator) or decorator in self._decorators or last in self._decorators:
            return True
        return decorator in _ESCAPES or decorator.endswith(("compiler.disable", "dynamo.disable"))

    def guard(self, name: str) -> Value | None:
        """Return the answer of a guard, by its dotted name or its last part."""
        found = self._guards.get(name)
        if found is None and "." in name:
            found = self._guards.get(name.rpartition(".")[2])
        return found

    def is_exact_guard(self, name: str) -> bool:
        """Return whether a dotted name is a guard of its own, whatever its last part says."""
        return name in self._guards

    def fixed_attribute(self, name: str) -> Value | None:
        """Return the value of an attribute or variable that a preset knows, by its name."""
        return self._fixed.get(name)

    def is_escape_context(self, name: str) -> bool:
        """Return whether a context manager keeps its body out of the capture."""
        return name in self._contexts or name.rpartition(".")[2] in self._contexts

    def is_host_name(self, name: str) -> bool:
        """Return whether names like this hold data on the host by convention."""
        found = self._hosts.get(name)
        if found is None:
            found = bool(_HOST_NAME.search(name)) or any(
                fnmatch.fnmatchcase(name, pattern) for pattern in self._host_names
            )
            self._hosts[name] = found
        return found

    def place_before(self, function: Function | None) -> Kind:
        """Return where code that runs before capture makes a tensor without `device=`.

        Only modules are sure to be built where the preset says, which counts around the region.
        """
        if self.around and not self._is_in_module(function):
            return Kind.HOST_TENSOR
        return self.setup_place

    def _is_in_module(self, function: Function | None) -> bool:
        owner = -1 if function is None else function.owner
        return owner >= 0 and self.project.is_module(owner)

    def placed(self, name: str, value: Value) -> Value:
        """Return a parameter's value, moved to the host where its name says that it lives there."""
        if value.kind is Kind.DEVICE_TENSOR and self.is_host_name(name):
            return value._replace(kind=Kind.HOST_TENSOR, pinned=Pinned.UNTOLD)
        if value.is_unknown and self.is_host_name(name):
            return HOST
        return value

    def annotation(self, node: ast.expr | str | None, module: str) -> Value:
        """Return what an annotation says, given as a tree or as text."""
        if node is None:
            return UNKNOWN
        if isinstance(node, str):
            return hints.value_of_text(node, self.project, module)
        return hints.value_of(node, self.project, module)

    def line_shift(self, function: Function | None) -> int:
        """Return how many lines to add to a line of a function's own tree."""
        return 0 if function is None else line_shift(function.facts)


def _is_memo(decorator: str) -> bool:
    last = decorator.rpartition(".")[2]
    return last in _ONCE or last.endswith("lru_cache")
