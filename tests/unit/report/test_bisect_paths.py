"""Module paths in few words."""

from __future__ import annotations

import pytest

from capturelint.report.bisect_paths import shortened


@pytest.mark.parametrize(
    ("paths", "shown"),
    [
        ([], ""),
        ([""], "<root>"),
        (["a", "b"], "a, b"),
        (["h.1", "h.2"], "h.1, h.2"),
        (["h.1", "h.2", "h.3"], "h.1 .. h.3"),
        (["h.1.mlp", "h.2.mlp", "h.3.mlp"], "h.1.mlp .. h.3.mlp"),
        (["h.1", "h.2", "h.3", "h.5"], "h.1 .. h.3, h.5"),
        (["h.1", "h.3", "h.5"], "h.1, h.3, h.5"),
        (["h.9", "h.10", "h.11"], "h.9 .. h.11"),
        (["h.3", "h.2", "h.1"], "h.3, h.2, h.1"),
        (["h.1.1", "h.2.2", "h.3.3"], "h.1.1, h.2.2, h.3.3"),
        (["h.0.0", "h.0.1", "h.1.1"], "h.0.0, h.0.1, h.1.1"),
        (["h.1", "h.2.a", "h.3"], "h.1, h.2.a, h.3"),
        (["a", "c", "e", "g", "i"], "a, c, e, g, i"),
        (["a", "c", "e", "g", "i", "k"], "a, c, e, g, and 2 more"),
        (["a\x1b[31m"], "a\ufffd[31m"),
    ],
)
def test_paths_that_count_up_become_a_range(paths: list[str], shown: str) -> None:
    assert shortened(paths) == shown
