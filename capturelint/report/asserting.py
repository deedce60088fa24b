"""Assert in a test that a model can be captured; the failure shows the report of bisect."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from capturelint.debug.api import bisect
from capturelint.lint.registry import builtin_rules
from capturelint.report import bisect_text
from capturelint.report.explain import explained
from capturelint.verdict import Report

if TYPE_CHECKING:
    from capturelint.debug.cases.case import Case, Runnable


class CaptureError(AssertionError):
    """A model was not shown to survive capture and replay. `report`: what was found."""

    def __init__(self, report: Report) -> None:
        result = explained(report, builtin_rules())
        super().__init__(bisect_text.render(result.report, advice=result.advice))
        self.report = result.report


def assert_capturable(
    case: str | Case | Runnable | tuple[Any, ...],
    *,
    inputs: object = None,
    call: str | None = None,
    **settings: Any,
) -> None:
    """Raise `CaptureError` unless replays of a capture compute what eager calls compute.

    The arguments are those of `capturelint.bisect`. What could not be decided raises too: it was
    not shown. Raises a `CapturelintError` if the case or a setting cannot be used.
    """
    __tracebackhide__ = True  # pytest shows the line of the test
    report = bisect(case, inputs=inputs, call=call, **settings)
    if report.exit_code != 0:
        raise CaptureError(report)
