"""Calls of functions that fill tensors on the host, with the device as the one to fill on."""

from __future__ import annotations

import ast
from functools import partial
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("torch")

from capturelint.rewrite.filling import is_filling
from tests.programs import HEAD
from tests.rewritten_programs import MAKER, rewritten

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import InFork

TABLE = """

def table(n):
    \"\"\"Distances.\"\"\"
    pos = torch.arange(3 * n, dtype=torch.int32)
    middle = pos[n:-n]
    return pos.unsqueeze(0) - middle.unsqueeze(1)
"""
BODY = """\
        n = x.shape[1]
        near = table(n)
        mask = torch.abs(near) < n
        mask = mask[None, :, n : 2 * n].to(x.device)
        return x * mask[0, :1, :n]
"""


@pytest.mark.parametrize(
    ("old", "new", "is_known"),
    [
        ("", "", True),
        ("3 * n,", "3 * n // 2 % 7,", True),
        ("torch.arange(3 * n, dtype=torch.int32)", "torch.eye(n)", True),
        ("pos[n:-n]", "pos[None, ...].flatten()", True),
        ("- middle", "/ middle", False),
        (".unsqueeze(1)", ".float().log()", False),
        ("dtype=torch.int32", "dtype=torch.float32", False),
        ("3 * n,", "3 / n,", False),
        ("3 * n,", "3.5,", False),
        ("torch.int32)", "torch.int32, device='cpu')", False),
        ("torch.arange(3 * n, dtype=torch.int32)", "torch.rand(n)", False),
        ("def table(n):", "@cache\ndef table(n):", False),
        ("def table(n):", "def table(n, more=1):", False),
        ("def table(n):", "def table(*n):", False),
        ("    middle =", "    pos[0] = 1\n    middle =", False),
        ("    middle =", "    pos.add_(1)\n    middle =", False),
        ("    middle =", "    torch = pos\n    middle =", False),
        ("    return", "    print(n)\n    return", False),
        ("    return", "    if n:\n        return pos\n    return", False),
        ("pos.unsqueeze(0) - middle", "seen.unsqueeze(0) - middle", False),
        ("\n\ndef table", "\n\ntable = None\n\ndef table", False),
        ("\n\ndef table", "\n\nfrom m import table\n\ndef table", False),
    ],
)
def test_a_function_only_fills(old: str, new: str, is_known: bool) -> None:
    assert old in TABLE
    tree = ast.parse(TABLE.replace(old, new, 1))

    assert is_filling(tree, "table", 1, "torch") is is_known
    assert not is_filling(tree, "table", 2, "torch")


def _check(folder: Path, old: str, new: str) -> None:
    from capturelint.rewrite.proof.kept import KeptError

    text = f"{HEAD}{BODY.replace(old, new)}{MAKER}{TABLE}"
    try:
        found = rewritten(folder / "m.py", text, trains=False)
    except KeptError:
        found = text
    made = "        with torch.device(x.device):\n            near = table(n)\n"
    wanted = text if old else text.replace("        near = table(n)\n", made)

    assert found == wanted


def test_it_is_called_with_the_device_that_its_tensor_goes_to(
    tmp_path: Path, in_fork: InFork
) -> None:
    in_fork(partial(_check, tmp_path, "", ""))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("table(n)", "table(n).add_(1)"),
        ("near) < n", "near).log() < n"),
        ("        mask = mask[", "        near += 1\n        mask = mask["),
        ("        mask = mask[", "        self.near = near\n        mask = mask["),
        (
            "        mask = mask[",
            "        if n > 9:\n            return near.numpy()\n        mask = mask[",
        ),
    ],
)
def test_what_is_done_with_it_on_the_host_keeps_it_there(
    old: str, new: str, tmp_path: Path, in_fork: InFork
) -> None:
    assert old in BODY
    in_fork(partial(_check, tmp_path, old, new))
