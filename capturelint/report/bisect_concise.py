"""What bisect found, one line for each culprit, for editors that read `path:line: message`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from capturelint.report.bisect_culprits import at
from capturelint.report.bisect_standing import concise
from capturelint.report.bisect_words import first_line, heading, meaning
from capturelint.report.excerpt import printable
from capturelint.report.standing.stand import Stand
from capturelint.verdict import ROOT, Culprit, Report, Verdict


def render(report: Report, stands: Sequence[Stand] = ()) -> str:
    """Return a line for each culprit and undecided module; the last line is the verdict.

    `stands`: how findings of `check` stand after the run, a line each.
    """
    verdicts = {module.path: module.verdict for module in report.modules}
    case = printable(report.case)
    lines = [
        _culprit(culprit, case, verdicts.get(culprit.module, report.verdict))
        for culprit in report.culprits
    ]
    lines += [*_undecided(report), *map(concise, stands)]
    return "\n".join([*lines, f"{case}: {heading(report)}: {meaning(report)}"])


def _culprit(culprit: Culprit, case: str, verdict: Verdict) -> str:
    where = case if culprit.place is None else at(culprit.place)
    words = [
        f"{where}:",
        verdict.value,
        printable(culprit.module) or ROOT,
        printable(culprit.operation),
        f"[{culprit.effect.value}]",
        first_line(culprit.message),
    ]
    return " ".join(word for word in words if word)


def _undecided(report: Report) -> Iterator[str]:
    for module in report.modules:
        if module.verdict is Verdict.UNDECIDED:
            path = printable(module.path) or ROOT
            words = [
                f"{printable(report.case)}:",
                module.verdict.value,
                path,
                printable(module.why),
            ]
            yield " ".join(word for word in words if word)
