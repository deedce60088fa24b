"""Modes of an engine: which of them tests leave on a way through captured code."""

from __future__ import annotations

from pathlib import Path

import pytest

from capturelint.config import Scope
from capturelint.lint import linking
from capturelint.preset import read_preset
from tests.unit.lint.probe import Told, kinds

_ENGINE = """
name = "engine"
summary = "an engine with modes"
packages = ["engine"]
default_device = "cpu"

[modes]
captured = ["decode", "verify", "draft"]
values = ["forward_mode"]

[[modes.tests]]
name = "is_decode"
true_in = ["decode"]

[[modes.tests]]
name = "is_verify"
true_in = ["verify"]

[[modes.tests]]
name = "is_draft"
true_in = ["draft"]

[[modes.tests]]
name = "is_extend"
true_in = ["verify"]
unsure_in = ["draft"]

[[modes.tests]]
name = "is_mixed"

[[modes.attributes]]
name = "batch.lens"
none_in = ["decode", "verify"]

[[modes.functions]]
patterns = ["m.drafted"]
modes = ["draft"]
why = "only the worker for drafts calls it"
"""


def told(
    folder: Path, monkeypatch: pytest.MonkeyPatch, text: str, scope: Scope = Scope.CAPTURED
) -> Told:
    path = folder / "engine.toml"
    path.write_text(_ENGINE, encoding="utf-8")
    monkeypatch.setattr(linking, "load_preset", lambda _: read_preset(path))
    return kinds(folder, text, preset=("engine",), scope=scope)


