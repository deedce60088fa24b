"""What bisect found, for people: verdict, tree of modules, what is to blame, one summary line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from capturelint.report.bisect_culprits import at, blamed_lines, culprit_blocks
from capturelint.report.bisect_paths import shortened
from capturelint.report.bisect_standing import standing_lines
from capturelint.report.bisect_tree import is_inside, module_tree
from capturelint.report.bisect_words import heading, is_simulated, meaning, named
from capturelint.report.excerpt import excerpt, printable
from capturelint.report.outline import Line, Piece, Tone, drawn, line, plain
from capturelint.report.standing.stand import Stand
from capturelint.report.text import counted
from capturelint.verdict import LOADING, OF_PADS, VARIES, Hazard, ModuleVerdict, Report, Verdict

_SIMULATED = (
    "simulated: no GPU was used. A pass is no proof, and says nothing about custom kernels"
    " (CUDA, C++ or Triton)."
)
_MEND = "Mend what the reason names"
_SKIP = ", or leave the module out (`--skip`)"
_BY_HAND = " and capture it on a GPU by hand"
_LOAD = "Call what makes the case in Python by itself, and mend what ends it"


def render(
    report: Report,
    *,
    advice: Mapping[str, str] | None = None,
    width: int | None = None,
    color: bool = False,
    stands: Sequence[Stand] = (),
) -> str:
    """Return the report. `advice`: by code of each loaded rule, one sentence on what to do.

    `stands`: how findings of `check` stand after the run.
    `width`: columns of the terminal; None for a pipe: no colours, and no line is broken.
    """
    lines = _lines(report, advice or {}, stands)
    return plain(lines) if width is None else drawn(lines, width=width, color=color)


def summary(report: Report) -> str:
    """Return counts, times and the environment in one line."""
    parts = [
        _to_blame(report),
        f"{counted(len(report.modules), 'module')} judged",
    ]
    undecided = sum(one.verdict is Verdict.UNDECIDED for one in report.modules)
    if undecided:
        parts.append(f"{undecided} undecided")
    timings = report.timings
    parts += [
        counted(round(timings[key]), key.removesuffix("s"))
        for key in ("attempts", "forwards")
        if key in timings
    ]
    # In all, else in the child process alone.
    seconds = timings.get("total", timings.get("seconds"))
    if seconds is not None:
        parts.append(f"{seconds:.1f} s")
    environment = report.environment
    parts.append(f"backend {report.backend}")
    if "torch" in environment:
        parts.append(f"torch {printable(environment['torch'])}")
    if "device" in environment and not is_simulated(report):
        parts.append(printable(environment["device"]))
    return ", ".join(parts)


def _to_blame(report: Report) -> str:
    known = [one.place for one in report.culprits if one.place is not None and one.place.path]
    lines = counted(len({at(place) for place in known}), "line")
    modules = counted(len({culprit.module for culprit in report.culprits}), "module")
    if not report.culprits:
        return f"{lines} to blame"
    return f"{lines} to blame in {modules}" if known else f"{modules} to blame, no line known"


def _lines(report: Report, advice: Mapping[str, str], stands: Sequence[Stand]) -> list[Line]:
    tone = Tone.BAD if report.verdict.is_failure else Tone.STRONG
    blocks = [
        [line(Piece(heading(report), tone), f": {printable(report.case)}: {meaning(report)}")],
        module_tree(report, blamed_lines(report)),
        *([block] for block in culprit_blocks(report, advice)),
        _undecided(report),
        _hazards(report),
        standing_lines(stands),
        list(_notes(report)),
        [line(Piece(summary(report), Tone.STRONG))],
    ]
    lines: list[Line] = []
    for block in blocks:
        if block and lines:
            lines.append(line())
        lines += block
    return lines


def _undecided(report: Report) -> list[Line]:
    """Return why modules could not be judged, each reason once, and what to do."""
    reasons: dict[tuple[str, str], list[ModuleVerdict]] = {}
    for module in report.modules:
        if module.verdict is Verdict.UNDECIDED:
            # Each receives something else in the end: the first shows how it begins.
            key = ("", VARIES) if module.why.startswith(VARIES) else (module.cls, module.why)
            reasons.setdefault(key, []).append(module)
    if not reasons:
        return []
    told = [_reason(modules, varies=key == ("", VARIES)) for key, modules in reasons.items()]
    then = f"{_next(report, [one for alike in reasons.values() for one in alike])}."
    title = line(Piece("could not be judged", Tone.LOUD), ":")
    return [replace(title, below=(*told, line(Piece("next: ", Tone.DIM), then)))]


def _next(report: Report, undecided: Sequence[ModuleVerdict]) -> str:
    """Return what to do about modules that could not be judged."""
    if any(LOADING in one.why for one in undecided):
        return _LOAD
    if all(one.why.startswith(OF_PADS) for one in undecided):
        return _MEND
    paths = {one.path for one in report.modules}
    # Of a root nothing is left when it is left out.
    if not any(is_inside(one.path, paths) for one in undecided):
        return f"{_MEND}{', or capture it on a GPU by hand' if is_simulated(report) else ''}"
    return f"{_MEND}{_SKIP}{_BY_HAND if is_simulated(report) else ''}"


def _reason(modules: Sequence[ModuleVerdict], *, varies: bool) -> Line:
    """Return why these modules could not be judged; of those that receive others, the first."""
    first, *others = modules
    paths = first.path if varies else shortened(module.path for module in modules)
    more = f"; so do those of {counted(len(others), 'more module')}" if varies and others else ""
    why = printable(first.why) or "no reason is known"
    return line(Piece(named(paths, first.cls), Tone.STRONG), f": {why}{more}")


def _hazards(report: Report) -> list[Line]:
    """Return the hazards of the pass as if capturing that no culprit names."""
    blamed = {at(culprit.place) for culprit in report.culprits}
    others = [hazard for hazard in report.hazards if at(hazard.place) not in blamed]
    if not others:
        return []
    title = "also seen in an eager run made as if capturing:"
    return [line(title, below=[_hazard(hazard) for hazard in others])]


def _hazard(hazard: Hazard) -> Line:
    rule = f" (`capturelint rule {hazard.code}`)" if hazard.code else ""
    source = excerpt(hazard.place.source.strip(), 0, None)[0]
    return line(
        Piece(at(hazard.place), Tone.STRONG),
        ": ",
        Piece(hazard.effect.value, Tone.BAD),
        f" in {named(hazard.module, '')}: {printable(hazard.operation)}{rule}",
        below=[line(source)] if source else (),
    )


def _notes(report: Report) -> Iterator[Line]:
    for note in report.notes:
        first, *rest = note.splitlines() or [""]
        below = [line(printable(text)) for text in rest]
        yield line(Piece("note: ", Tone.DIM), printable(first), below=below)
    if is_simulated(report):
        yield line(Piece(_SIMULATED, Tone.LOUD))
