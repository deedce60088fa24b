"""Events between the child and its parent."""

from __future__ import annotations

from typing import get_args

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from capturelint.debug import events
from capturelint.debug.wire import WireError


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.one_of(*(st.from_type(kind) for kind in get_args(events.Event))))
def test_every_event_survives_as_one_line(event: events.Event) -> None:
    line = events.to_line(event)

    # What is sent is compared: nan equals nothing, and a mapping may come back as another kind.
    assert events.to_line(events.from_line(line)) == line
    assert line.count(b"\n") == 1 and line.endswith(b"\n")


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"hello",
        b"null",
        b"{}",
        b"[]",
        b'["Said"]',
        b'["Said", {"text": "a"}, 3]',
        b'["Said", {"text": "a", "more": 1}]',
        b'["Said", {"text": null}]',
        b'["said", {"text": "a"}]',
        b'["Event", {"text": "a"}]',
        b'[["Said"], {"text": "a"}]',
        b'["Said", {"text": "\xff"}]',
        b'["Said", {"text": "a"}',
        b"[" * 100_000,
    ],
)
def test_a_line_that_holds_no_event_is_refused(line: bytes) -> None:
    with pytest.raises(WireError):
        events.from_line(line)


@pytest.mark.parametrize(
    ("step", "words"),
    [
        ("", "starting"),
        ("load", "loading the case"),
        ("warm up", "warming up"),
        ("judge layers.3", "judging layers.3"),
        ("judge ", "judging the root"),
        ("judge", "judging the root"),
        ("own layers.3 without layers.3.a layers.3.b", "judging the own lines of layers.3"),
        ("own  without a b", "judging the own lines of the root"),
        ("record a.b", "recording what a.b calls"),
        ("dry pass", "running the root as if capturing"),
        ("dry pass draft", "running draft as if capturing"),
        ("eager pass", "running all callables eagerly"),
        ("cold ", "judging the root without warm-up"),
        ("judgement", "at step 'judgement'"),
        ("after judge layers.3", "after judging layers.3"),
        ("dream of sheep", "at step 'dream of sheep'"),
    ],
)
def test_a_step_in_words(step: str, words: str) -> None:
    assert events.doing(step) == words
