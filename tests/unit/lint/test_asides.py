"""What `--scope all` leaves out of code that nothing says is captured."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.lint.probe import extra

_FALLBACK = """\
def pad(x: Tensor, mask: Tensor, size=None, sizes=None):
    if {test}:
        {first}
    else:
        {second}
    return x[:size]
"""
_READ = "size = mask.sum().item()"


@pytest.mark.parametrize(
    ("test", "first", "second"),
    [
        ("size is None", _READ, "pass"),
        ("size is not None", "pass", _READ),
        ("size is None or sizes is None", "size, sizes = mask.sum().item(), 1", "pass"),
        ("sizes is not None", "size = sizes[0]", _READ),
        ("sizes is not None", "size = sizes[0]", "size = int(mask.sum())"),
        ("sizes is not None", "x.size_ = sizes[0]", "x.size_ = mask.sum().item()"),
    ],
)
def test_what_stands_in_for_an_argument_left_out_is_not_reported(
    tmp_path: Path, test: str, first: str, second: str
) -> None:
    text = _FALLBACK.format(test=test, first=first, second=second)

    assert extra(tmp_path, text) == []


@pytest.mark.parametrize(
    ("test", "first", "second"),
    [
        ("size is not None", _READ, "pass"),
        ("mask is None", "pass", _READ),
        ("sizes is None", "x = x * mask.sum().item()", "pass"),
        ("sizes is not None", "size = 3", _READ),
        ("sizes is not None", "x = x[sizes[0]]", _READ),
        ("size is None and x.dim() > 2", "pass", _READ),
        ("size is None or x.dim() > 2", _READ, "pass"),
    ],
)
def test_an_arm_that_no_argument_replaces_is_reported(
    tmp_path: Path, test: str, first: str, second: str
) -> None:
    text = _FALLBACK.format(test=test, first=first, second=second)

    assert [code for _, code in map(str.split, extra(tmp_path, text))] == ["CL101"]


@pytest.mark.parametrize("made", ["torch.ones(3).cuda()", "torch.ones(int(x.shape[0])).cuda()"])
def test_a_tensor_made_in_place_of_an_argument_is_reported(tmp_path: Path, made: str) -> None:
    text = _FALLBACK.format(test="size is None", first=f"size = {made}", second="pass")

    assert extra(tmp_path, text) == ["3 CL202"]


def test_an_argument_bound_anew_is_not_one_that_was_left_out(tmp_path: Path) -> None:
    text = _FALLBACK.format(test="size is None", first=_READ, second="pass")
    text = text.replace("    if", "    size = cache.get(x)\n    if")

    assert extra(tmp_path, text) == ["4 CL101"]


def test_what_every_caller_leaves_out_is_reported(tmp_path: Path) -> None:
    text = _FALLBACK.format(test="size is None", first=_READ, second="pass")

    assert extra(tmp_path, f"{text}\ndef run(x: Tensor):\n    return pad(x, x > 0)\n") == [
        "3 CL101"
    ]


def test_captured_code_is_told_of_what_stands_in_for_an_argument(tmp_path: Path) -> None:
    text = _FALLBACK.format(test="size is None", first=_READ, second="pass")

    assert "3 CL101" in extra(tmp_path, text, roots=("m.pad",))


_DRIVER = """\
def sample(self, model, x: Tensor, count):
    start = x.sum().item()
    {bar}
        for step in {steps}:
            x = model(x, x.mean().item())
    return x.max().item() + start
"""


@pytest.mark.parametrize(
    ("bar", "steps"),
    [
        ("if True:", "tqdm(range(count))"),
        ("if True:", "enumerate(tqdm.auto.tqdm(range(count)))"),
        ("if True:", "self.progress_bar(range(count))"),
        ("with self.progress_bar(total=count) as bar:", "range(count)"),
    ],
)
def test_of_a_loop_under_a_progress_bar_only_the_loop_is_reported(
    tmp_path: Path, bar: str, steps: str
) -> None:
    assert extra(tmp_path, _DRIVER.format(bar=bar, steps=steps)) == ["5 CL101"]


@pytest.mark.parametrize(
    ("bar", "steps"),
    [("if True:", "range(count)"), ("with self.progress() as bar:", "range(count)")],
)
def test_around_any_other_loop_everything_is_reported(tmp_path: Path, bar: str, steps: str) -> None:
    wanted = ["2 CL101", "5 CL101", "6 CL101"]

    assert extra(tmp_path, _DRIVER.format(bar=bar, steps=steps)) == wanted


def test_in_captured_code_a_progress_bar_changes_nothing(tmp_path: Path) -> None:
    text = _DRIVER.format(bar="if True:", steps="tqdm(range(count))")

    assert extra(tmp_path, text, roots=("m.sample",)) == ["2 CL101", "5 CL101", "6 CL101"]
