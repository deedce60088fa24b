"""Every probe through bisect on a device, against what an H200 did with it.

As in `tests/test_probes.py`, which does so without one, `KNOWN` names each disagreement and its cause.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from capturelint.debug.settings import Settings
from tests.measured import Shown
from tests.test_probes import NEVER_RUN, Known, found_by, wanted_in

FILLED_BY_A_COUNTER = Known(
    Shown("stale", "self.n += 1"), "the memory holds what a counter says: that line is named"
)
KNOWN: Mapping[str, Mapping[str, Known]] = {
    "warm": {
        "memo_by_id_dict": Known(
            Shown("stale"), "whether eager runs find the memo depends on addresses"
        ),
        "pinned_nonblocking_fresh_each_call": FILLED_BY_A_COUNTER,
        "side_stream_no_fork": Known(
            Shown("stale", "self.buf.copy_(x * 2)"), "the allocator had memory for that stream"
        ),
    },
    "cold": {
        "pinned_nonblocking_fresh_each_call": FILLED_BY_A_COUNTER,
        "py_counter_threshold": Known(
            Shown("stale"), "the record made three replays; the sixth call is the first to differ"
        ),
    },
}
SETTINGS = {"warm": Settings(backend="cuda"), "cold": Settings(backend="cuda", warmup=0)}


@pytest.mark.parametrize("mode", ["warm", "cold"])
def test_shows_what_the_gpu_did_but_for_the_known(mode: str, tmp_path: Path) -> None:
    wanted = wanted_in(mode, without=NEVER_RUN)
    found = found_by(wanted, SETTINGS[mode], tmp_path, workers=8)
    others = {name: found[name] for name, want in wanted.items() if found[name] != want}

    assert others == {name: known.got for name, known in KNOWN[mode].items()}
