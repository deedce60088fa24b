"""Every probe through bisect, without a GPU, against what an H200 did with it.

`KNOWN` names each disagreement and its cause. A probe that starts to agree fails its test too, so
the table stays true.
"""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from capturelint.debug.processes.request import Request
from capturelint.debug.settings import Settings
from capturelint.verdict import Report, Verdict
from tests.forked import Answer, reports
from tests.measured import MARK, Shown, marked, measured, rows, sources

needs_torch = pytest.mark.skipif(
    find_spec("torch") is None, reason="torch is not installed: no probe can run"
)

NEVER_RUN = {
    "ternary_and_or": "it raises eagerly on a GPU as well",
    "torch_cond_eager": "it raises eagerly on a GPU as well",
    "time_value": "it reads the clock, and what bisect makes of it depends on the moment",
}
NOT_RUN = {
    **NEVER_RUN,
    "triton_kernel": "Triton runs on a GPU only",
    "triton_autotune": "Triton runs on a GPU only",
    "triton_pyscalar_state": "Triton runs on a GPU only",
}


@dataclass(frozen=True, slots=True)
class Known:
    """A disagreement that is understood: what bisect shows instead, and why."""

    got: Shown
    cause: str


FILLED_BY_A_COUNTER = Known(
    Shown("stale", "self.n += 1"), "the memory holds what a counter says: that line is named"
)

# By mode, then by probe.
KNOWN: Mapping[str, Mapping[str, Known]] = {
    "warm": {
        "memo_by_id_dict": Known(
            Shown("stale"),
            "on the GPU eager runs found the memo, as their inputs took the addresses of old ones",
        ),
        "pinned_nonblocking_fresh_each_call": FILLED_BY_A_COUNTER,
    },
    "cold": {
        "pinned_nonblocking_fresh_each_call": FILLED_BY_A_COUNTER,
        "py_counter_threshold": Known(
            Shown("stale"), "the GPU made three replays; the sixth call is the first to differ"
        ),
    },
}

# A capture stops at the first line that is refused; bisect goes on and names these as well.
ALSO_REFUSED = {
    "numpy_roundtrip": "return torch.from_numpy(y).to(x.device)",
    "pack_padded": "packed = nn.utils.rnn.pack_padded_sequence(",
}

SETTINGS = {
    "warm": Settings(backend="simulated"),
    "cold": Settings(backend="simulated", warmup=0),
}

CASE = """
def {name}():
    from fixtures.probes.probe import case
    return case("{name}")
"""

OUTCOMES = {
    Verdict.REFUSES: "refuses",
    Verdict.FAILS_COLD: "refuses",
    Verdict.STALE: "stale",
    Verdict.WORK_MISSING: "stale",
    Verdict.EMPTY_GRAPH: "stale",
    Verdict.ALIASES_INPUT: "ok",
    Verdict.NONDETERMINISTIC: "ok",
    Verdict.EQUAL: "ok",
}


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["warm", "cold"])
@needs_torch
def test_shows_what_the_gpu_did_but_for_the_known(mode: str, tmp_path: Path) -> None:
    wanted = wanted_in(mode, without=NOT_RUN)
    found = found_by(wanted, SETTINGS[mode], tmp_path)
    others = {name: found[name] for name, want in wanted.items() if found[name] != want}

    assert others == {name: known.got for name, known in KNOWN[mode].items()}


@pytest.mark.parametrize("name", NOT_RUN)
def test_is_not_run(name: str) -> None:
    pytest.skip(NOT_RUN[name])


def test_every_probe_was_measured() -> None:
    assert sorted(sources()) == sorted(row["name"] for row in rows())


def test_the_line_that_the_gpu_stopped_at_is_marked_where_it_is_to_blame() -> None:
    texts = sources()
    stops = [(row["name"], measured(row, "warm")) for row in rows()]
    lines = {name: [stop.line] for name, stop in stops if stop is not None and stop.line}

    assert len(lines) > 60
    assert {name: marked(texts[name]) for name in lines} == lines


def test_no_probe_that_is_captured_and_equal_has_a_marked_line() -> None:
    texts = sources()
    good = [row["name"] for row in rows() if _is_safe(row)]

    assert len(good) > 60
    assert [name for name in good if marked(texts[name])] == []


def test_every_stale_probe_has_one_marked_line() -> None:
    texts = sources()
    stale = [row["name"] for row in rows() if row["outcome"].startswith("stale")]

    assert len(stale) > 10
    assert [name for name in stale if len(marked(texts[name])) != 1] == []


def _is_safe(row: Mapping[str, Any]) -> bool:
    shown = [measured(row, mode) for mode in SETTINGS]
    return "warm" in row and {one.outcome for one in shown if one} == {"ok"}


def wanted_in(mode: str, *, without: Container[str]) -> dict[str, Shown]:
    """Return what the GPU did; of a stale probe the line is the marked one."""
    texts = sources()
    wanted: dict[str, Shown] = {}
    for row in rows():
        name = row["name"]
        shown = measured(row, mode)
        if shown is None or name in without:
            continue
        stale = shown.outcome == "stale"
        wanted[name] = replace(shown, line=marked(texts[name])[0]) if stale else shown
    return wanted


def found_by(
    wanted: Mapping[str, Shown], settings: Settings, folder: Path, *, workers: int = 2
) -> dict[str, Shown]:
    """Return what bisect says; without the line where none is wanted."""
    cases = folder / "cases.py"
    cases.write_text("".join(CASE.format(name=name) for name in wanted))
    requests = {name: Request(f"{cases}:{name}", settings) for name in wanted}
    answers = reports(requests, workers=workers)
    return {name: shown_by(name, answers[name], want) for name, want in wanted.items()}


def shown_by(name: str, answer: Answer, want: Shown) -> Shown:
    """Return what an answer says of a probe; without the line where none is wanted."""
    if not isinstance(answer, Report):
        return Shown(answer.strip().splitlines()[-1])
    outcome = OUTCOMES.get(answer.verdict, answer.verdict.value)
    if want.line is None:
        return Shown(outcome)
    places = [one.place for one in answer.culprits if one.place is not None]
    lines = [place.source.strip().removesuffix(MARK) for place in places]
    return Shown(outcome, " | ".join(line for line in lines if line != ALSO_REFUSED.get(name)))
