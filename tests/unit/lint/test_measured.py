"""The record of a rule's fixture: what is current in it, and what agrees with the rule."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import pytest

from capturelint.finding import Effect
from capturelint.lint import measured
from capturelint.lint.fixture import digests
from capturelint.lint.measured import Measured, record_of

TEXT = "def bad_poke(x):\n    poke(x)\n\n\ndef good_look(x):\n    look(x)\n"


@pytest.fixture
def fixture(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a fixture; of its two examples the second has changed since it was measured."""
    path = tmp_path / "cl991_poke.py"
    path.write_text(TEXT)
    sources = digests(TEXT.replace("    look(x)", "    look(x, 2)"))
    lines = [line(name, "refuses-capture", source=sources[name]) for name in sources]
    (tmp_path / "measured").mkdir()
    (tmp_path / "measured" / "fixtures.jsonl").write_text(
        "".join(json.dumps(asdict(one)) + "\n" for one in lines)
    )
    monkeypatch.setattr(measured, "bundled", lambda _: tmp_path)
    return path


def line(name: str, outcome: str, *, source: str = "00") -> Measured:
    about = {"device": "GPU", "torch": "2.11", "driver": "1", "date": "2026-01-01"}
    return Measured("CL991", name, outcome, "", source, **about)


def test_an_example_that_has_changed_counts_as_not_measured(fixture: Path) -> None:
    record = record_of("CL991", fixture)

    assert [one.example for one in record.current] == ["bad_poke"]
    assert record.missing == ("good_look",)


def test_a_rule_that_no_device_ran_has_no_record(fixture: Path) -> None:
    record = record_of("CL992", fixture)

    assert (record.current, record.missing) == ((), ())


def test_what_is_reported_agrees_if_it_shows_one_of_the_effects() -> None:
    effects = (Effect.REFUSES, Effect.STALE)

    assert line("bad_poke", "stale-on-replay").agrees(effects)
    assert line("BadPoke", "refuses-capture").agrees(effects)
    assert not line("bad_poke", "stale-on-replay").agrees(effects[:1])
    assert not line("bad_poke", "replays-equal").agrees(effects)
    assert not line("bad_poke", "undecided").agrees(effects)


def test_what_is_not_reported_agrees_if_nothing_was_wrong() -> None:
    effects = (Effect.REFUSES,)

    assert line("good_look", "replays-equal").agrees(effects)
    assert line("GoodLook", "captures").agrees(effects)
    assert not line("good_look", "refuses-capture").agrees(effects)
    assert not line("good_look", "raises-eagerly").agrees(effects)
