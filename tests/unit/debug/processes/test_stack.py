"""Stacks as `faulthandler` prints them."""

from __future__ import annotations

import os
import sysconfig

from capturelint.debug.processes.stack import printed_places, without_stack
from capturelint.verdict import Place

CRASH = f"""\
loading shard 1
Fatal Python error: Segmentation fault

Current thread 0x00007f55 (most recent call first):
  File "/site/torch/x.py", line 5 in <module>
  File "{sysconfig.get_path("stdlib")}{os.sep}ctypes{os.sep}__init__.py", line 519 in string_at
  File "<string>", line 1 in <module>
  File "/models/a b.py", line 12 in Model.forward
  File "/models/main.py", line 3 in <lambda>

Extension modules: numpy.core (total: 1)
"""
PLACES = (
    Place("/site/torch/x.py", 5, "<module>"),
    Place("/models/a b.py", 12, "Model.forward"),
    Place("/models/main.py", 3, "<lambda>"),
)


def test_the_users_frames_come_innermost_first() -> None:
    assert printed_places(CRASH) == PLACES


def test_only_the_last_stack_counts() -> None:
    hang = 'Stack (most recent call first):\n  File "/late.py", line 1 in f'

    assert printed_places(f"{CRASH}{hang}") == (Place("/late.py", 1, "f"),)


def test_frames_outside_of_a_stack_are_only_words() -> None:
    assert printed_places('  File "/models/a.py", line 12 in forward\n') == ()
    assert printed_places("") == ()


def test_a_line_that_is_no_frame_ends_the_stack() -> None:
    text = 'Stack (most recent call first):\n  ...\n  File "/a.py", line 1 in f\n'

    assert printed_places(text) == ()


def test_what_was_printed_is_told_without_the_stack() -> None:
    assert without_stack(CRASH) == ("loading shard 1\nFatal Python error: Segmentation fault\n")
    assert without_stack("loading\n") == "loading\n"
