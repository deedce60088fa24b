"""What kills the device under a graph only is found again in fresh processes, and named."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest
import torch

from capturelint.debug.api import bisect
from capturelint.debug.cuda.backend import CudaBackend
from capturelint.verdict import Report, Verdict

CASES = Path(__file__).parent / "dying_cases.py"


def _judged(name: str) -> Report:
    return bisect(f"{CASES}:{name}", backend="cuda", replays=3)


def test_an_index_that_is_out_of_range_in_replays_only_is_named() -> None:
    report = _judged("gathering")
    (culprit,) = report.culprits

    assert (report.verdict, culprit.module) == (Verdict.STALE, "1.0")
    assert culprit.place is not None
    assert culprit.place.source.endswith("# gathered")
    assert culprit.operation == "aten.index.Tensor"
    assert "device-side assert" in culprit.message
    assert "as eager calls do not" in culprit.message


@pytest.mark.skipif(find_spec("triton") is None, reason="triton is not installed")
def test_memory_that_is_bound_anew_is_named_with_both_lines() -> None:
    report = _judged("unmapping")
    (culprit,) = report.culprits
    (frozen,) = culprit.evidence.frozen
    has_died = "kills the device" in culprit.message

    assert (report.verdict, culprit.module) == (Verdict.STALE, "1.0")
    assert frozen.place.source.endswith("# launched")
    assert "held" in frozen.name
    assert frozen.cause is not None
    assert frozen.cause.source == "adds.held = held.fill_(float(step))"
    # The line that dies comes first. Where the address is still mapped, the line that binds it anew.
    assert culprit.place is not None
    assert culprit.place.source == (frozen.place if has_died else frozen.cause).source


def test_the_line_that_frees_what_a_call_is_given_is_told() -> None:
    backend = CudaBackend()
    held = [torch.ones(1 << 20, device="cuda")]

    def call() -> torch.Tensor:
        return held[0] + 1

    def after() -> None:
        held.clear()

    with backend.session():
        read = (__file__, call.__code__.co_firstlineno + 1)
        place = backend.freed(call, after, read)
        nothing = backend.freed(lambda: torch.ones(2, device="cuda"), lambda: None, read)

    assert place is not None
    assert (place.path, place.line) == (__file__, after.__code__.co_firstlineno + 1)
    assert nothing is None


def test_what_dies_eagerly_too_is_undecided() -> None:
    report = _judged("picking")
    root = report.modules[0]

    assert (report.verdict, root.verdict) == (Verdict.UNDECIDED, Verdict.UNDECIDED)
    assert "it dies eagerly too" in root.why
    assert report.culprits == ()
