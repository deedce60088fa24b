"""What is to blame, one block for each line of code, with all that is known of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from capturelint.errors import shown_path
from capturelint.finding import Effect
from capturelint.report.bisect_paths import shortened
from capturelint.report.bisect_words import (
    certainty,
    first_line,
    is_simulated,
    named,
    next_step,
    number,
)
from capturelint.report.excerpt import excerpt, printable
from capturelint.report.outline import Line, Piece, Tone, line
from capturelint.report.text import counted
from capturelint.verdict import Culprit, Evidence, Frozen, Place, Report, Verdict

_MOST = 3  # baked values that are told of one line


def at(place: Place | None) -> str:
    """Return a place as printed: file, relative to the working directory, and line."""
    if place is None or not place.path:
        return "no line is known"
    path = printable(shown_path(place.path))
    return f"{path}:{place.line}" if place.line else path


def blamed_lines(report: Report) -> dict[str, tuple[str, ...]]:
    """Return by module path the places to blame, as printed: `model.py:9, 12` for two of a file."""
    found: dict[str, dict[str, dict[int, None]]] = {}
    for culprit in report.culprits:
        place = culprit.place
        if place is not None and place.path:
            lines = found.setdefault(culprit.module, {}).setdefault(place.path, {})
            lines[place.line] = None
    return {
        module: tuple(_several(path, tuple(lines)) for path, lines in files.items())
        for module, files in found.items()
    }


def _several(path: str, lines: tuple[int, ...]) -> str:
    return ", ".join([at(Place(path, lines[0])), *map(str, lines[1:])])


def culprit_blocks(report: Report, advice: Mapping[str, str]) -> list[Line]:
    """Return a block for each line to blame, numbered. `advice`: what to do, by rule code.

    A line that several modules run, such as all layers of one class, is told once.
    """
    verdicts = {module.path: module.verdict for module in report.modules}
    groups: dict[object, list[Culprit]] = {}
    for culprit in report.culprits:
        groups.setdefault(_key(culprit), []).append(culprit)
    return [
        _block(
            number,
            group,
            verdict=verdicts.get(group[0].module, report.verdict),
            said="CUDA said" if _was_said(group[0], report) else "CUDA would say",
            advice=advice.get(group[0].code),
        )
        for number, group in enumerate(groups.values(), start=1)
    ]


def _was_said(culprit: Culprit, report: Report) -> bool:
    """Return whether CUDA or torch said the message in this run, rather than would have."""
    message = first_line(culprit.message)
    return not is_simulated(report) and message in culprit.evidence.exception


def _key(culprit: Culprit) -> object:
    place = culprit.place and (culprit.place.path, culprit.place.line)
    said = culprit.operation, culprit.message, culprit.code
    return place, culprit.cls, culprit.effect, culprit.certainty, *said


def _block(
    number: int, group: Sequence[Culprit], *, verdict: Verdict, said: str, advice: str | None
) -> Line:
    culprit, *others = group
    place = culprit.place
    below: list[Line] = []
    if place is not None and place.source.strip():
        below.append(line(Piece(_source(place), Tone.STRONG)))
    below.append(_field("module", named(culprit.module, culprit.cls)))
    if others:
        below.append(_field("also", shortened(other.module for other in others)))
    if culprit.operation:
        below.append(_field("operation", printable(culprit.operation)))
    below += _message(culprit, said)
    below.append(_field("how sure", certainty(culprit)))
    below += _evidence(culprit)
    if advice is not None:
        below.append(_field("rule", f"`capturelint rule {culprit.code}`"))
    below.append(_field("next", next_step(verdict, culprit, advice or "")))
    is_verdict = verdict.is_failure and culprit.effect is not Effect.LEAKS
    words = verdict.value if is_verdict else culprit.effect.value
    return line(
        f"{number}. ", Piece(at(place), Tone.STRONG), ": ", Piece(words, Tone.BAD), below=below
    )


def _message(culprit: Culprit, said: str) -> Iterator[Line]:
    message = first_line(culprit.message)
    frozen = culprit.evidence.frozen[:1]
    # Both values are told as evidence.
    is_told = any(one.before in message and one.after in message for one in frozen)
    if message and not is_told:
        yield _field(said if culprit.effect is Effect.REFUSES else "effect", message)


def _evidence(culprit: Culprit) -> Iterator[Line]:
    evidence = culprit.evidence
    if evidence.replay is not None:
        yield _field("differs", _difference(evidence))
    if evidence.counts:
        yield _field("counts", printable(evidence.counts))
    if evidence.fills:
        yield _field("moved by", f"{', '.join(map(printable, evidence.fills))} in the pad rows")
        yield _field("moved", _moved(evidence))
    alike: dict[tuple[str, str, str], list[Frozen]] = {}
    for frozen in evidence.frozen:
        alike.setdefault((frozen.before, frozen.after, frozen.name), []).append(frozen)
    for group in list(alike.values())[:_MOST]:
        yield from _frozen(group, culprit.place, evidence.changes)
    if len(alike) > _MOST:
        yield _field("baked in", f"{counted(len(alike) - _MOST, 'more value')}")
    for change in () if evidence.frozen else evidence.changes:
        yield _field("changes", printable(change))
    if evidence.together:
        yield _field("together", ", ".join(named(path, "") for path in evidence.together))
    raised = first_line(evidence.exception)
    # What was raised is told once: mostly the message is its text.
    if raised and first_line(culprit.message) not in raised:
        yield _field("raised", raised)


def _difference(evidence: Evidence) -> str:
    # A module that returns one tensor has no path to it.
    is_whole = evidence.output in ("", "result")
    output = "" if is_whole else f", in output {printable(evidence.output)}"
    return _by(f"replay {evidence.replay} is the first that differs{output}", evidence)


def _moved(evidence: Evidence) -> str:
    """Return what of real rows the pad rows moved, and by how much."""
    output = printable(evidence.output)
    rows = "" if not evidence.rows else f"; {printable(evidence.rows)}"
    return f"{_by(output, evidence)}{rows}"


def _by(words: str, evidence: Evidence) -> str:
    if evidence.difference is None:
        return words
    dtype = f" in {printable(evidence.dtype)}" if evidence.dtype else ""
    allowed = (
        "" if evidence.tolerance is None else f", where {number(evidence.tolerance)} is allowed"
    )
    return f"{words}: by {number(evidence.difference)}{dtype}{allowed}"


def _frozen(
    alike: Sequence[Frozen], blamed: Place | None, changes: Sequence[str]
) -> Iterator[Line]:
    """Return the lines about one value, `alike` in words wherever it is used."""
    first = alike[0]
    source = f", from `{printable(first.name)}`{_change(first, changes)}" if first.name else ""
    values = f"{printable(first.before)} -> {printable(first.after)}"
    yield _field("baked in", f"{values} in the next call{source}; every replay uses the first")
    yield from _elsewhere("used at", (one.place for one in alike), blamed)
    yield from _elsewhere("set at", (one.cause for one in alike), blamed)


def _change(frozen: Frozen, changes: Sequence[str]) -> str:
    """Return what changes where the value comes from, if that says more than the value."""
    name = frozen.name.removeprefix("self.")
    values = (text.partition(": ")[2] for text in changes if text.partition(": ")[0] == name)
    words = next(values, "").rpartition(" (")[0]
    is_said = not words or words == f"{frozen.before} -> {frozen.after}"
    return "" if is_said else f" ({printable(words)})"


def _elsewhere(label: str, places: Iterable[Place | None], blamed: Place | None) -> Iterator[Line]:
    """Return the places that are not the one to blame, each once."""
    told = {at(place): place for place in places if place is not None}
    told.pop(at(blamed), None)
    yield from (_field(label, _place_and_source(place)) for place in told.values())


def _place_and_source(place: Place) -> str:
    source = _source(place)
    return f"{at(place)}  {source}" if source else at(place)


def _source(place: Place) -> str:
    return excerpt(place.source.strip(), 0, None)[0]


def _field(label: str, value: str) -> Line:
    return line(Piece(f"{label}: ", Tone.DIM), value)
