"""What the host holds, written as work of the device: numbers, short lists, fills that are moved."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import pytest

pytest.importorskip("torch")

from capturelint.rewrite.proof.kept import KeptError
from tests.programs import HEAD
from tests.rewritten_programs import MAKER, rewritten

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import InFork

_FILL = "torch.full((), {}, device=x.device)"
_ROW = f"torch.stack([{_FILL.format('one')} for one in row])"
_WIDE = "torch.full((), {}, dtype=torch.float64, device=x.device)"
_MADE = ".to(torch.get_default_dtype())"
_NESTED = f"torch.stack((torch.stack(({_WIDE.format('n / 2')}, {_WIDE.format('3.0')})),)){_MADE}"
_INDENT = " " * 8


def _text(body: str) -> str:
    lines = [f"{_INDENT}{line}\n" for line in ("n = x.shape[0]", *body.split("\n"))]
    return f"{HEAD}{''.join(lines)}{MAKER}"


def _check(folder: Path, old: str, new: str) -> None:
    found = rewritten(folder / "m.py", _text(old), trains=False)
    assert found == _text(new.replace("{d}", "device=x.device"))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("return x + torch.tensor(n - 1, device=x.device)",
         "return x + torch.full((), n - 1, device=x.device)"),
        ("return x + x.new_tensor([2**n + 1])",
         "return x + x.new_full((1,), float(2**n + 1), dtype=torch.float64).to(x.dtype)"),
        ("return x + x.new_tensor((n // 2))", "return x + x.new_full((), n // 2)"),
        ("return x + x.new_tensor((2))", "return x + x.new_full((), 2)"),
        ("return x / torch.tensor(10.0 ** (3 * n), device=x.device)",
         f"return x / {_WIDE.format('10.0 ** (3 * n)')}{_MADE}"),
        ("s = float(n * 3)\nreturn x / torch.tensor(-s).to(x.device)",
         f"s = float(n * 3)\nreturn x / {_WIDE.format('-s')}{_MADE}"),
        ("return x / torch.tensor(n * 3, dtype=x.dtype, device=x.device)",
         f"return x / {_WIDE.format('float(n * 3)')}.to(x.dtype)"),
        ("k = [n / 3, 0.5]\nreturn x[:, :2] / torch.tensor(k, device=x.device)",
         f"k = [n / 3, 0.5]\nreturn x[:, :2] / torch.stack([{_WIDE.format('one')} for one in k]){_MADE}"),
        ("return x[:, :2] / torch.tensor([n, 4], device=x.device)",
         f"return x[:, :2] / torch.stack(({_FILL.format('n')}, {_FILL.format('4')}))"),
        ("k = [n, 4]\nreturn x[0, :2] * torch.tensor(k, device=x.device)",
         f"k = [n, 4]\nreturn x[0, :2] * torch.stack([{_FILL.format('one')} for one in k])"),
        ("k = [(n, 4), (1, 2)]\nreturn x.sum() + torch.as_tensor(k, device=x.device)",
         f"k = [(n, 4), (1, 2)]\nreturn x.sum() + torch.stack([{_ROW} for row in k])"),
        ("k = torch.tensor([[n / 2, 3.0]])\nreturn x[:, :2] / k.to(x)",
         f"k = {_NESTED}\nreturn x[:, :2] / k.to(x)"),
        ("k = torch.tensor(n)\nreturn x + k.to(x.device)",
         "k = torch.tensor(n)\nreturn x + torch.full((), k.item(), dtype=torch.int64, device=x.device)"),
        ("return x[:, :3] - torch.eye(n).to(x)",
         "return x[:, :3] - torch.eye(n, device=x.device).to(x)"),
        ("return torch.arange(0, n).to(device=x.device, dtype=torch.float)",
         "return torch.arange(0, n, device=x.device).to(device=x.device, dtype=torch.float)"),
        ("pos = torch.arange(n)\npos = pos[None] * 2\nreturn x[:, :3] + pos.to(x.device)",
         "pos = torch.arange(n, device=x.device)\npos = pos[None] * 2\nreturn x[:, :3] + pos.to(x.device)"),
        ("i = torch.arange(n)\nj = torch.arange(4)[:, None]\nreturn x @ (j > i).to(x)",
         "i = torch.arange(n, {d})\nj = torch.arange(4, {d})[:, None]\nreturn x @ (j > i).to(x)"),
        ("i = torch.arange(n).unsqueeze(-1)\nreturn x[i, y.argmax(1)]",
         "i = torch.arange(n, device=x.device).unsqueeze(-1)\nreturn x[i, y.argmax(1)]"),
        ("x = x * 2\nx[torch.where(x.sum(-1) == 0)] = 1.0\nreturn x",
         "x = x * 2\nx[x.sum(-1) == 0] = 1.0\nreturn x"),
        ("x = x * 2\nx[0, 1] = n / 2\nreturn x", "x = x * 2\nx[0, 1].fill_(n / 2)\nreturn x"),
        ("return x * max(x.abs().max(), y.abs().max())",
         "return x * (torch.where(y.abs().max() > x.abs().max(), y.abs().max(), x.abs().max()))"),
    ],
)  # fmt: skip
def test_what_the_host_holds_is_made_on_the_device(
    tmp_path: Path, in_fork: InFork, old: str, new: str
) -> None:
    in_fork(partial(_check, tmp_path, old, new))


def _check_kept(folder: Path, body: str, words: str) -> None:
    with pytest.raises(KeptError, match=words):
        rewritten(folder / "m.py", _text(body), trains=False)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("return x + torch.tensor([n, 0.5], device=x.device)[0]", "no single number and no range"),
        ("return x.half() + torch.tensor([n, 7], device=x.device, dtype=torch.half)[0]",
         "no single number and no range"),
        ("k = list(range(9))\nk[0] = n\nreturn torch.isin(x.long(), torch.tensor(k, device=x.device))",
         "no single number and no range"),
        ("k = torch.arange(n).mul(0.5).to(torch.uint8)\nreturn x[0, :3] + k.to(x.device)",
         "not filled right here"),
        ("return x + x.long().new_tensor(n / 2)", "no single number"),
        ("s = [n / 2][0]\nreturn x * torch.tensor(s, device=x.device)", "which a fill may round otherwise"),
        ("return x * torch.tensor((0.5 - n) ** 3.0, device=x.device)", "which a fill may round otherwise"),
        ("float = int\nreturn x + x.new_tensor(n * 3)", "no single number"),
        ("return x.bool() & torch.tensor(n, dtype=torch.bool, device=x.device)", "a number of the host"),
        ("k = [n] * (n - 1)\nreturn x[:2] * torch.tensor(k, device=x.device).sum()", "no single number and no range"),
        ("k = [i for i in range(n)]\nreturn x + torch.tensor(k, device=x.device).sum()", "no single number and no range"),
        ("k = [n, 4]\nk.append(1)\nreturn x + torch.tensor(k, device=x.device).sum()", "no single number and no range"),
        ("k = [n, *[4]]\nreturn x + torch.tensor(k, device=x.device).sum()", "no single number and no range"),
        ("return x + torch.tensor([*[n], 4], device=x.device).sum()", "no single number and no range"),
        ("k = [n, 4]\nk += [5]\nreturn x + torch.tensor(k, device=x.device).sum()", "no single number and no range"),
        ("k = torch.arange(n) / 3\nreturn x[0, :3] + k.to(x.device)", "not filled right here"),
        ("k = torch.arange(n)\nk += 1\nreturn x[0, :3] + k.to(x.device)", "not filled right here"),
        ("k = torch.arange(n)\nself.k = k\nreturn x[0, :3] + k.to(x.device)",
         "not filled right here"),
        ("k = torch.arange(n)\nreturn x[0, :3] + k.to(x.device) + k.exp().sum().item()",
         "not filled right here"),
        ("return x[:, :3] - torch.linspace(0, 1, n).to(x)", "not filled right here"),
        ("return x * max(x.abs().max(), y.amax(0)[:1])", "other types or sizes"),
    ],
)  # fmt: skip
def test_what_may_not_be_the_same_stays(
    tmp_path: Path, in_fork: InFork, body: str, words: str
) -> None:
    in_fork(partial(_check_kept, tmp_path, body, words))
