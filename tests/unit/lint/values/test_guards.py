"""Guards: what asks whether a capture is under way, and what presets know to be fixed in one."""

from __future__ import annotations

from pathlib import Path

import pytest

from capturelint.lint import linking
from capturelint.preset import read_preset
from tests.unit.lint.probe import kinds

_SMALL = """
name = "small"
summary = "a small engine"
packages = ["small"]
default_device = "cpu"
"""


@pytest.mark.parametrize(
    "guard",
    [
        "torch.cuda.current_stream().is_capturing()",
        "torch.cuda.current_stream(x.device).is_capturing()",
        "stream.is_capturing()",
        "torch.cuda.is_current_stream_capturing()",
        "tools.is_current_stream_capturing()",
        "guarded()",
        "x.shape[0] or True",
        "bool(torch.cuda.is_current_stream_capturing())",
    ],
)
def test_a_guard_has_one_answer_in_a_capture(guard: str, tmp_path: Path) -> None:
    told = kinds(
        tmp_path,
        f"""
        import tools

        def guarded():
            try:
                return torch.cuda.is_current_stream_capturing()
            except Exception:
                return False

        def step(x: Tensor):
            stream = torch.cuda.current_stream()
            if {guard}:
                x  #: device tensor
            else:
                x  #: never runs
            if not ({guard}):
                x  #: never runs
        """,
    )

    assert told.seen == told.wanted


@pytest.mark.parametrize(
    "test", ["stream.query()", "x.shape[0] or n", "x.shape[0] and True", "falling()", "raising()"]
)
def test_what_is_no_guard_is_open(test: str, tmp_path: Path) -> None:
    told = kinds(
        tmp_path,
        f"""
        def falling():
            try:
                fast = torch.cuda.is_current_stream_capturing()
            except Exception:
                return False
            return unheard_of()

        def raising():
            try:
                prepare()
            except Exception:
                return False
            return unheard_of()

        def step(x: Tensor, n: int):
            stream = torch.cuda.current_stream()
            if {test}:
                x  #: device tensor
            else:
                x  #: device tensor
        """,
    )

    assert told.seen == told.wanted


def test_a_certain_end_of_a_chain_is_its_value(tmp_path: Path) -> None:
    told = kinds(
        tmp_path,
        """
        def step(x: Tensor, n: int):
            (n or True)  #: host value, = True
            (n and False)  #: host value, = False
            (n and True)  #: host value, not weak
            flag = n or True
            if not flag:
                x  #: never runs
            if n and True:
                x  #: device tensor
            else:
                x  #: device tensor
        """,
    )

    assert told.seen == told.wanted


@pytest.mark.parametrize(
    ("context", "facts"),
    [
        ("gpu_sync_allowed() if n else open()", "never runs"),
        ("open() if n else gpu_sync_allowed()", "never runs"),
        ("(open() if n else gpu_sync_allowed()) if x.is_cuda else open()", "never runs"),
        ("torch.no_grad(), gpu_sync_allowed()", "never runs"),
        ("tools.gpu_sync_allowed", "never runs"),
        ("open() if gpu_sync_allowed() else open()", "device tensor"),
        ("open(gpu_sync_allowed())", "device tensor"),
    ],
)
def test_an_escape_may_be_one_arm_of_a_context(context: str, facts: str, tmp_path: Path) -> None:
    told = kinds(
        tmp_path,
        f"""
        import tools
        from vllm.utils import gpu_sync_allowed

        def step(x: Tensor, n: int):
            with {context}:
                x  #: {facts}
            x  #: device tensor
        """,
        preset=("vllm",),
    )

    assert told.seen == told.wanted


@pytest.mark.parametrize(
    ("test", "outcome"),
    [
        ("batch.is_prefill_only", False),
        ("self.batch.is_prefill_only", False),
        ("batch.forward_mode.is_idle()", False),
        ("metadata.run_graph", True),
        ("get_is_capture_mode()", True),
        ("runner.get_is_capture_mode()", True),
        ("_is_cpu", False),
        ("tools._is_cuda", True),
        ("batch.is_extend", None),
        ("batch.is_prefill_only_", None),
    ],
)
def test_guards_of_a_preset_may_be_attributes_names_or_calls(
    test: str, outcome: bool | None, tmp_path: Path
) -> None:
    arms = (
        ("never runs" if outcome is False else "device tensor"),
        ("never runs" if outcome else "device tensor"),
    )
    told = kinds(
        tmp_path,
        f"""
        import tools
        from tools import _is_cpu, get_is_capture_mode

        class Model(nn.Module):
            def __init__(self, batch):
                super().__init__()
                self.batch = batch

            def forward(self, x: Tensor, batch, metadata, runner):
                if {test}:
                    x  #: {arms[0]}
                else:
                    x  #: {arms[1]}
        """,
        preset=("sglang",),
    )

    assert told.seen == told.wanted


def test_what_a_class_stores_yields_to_a_guard_on_its_attribute(tmp_path: Path) -> None:
    text = """
        class Batch:
            def __init__(self):
                self.is_prefill_only = True

        def step(x: Tensor, batch: Batch):
            if batch.is_prefill_only:
                x  #: {facts}
    """
    told = kinds(tmp_path, text.format(facts="never runs"), preset=("sglang",))
    alone = kinds(tmp_path, text.format(facts="device tensor"))

    assert told.seen == told.wanted
    assert alone.seen == alone.wanted


@pytest.mark.parametrize(
    ("value", "seen", "absent", "present"),
    [
        ('"none"', "host value, = None", "device tensor", "never runs"),
        ("false", "host value, = False", "never runs", "device tensor"),
        ("true", "host value, = True", "never runs", "device tensor"),
    ],
)
def test_a_guard_may_say_that_something_is_absent(
    value: str,
    seen: str,
    absent: str,
    present: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    preset = tmp_path / "small.toml"
    guard = f'[[guards]]\nname = "lora"\nvalue = {value}\nwhy = "a test"\n'
    preset.write_text(_SMALL + guard, encoding="utf-8")
    monkeypatch.setattr(linking, "load_preset", lambda _name: read_preset(preset))
    told = kinds(
        tmp_path,
        f"""
        def step(x: Tensor, batch):
            batch.lora  #: {seen}
            lora()  #: {seen}
            if batch.lora is None:
                x  #: {absent}
            else:
                x  #: {present}
        """,
        preset=("small",),
    )

    assert told.seen == told.wanted


def test_a_guard_of_a_preset_holds_for_variables_and_parameters_too(tmp_path: Path) -> None:
    told = kinds(
        tmp_path,
        """
        def step(x: Tensor, plan, query_len: int, is_prefill: bool, visual_token_mask: Tensor):
            has_mixed_prefill, parts = plan
            is_decode = x.shape[0] == query_len
            if has_mixed_prefill or not is_decode or is_prefill:
                x  #: never runs
            if visual_token_mask is not None:
                x  #: never runs
            x  #: device tensor
        """,
        preset=("vllm",),
    )

    assert told.seen == told.wanted
