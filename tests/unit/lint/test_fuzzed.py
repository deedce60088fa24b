"""A small run of the fuzzer: made-up and broken sources neither stop a check nor change what it says."""

from __future__ import annotations

from capturelint.bundle import bundled
from tests.bench.fuzz_check import main


def test_odd_sources_are_checked_alike_however_they_are_given() -> None:
    fixtures = bundled("fixtures")

    assert main(["--generated", "20", "--mutated", "20", "--batch", "20", str(fixtures)]) == 0
