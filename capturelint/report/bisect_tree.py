"""The tree of modules with their verdicts: what passes is folded, and so are equal siblings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from capturelint.report.bisect_paths import shortened
from capturelint.report.bisect_words import named
from capturelint.report.excerpt import printable
from capturelint.report.outline import Line, Piece, Tone, line
from capturelint.report.text import counted
from capturelint.verdict import VARIES, ModuleVerdict, Report, Verdict

_PASSING = (Verdict.EQUAL, Verdict.NOT_CALLED)
_FOLDED = {
    Verdict.EQUAL: ("replays equal", "replay equal"),
    Verdict.NOT_CALLED: ("not called", "not called"),
}


@dataclass(slots=True)
class _Node:
    """A judged module and the judged modules inside it. `blamed`: lines to blame, as shown."""

    module: ModuleVerdict
    blamed: tuple[str, ...]
    inside: list[_Node] = field(default_factory=list)

    def kind(self) -> object:
        """Return what two siblings must have in common to be shown once."""
        start = len(self.module.path)
        module = self.module
        insides = tuple((node.module.path[start:], node.kind()) for node in self.inside)
        return module.cls, module.verdict, module.calls, module.why, self.blamed, insides

    def passing(self) -> Counter[Verdict] | None:
        """Return the verdicts of all modules in it if all pass, else None."""
        if self.module.verdict not in _PASSING:
            return None
        total = Counter([self.module.verdict])
        for node in self.inside:
            part = node.passing()
            if part is None:
                return None
            total += part
        return total

    def varying(self) -> int | None:
        """Return how many modules it is if all but passing ones have arguments that vary."""
        if self.module.verdict is not Verdict.UNDECIDED or not self.module.why.startswith(VARIES):
            return None
        parts = [0 if node.passing() is not None else node.varying() for node in self.inside]
        return None if None in parts else 1 + sum(part for part in parts if part is not None)


def module_tree(report: Report, blamed: Mapping[str, tuple[str, ...]]) -> list[Line]:
    """Return a line for each root. `blamed`: by module path, the places to blame as printed."""
    return [_line(node, is_root=True) for node in _forest(report.modules, blamed)]


def _forest(modules: Sequence[ModuleVerdict], blamed: Mapping[str, tuple[str, ...]]) -> list[_Node]:
    nodes: dict[str, _Node] = {}
    for one in modules:
        nodes.setdefault(one.path, _Node(one, blamed.get(one.path, ())))
    roots: list[_Node] = []
    for path, node in nodes.items():
        parent = next((nodes[outer] for outer in _outer(path) if outer in nodes), None)
        (roots if parent is None else parent.inside).append(node)
    return roots


def is_inside(path: str, paths: Collection[str]) -> bool:
    """Return whether one of the modules at `paths` is around the one at `path`."""
    return any(outer in paths for outer in _outer(path))


def _outer(path: str) -> Iterator[str]:
    """Return the paths of the modules around `path`, innermost first, the root's "" last."""
    while path:
        path = path.rpartition(".")[0]
        yield path


def _line(node: _Node, *, is_root: bool = False) -> Line:
    module = node.module
    pieces: list[Piece | str] = [named(module.path, module.cls), ": ", _verdict(module.verdict)]
    if node.blamed:
        pieces.append(f" at {', '.join(node.blamed)}")
    if module.calls > 1:
        pieces.append(Piece(f", {module.calls} calls in each step", Tone.DIM))
    # Why a module is undecided is told below the tree, with what to do.
    if module.why and module.verdict is not Verdict.UNDECIDED:
        pieces.append(f": {printable(module.why)}")
    return line(*pieces, below=_inside(node), is_tree=is_root)


def _inside(node: _Node) -> list[Line]:
    passing: Counter[Verdict] = Counter()
    varying = 0
    alike: dict[object, list[_Node]] = {}
    for child in node.inside:
        passes = child.passing()
        if passes is not None:
            passing += passes
            continue
        count = child.varying()
        if count is not None:
            varying += count
            continue
        stem, _, last = child.module.path.rpartition(".")
        # Only layers of a list are alike: other siblings have names that say something.
        key = (stem, child.kind()) if last.isdecimal() else child.module.path
        alike.setdefault(key, []).append(child)
    lines: list[Line] = []
    for first, *others in alike.values():
        lines.append(_line(first))
        if others:
            lines.append(_same(first, others))
    if varying:
        words = f"... {counted(varying, 'module')} undecided: other arguments in each step"
        lines.append(line(Piece(words, Tone.DIM)))
    return [*lines, *_folded(passing)]


def _same(first: _Node, others: Sequence[_Node]) -> Line:
    paths = shortened(node.module.path for node in others)
    return line(f"{paths}: same as {printable(first.module.path)}")


def _folded(passing: Counter[Verdict]) -> Iterator[Line]:
    for verdict in _PASSING:
        number = passing[verdict]
        if number:
            words = _FOLDED[verdict][number > 1]
            yield line(Piece(f"... {counted(number, 'module')} {words}", Tone.DIM))


def _verdict(verdict: Verdict) -> Piece:
    if verdict.is_failure:
        return Piece(verdict.value, Tone.BAD)
    return Piece(verdict.value, Tone.GOOD if verdict in _PASSING else Tone.LOUD)
