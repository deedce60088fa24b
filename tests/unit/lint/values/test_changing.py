"""Which changing Python values reach device work."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.lint.marked import marked

_CLASS = """
import random, time
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.step, self.scale = 0, 1.0
        self.layers = nn.ModuleList(nn.Linear(4, 4) for _ in range(3))
        self.register_buffer("table", torch.zeros(8, 4))

    def forward(self, x: Tensor):
        self.step += 1
        n = self.step
"""


@pytest.mark.parametrize(
    "use",
    [
        "return x * n",
        "return x * self.step",
        "return x * -n",
        "return x * min(n, 3)",
        "return x * (1 if n > 5 else 2)",
        "return x * (n > 5 and 2)",
        "return x.roll(n, 0)",
        "return torch.roll(x, shifts=n)",
        "return x[n]",
        "return x[:n]",
        "return x[n % 2, 1:]",
        "return self.layers[n % 3](x)",
        "self.table[n] = x[0]\nreturn self.table",
        "self.table[0] = float(n)\nreturn self.table",
        "x += n\nreturn x",
        "for _ in range(n):\n    x = x * 2\nreturn x",
        "if n % 2:\n    x = x * 2\nreturn x",
        "if n % 2:\n    return x\nreturn x * 2",
        "while n > 5:\n    x, n = x * 2, n - 1\nreturn x",
        "for layer in self.layers:\n    if n % 2:\n        continue\n    x = layer(x)\nreturn x",
        "return torch.full((4,), n, device=x.device)",
        "kernel[(1,)](x, n)\nreturn x",
        "return x, n",
        "rate = 0.5\nrate *= n\nreturn x * rate",
        "return [x * k for k in (n, 2)][0]",
        "return self.helped(x, n)\n\ndef helped(self, x, k):\n    return x * k",
        "return x * self.rate()\n\ndef rate(self):\n    return 0.5**self.step",
    ],
)
def test_what_computes_with_a_count_or_chooses_by_it_uses_it(use: str, tmp_path: Path) -> None:
    assert marked(tmp_path, _in_forward(use)) == ["COUNTER self.step += 1"]


@pytest.mark.parametrize(
    "use",
    [
        "return x",
        "print(n)\nreturn x",
        "self.other = n\nreturn x",
        "if n % 100 == 0:\n    print(n, x.shape)\nreturn x",
        "if n == 1:\n    x = x * 2\nreturn x",
        "if n is None:\n    x = x * 2\nreturn x",
        "n = 3\nreturn x * n",
        "if self.training:\n    x = x * n\nreturn x",
        "if not torch.cuda.is_current_stream_capturing():\n    x = x * n\nreturn x",
        "assert n > 0\nreturn x",
        "raise ValueError(n)",
        "return self.helped(x, n)\n\ndef helped(self, x, k):\n    print(k)\n    return x",
    ],
)
def test_what_device_work_does_not_use_is_let_be(use: str, tmp_path: Path) -> None:
    assert marked(tmp_path, _in_forward(use)) == []


@pytest.mark.parametrize(
    "reset",
    [
        "def reset(self):\n    self.step = 0",
        "def reset(self):\n    self.step, self.scale = 0, 1.0",
    ],
)
def test_a_count_that_captured_code_sets_back_is_let_be(reset: str, tmp_path: Path) -> None:
    use = f"self.reset()\nreturn x * n\n\n{reset}"

    assert marked(tmp_path, _in_forward(use)) == []


def test_a_count_that_only_code_outside_sets_back_stands_still(tmp_path: Path) -> None:
    use = "return x * n\n\ndef reset(self):\n    self.step = 0"

    assert marked(tmp_path, _in_forward(use)) == ["COUNTER self.step += 1"]


def test_a_count_of_code_outside_is_not_blamed(tmp_path: Path) -> None:
    text = _CLASS.replace("        self.step += 1\n", "")
    text += "        return x * n\n\n    def next(self):\n        self.step += 1\n"

    assert marked(tmp_path, text) == []


def _in_forward(use: str) -> str:
    """Return the class with statements put in `forward`, after which methods may follow."""
    body, _, methods = use.partition("\n\n")
    lines = [f"        {line}" for line in body.splitlines()]
    lines += [f"    {line}" for line in methods.splitlines()]
    return _CLASS + "\n".join(lines) + "\n"


def test_a_launch_over_lists_uses_a_count_though_the_launcher_is_of_the_project(
    tmp_path: Path,
) -> None:
    launcher = """
class Applier:
    def __call__(self, op, flag, lists, *rest):
        return op(self.chunk, flag, lists, *rest)

multi_tensor_applier = Applier()
"""
    text = _in_forward("multi_tensor_applier(kernels.adam, None, [[x], [x]], n)\nreturn x")

    assert marked(tmp_path, text + launcher) == ["COUNTER self.step += 1"]
    assert marked(tmp_path, (text + launcher).replace("multi_tensor_applier", "apply_all")) == []
