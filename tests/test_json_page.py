"""The page on JSON tells every key of what `check` and `bisect` print, and no other."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from capturelint.cli.main import main

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "json.md").read_text(encoding="utf-8")
SCHEMA = ROOT / "tests" / "unit" / "report" / "bisect_schema.json"
_WORDS = {"shown", "likely", "simulated", "cuda", "none", "slow", "torch", "device"}
_COUNTS = {"attempts", "forwards"}


def told(heading: str) -> set[str]:
    """Return the names in the tables under `heading` that may be keys."""
    section = PAGE.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    rows = [line for line in section.splitlines() if line.startswith("|")]
    return set(re.findall(r"`([a-z_]+)`", "\n".join(rows))) - _WORDS - _COUNTS


def keys(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        yield from value
        value = list(value.values())
    for one in value if isinstance(value, list) else ():
        yield from keys(one)


def in_schema(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        yield from value.get("properties", {})
        value = list(value.values())
    for one in value if isinstance(value, list) else ():
        yield from in_schema(one)


def test_every_key_of_check_is_told_and_no_other(capsys: Any, monkeypatch: Any) -> None:
    monkeypatch.chdir(ROOT)
    main(["check", "--format=json", "--statistics", "--no-cache", "fixtures/models"])

    assert told("check") == set(keys(json.loads(capsys.readouterr().out)))


def test_every_key_of_bisect_is_told_and_no_other() -> None:
    assert told("bisect") == set(in_schema(json.loads(SCHEMA.read_text(encoding="utf-8"))))