@pytest.mark.parametrize(
    ("test", "then", "otherwise"),
    [
        ("mode.is_decode()", "device tensor", "device tensor"),
        ("mode.is_mixed()", "never runs", "device tensor"),
        ("not mode.is_mixed()", "device tensor", "never runs"),
        ("n and mode.is_mixed()", "never runs", "device tensor"),
        ("mode.is_decode() and mode.is_verify()", "never runs", "device tensor"),
        ("mode.is_decode() and (n or mode.is_verify())", "device tensor", "device tensor"),
        ("mode.is_decode() or mode.is_extend() or mode.is_draft()", "device tensor", "never runs"),
        ("mode.is_decode() or mode.is_extend()", "device tensor", "device tensor"),
        ("n and mode.is_decode() and (mode.is_verify() or mode.is_draft())", "never runs", "device tensor"),
        # What is not listed, or is asked of something else, narrows nothing.
        ("mode.is_prefill()", "device tensor", "device tensor"),
        ("padding.is_mixed()", "device tensor", "device tensor"),
        ("is_mixed(mode)", "never runs", "device tensor"),
        ("is_mixed(padding)", "device tensor", "device tensor"),
        ("batch.lens is None and mode.is_draft()", "device tensor", "device tensor"),
        ("batch.lens is not None and mode.is_decode()", "never runs", "device tensor"),
        ("other.lens is not None and mode.is_decode()", "device tensor", "device tensor"),
    ],
)  # fmt: skip
def test_an_arm_without_a_mode_never_runs(
    test: str, then: str, otherwise: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = told(
        tmp_path,
        monkeypatch,
        f"""
        def step(x: Tensor, batch, other, n: int, padding, is_mixed):
            mode = batch.forward_mode
            if {test}:
                x  #: {then}
            else:
                x  #: {otherwise}
        """,
    )

    assert found.seen == found.wanted


def test_modes_are_narrowed_by_returns_flags_and_assertions_and_meet_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = told(
        tmp_path,
        monkeypatch,
        """
        def returned(x: Tensor, batch):
            is_decode = batch.forward_mode.is_decode()
            if is_decode:
                return x
            if batch.forward_mode.is_decode():
                x  #: never runs
            if is_decode:
                x  #: never runs
            if batch.forward_mode.is_verify():
                x = x + 1
            else:
                if not batch.forward_mode.is_draft():
                    x  #: never runs
            if batch.forward_mode.is_verify():
                x  #: device tensor
            assert batch.forward_mode.is_draft()
            if batch.forward_mode.is_extend():
                x  #: device tensor
            if batch.forward_mode.is_verify():
                x  #: never runs

        def used(x: Tensor, batch):
            if not batch.forward_mode.is_draft():
                x  #: device tensor
                batch.lens.sum()
                x  #: never runs
            for one in batch.lens:
                pass
            if batch.forward_mode.is_verify():
                x  #: never runs
            x  #: device tensor

        def step(x: Tensor, batch):
            returned(x, batch)
            used(x, batch)
        """,
    )

    assert found.seen == found.wanted


def test_a_function_runs_in_the_modes_of_all_its_callers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = told(
        tmp_path,
        monkeypatch,
        """
        def narrow(x: Tensor, batch):
            if batch.forward_mode.is_decode():
                x  #: device tensor
            else:
                x  #: never runs

        def wide(x: Tensor, batch):
            if batch.forward_mode.is_draft():
                x  #: never runs
            elif batch.forward_mode.is_decode():
                x  #: device tensor
            else:
                x  #: device tensor

        def drafted(x: Tensor, batch):
            if batch.forward_mode.is_draft():
                x  #: device tensor
            else:
                x  #: never runs

        def step(x: Tensor, batch):
            drafted(x, batch)
            if batch.forward_mode.is_decode():
                narrow(x, batch)
                wide(x, batch)
            elif batch.forward_mode.is_verify():
                wide(x, batch)

        def forward(x: Tensor, batch):
            if batch.forward_mode.is_decode():
                drafted(x, batch)
            if batch.forward_mode.is_verify():
                x  #: device tensor
        """,
    )

    assert found.seen == found.wanted


def test_code_that_is_never_captured_runs_in_all_modes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = told(
        tmp_path,
        monkeypatch,
        """
        def step(x: Tensor, batch):
            if batch.forward_mode.is_mixed():
                x  #: never runs
            x  #: device tensor

        def prefilled(x: Tensor, batch):
            if batch.forward_mode.is_mixed():
                x  #: device tensor
        """,
        Scope.ALL,
    )

    assert found.seen == found.wanted


def test_operands_and_expressions_are_narrowed_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = told(
        tmp_path,
        monkeypatch,
        """
        def either(x: Tensor, batch, n: int):
            mode = batch.forward_mode
            if mode.is_decode() or mode.is_verify():
                if mode.is_draft():
                    x  #: never runs
                if mode.is_verify():
                    x  #: device tensor
            if n or mode.is_decode():
                if mode.is_verify():
                    x  #: device tensor
            if torch.cuda.is_current_stream_capturing() and mode.is_decode():
                x  #: device tensor
            elif mode.is_decode():
                x  #: never runs
            if mode.is_decode() or mode.is_verify() or not torch.cuda.is_current_stream_capturing():
                if mode.is_draft():
                    x  #: never runs

        def chosen(x: Tensor, batch):
            y = x if batch.forward_mode.is_mixed() else None
            y  #: host value, = None
            if batch.forward_mode.is_decode():
                z = None if batch.lens is None else x
                z  #: host value, = None

        def looped(x: Tensor, batch):
            for one in batch.lens:
                pass
            if batch.forward_mode.is_verify():
                x  #: never runs
            x  #: device tensor

        def listed(x: Tensor, batch):
            [one for one in batch.lens]
            if batch.forward_mode.is_verify():
                x  #: never runs
            x  #: device tensor

        def step(x: Tensor, batch, n: int):
            either(x, batch, n)
            chosen(x, batch)
            looped(x, batch)
            listed(x, batch)
        """,
    )

    assert found.seen == found.wanted


def test_a_root_runs_in_all_modes_whoever_calls_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = told(
        tmp_path,
        monkeypatch,
        """
        def forward(x: Tensor, batch):
            if batch.forward_mode.is_verify():
                x  #: device tensor

        def step(x: Tensor, batch):
            if batch.forward_mode.is_decode():
                forward(x, batch)
        """,
    )

    assert found.seen == found.wanted
