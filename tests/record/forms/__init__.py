"""Code that exercises each row of the table of operations, grouped as the table is.

A line is `operations => code`, with more code after further `=>`: each piece is a step to capture.
`{op}` stands for the operation's name, `{name}` for its last part. Statements are parted by `;`; the
last is what the step returns. `x`, `t`, `n`, `idx`, `mask` and `a` are its inputs; `made` says what
else there is.
"""

from __future__ import annotations

import hashlib
import logging
import math
import operator
import textwrap
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from tests.record.forms.arguments import ARGUMENTS
from tests.record.forms.copies import COPIES
from tests.record.forms.libraries import LIBRARIES
from tests.record.forms.reads import READS
from tests.record.forms.shapes import BRANCHES, SHAPES
from tests.record.step import Step, Twin

_COUNTS = (2, 1, 1, 3, 1, 2, 1, 1)


@dataclass(frozen=True, slots=True)
class Form:
    """One step that uses one operation in one form of its arguments, as the table words it."""

    op: str
    form: str
    code: str

    @property
    def source(self) -> str:
        """Return a digest of the code."""
        return hashlib.sha256(self.code.encode()).hexdigest()[:16]

    def step(self) -> Step:
        """Return the step. Each twin has host tensors of its own."""
        return Step(lambda: Twin(made(self.code)), inputs)


def forms() -> Iterator[Form]:
    """Return every form that is written down, in the order of the table."""
    for text in (READS, ARGUMENTS, COPIES, SHAPES, BRANCHES, LIBRARIES):
        form = ""
        for line in filter(None, text.splitlines()):
            if line.startswith("form:"):
                form = line.removeprefix("form:").strip()
                continue
            ops, *codes = line.split(" => ")
            for op in ops.split():
                name = op.rpartition(".")[2]
                for code in codes:
                    yield Form(op, form, code.replace("{op}", op).replace("{name}", name))


def inputs(number: int) -> tuple[Tensor, ...]:
    """Return the inputs of one call, all on the device.

    x: (8, 16) float32 in [0, 1); t: () float32 in [0, 1); n: () int64, 1, 2 or 4; idx: (4,) int64,
    different ones below 8; mask: (8, 16) bool; a: (8, 8) float32, symmetric, far from singular.
    """
    generator = torch.Generator().manual_seed(1000 + number)
    x, t, b = (torch.rand(size, generator=generator) for size in ((8, 16), (), (8, 8)))
    idx = torch.randperm(8, generator=generator)[:4]
    a = b @ b.T + 8 * torch.eye(8)
    given = (x, t, torch.tensor(2 ** (number % 3)), idx, x.roll(1) > 0.5, a)
    return tuple(one.cuda() for one in given)


def made(code: str) -> Callable[..., object]:
    """Return a function of the inputs that runs the code, with fresh host tensors.

    h: (16,), hx: (8, 16), h0: (), hi: (2,) integers, p: (16,) pinned; on the device layers: five
    linear ones, cnt: (8,) integers whose sum is 12; wait: wait for the device unless capturing.
    """
    *lines, last = [line.removeprefix(" ").rstrip() for line in code.split(";")]
    if not last.startswith(("return", " ")):
        last = f"return {last}"
    body = textwrap.indent("\n".join([*lines, last]), "    ")
    names: dict[str, Any] = {
        "torch": torch, "nn": nn, "F": functional, "np": np, "math": math, "operator": operator,
        "warnings": warnings, "logging": logging, "wait": _wait,
        "h": torch.ones(16), "hx": torch.ones(8, 16), "h0": torch.tensor(0.05),
        "hi": torch.tensor([0, 2]), "p": torch.ones(16).pin_memory(),
        "layers": nn.ModuleList(nn.Linear(16, 16) for _ in range(5)).cuda(),
        "cnt": torch.tensor(_COUNTS).cuda(),
    }  # fmt: skip
    exec(f"def step(x, t, n, idx, mask, a):\n{body}\n", names)
    step: Callable[..., object] = names["step"]
    return step


def _wait() -> None:
    if not torch.cuda.is_current_stream_capturing():
        torch.cuda.synchronize()
