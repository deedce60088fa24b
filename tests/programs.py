"""Small programs of branches, masks and loops, drawn at random, for rewrites to be held against."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

HEAD = """import torch
import torch.nn.functional as F
from torch import nn


class M(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.fc = nn.Linear(4, 4)
        self.w = nn.Parameter(torch.randn(4))
        self.register_buffer("seen", torch.zeros(4))
        self.flag = True

    def forward(self, x, y, m):
"""
_SCALARS = ("{v}.mean()", "{v}.abs().max()", "{v}.sum()", "{v}.min()", "{v}.norm()")
_LIMITS = ("0", "0.3", "-0.5", "1.0", "2")
_UNARY = (
    *("{v} * 2", "{v} + 1", "-{v}", "torch.exp({v})", "torch.log({v})", "{v}.abs().sqrt()"),
    *("{v} / {u}", "{v} * {u}", "{v} + {u}", "{v}.clamp(-1, 1)", "self.fc({v})", "{v} * self.w"),
    *("torch.relu({v})", "{v} / {v}.norm()", "{v}.flip(0)", "{v}.softmax(0)", "{u}", "{v}.clone()"),
    *("{v}[:1] * {u}", "{v}.double()", "torch.rand_like({v})", "{v}.cumsum(0)"),
)
_MASKED = (
    "{v}[{m}] * 2",
    "torch.exp({v}[{m}])",
    "{v}[{m}] / {u}[{m}]",
    "{u}[{m}]",
    "{v}[{m}].mean(0)",
)
_WRITES = (
    "{v} += {u}",
    "{v}.mul_(0.5)",
    "{v}[0] = 1.0",
    "self.seen += 1",
    "{v} -= 0.5",
    "{v}.zero_()",
    "{v}[:, 1] = {u}[:, 0]",
    "self.seen.mul_(0.5)",
    "{v}.clamp_(max=1.0)",
)
_ALIASES = ("{v}", "{v}", "{v}[0]", "{v}.view(4, 3).view(3, 4)", "{v}.detach()")
_LOSSES = (
    "F.mse_loss({v}[{m}], {u}[{m}])",
    "F.l1_loss({v}[{m}], {u}[{m}])",
    "F.smooth_l1_loss({v}[{m}], {u}[{m}])",
    "{v}[{m}].sum()",
    "{v}[~{m}].mean()",
    "{v}[{m}].abs().sum()",
)
_READS = ("{t}.item()", "float({t})", "int({t})", "bool({t} > 0)", "{t}.detach().item()")
_ROUND_TRIPS = (
    "{v}.cpu().argsort().to({v}.device)",
    "{v}.cpu().abs().sum(0).to({v}.device)",
    "{v}.detach().cpu().argmax(-1).to({v}.device)",
)
_ROWS = (
    "{n}[i] += {v}[i] * 2",
    "{n}[i] = torch.exp({v}[i]) + {u}[i]",
    "{n}.index_add_(0, i, self.fc({v}[i]))",
    "{n}[i] = {v}[i] / {u}[i]",
    "{n}[i] *= {v}[i].sum(-1, keepdim=True)",
)
_HOSTED = (
    "{v} * torch.tensor(x.shape[0], device=x.device)",
    "{v} + torch.tensor([x.shape[1], 1, 2, 3], device=x.device)",
    "{v} + torch.arange(4).to({u})",
    "{v} @ torch.eye(4).to({u})",
    "{v} * max({v}.sum(), {u}.mean())",
    "{v} + min({u}.norm(), {v}.norm())",
    "{v} + {u}.new_tensor([x.shape[1] / 3])",
    "{v} * torch.tensor(2).to(x.device)",
    "{v}[:, [1, 0, 2, 3]]",
)


@dataclass(slots=True)
class _Writer:
    rng: Random
    lines: list[str] = field(default_factory=list)

    def put(self, depth: int, text: str) -> None:
        self.lines.append("    " * (depth + 2) + text)

    def name(self) -> str:
        return self.rng.choice("xyab")

    def fill(self, forms: tuple[str, ...]) -> str:
        mask = self.rng.choice(("m", "m", "pos"))
        return self.rng.choice(forms).format(v=self.name(), u=self.name(), m=mask)

    def test(self) -> str:
        one = f"{self.fill(_SCALARS)} {self.rng.choice('<>')} {self.rng.choice(_LIMITS)}"
        kind = self.rng.random()
        if kind < 0.1:
            return f"{one} and {self.fill(_SCALARS)} > 0"
        if kind < 0.15:
            return f"not {one}"
        if kind < 0.2:
            return f"{self.rng.choice(('self.training', 'self.flag'))} and {one}"
        if kind < 0.24:
            return f"-1 < {self.fill(_SCALARS)} < {self.rng.choice(_LIMITS)}"
        if kind < 0.27:
            return f"{one} or {self.rng.choice(('m.any()', 'm.all()', 'pos.all()'))}"
        if kind < 0.3:
            return f"self.seen.sum() > {self.rng.choice(_LIMITS)}"
        return one.replace(" <", ".item() <") if kind < 0.42 else one

    def branch(self, depth: int) -> None:
        self.put(depth, f"if {self.test()}:")
        self.arm(depth + 1)
        if self.rng.random() < 0.5:
            self.put(depth, "else:")
            self.arm(depth + 1)

    def arm(self, depth: int) -> None:
        for _ in range(self.rng.choice((1, 1, 2))):
            if depth < 2 and self.rng.random() < 0.15:
                self.branch(depth)
            elif depth < 2 and self.rng.random() < 0.08:
                self.put(depth, f"if {self.rng.choice(('self.flag', 'not self.training'))}:")
                self.put(depth + 1, f"{self.name()} = {self.fill(_UNARY)}")
            elif self.rng.random() < 0.08:
                self.put(depth, self.fill(_WRITES))
            else:
                self.put(depth, f"{self.name()} = {self.fill(_UNARY)}")

    def positions(self) -> None:
        """Put work on the rows that a mask chooses, by their positions, or up to their lengths."""
        name, kind = self.name(), self.rng.random()
        if kind < 0.6:
            places = self.rng.choice(("i = {}.nonzero().squeeze(-1)", "(i,) = torch.where({})"))
            self.put(0, places.format(self.rng.choice(("m[:, 0]", "pos[:, 1]", "m.any(-1)"))))
            form = self.rng.choice(_ROWS)
            self.put(0, form.format(n=name, v=self.name(), u=self.name()))
            return
        self.put(0, f"k = {self.rng.choice(('m', 'pos'))}.sum(-1)")
        self.put(0, f"for i in range({name}.shape[0]):")
        self.put(1, f"{name}[i, {self.rng.choice((':k[i]', 'k[i]:'))}] = 1.0")

    def masked(self) -> None:
        kind, name = self.rng.random(), self.name()
        if self.rng.random() < 0.25:
            self.positions()
        elif kind < 0.3:
            self.put(0, "if m.any():")
            self.put(
                1,
                f"{name}[m] = {self.rng.choice(_MASKED).format(v=self.name(), u=self.name(), m='m')}",
            )
        elif kind < 0.6:
            self.put(
                0, f"{name}[{self.rng.choice(('m', 'pos'))}] {self.rng.choice(('*', '+', '/'))}= 2"
            )
        elif kind < 0.8:
            self.put(
                0,
                f"{name}[m] = {self.rng.choice(_MASKED).format(v=self.name(), u=self.name(), m='m')}",
            )
        else:
            self.put(
                0, f"a = {self.name()} + {self.name()}[m].{self.rng.choice(('sum()', 'mean()'))}"
            )

    def loop(self) -> None:
        name = self.name()
        step = f"{name} = {name} * 0.7 + {self.fill(_UNARY[:3])} * 0.1"
        if self.rng.random() < 0.4:
            self.put(0, "i = 0")
            self.put(0, f"while {self.fill(_SCALARS)} > {self.rng.choice(_LIMITS)} and i < 3:")
            self.put(1, step)
            self.put(1, "i += 1")
            return
        self.put(0, "for _ in range(4):")
        self.put(1, step)
        if self.rng.random() < 0.2:
            self.put(1, self.fill(_WRITES))
        self.put(1, f"if {self.test()}:")
        self.put(2, "break")

    def number(self) -> None:
        read = self.rng.choice(_READS).format(t=self.fill(_SCALARS))
        self.put(0, f"s = {read}")
        use = self.rng.choice(
            ("{v} * s", "{v} + s", "s * {v}", "{v} / s", "{v}.clamp(min=s)", "torch.exp({v} * s)")
        )
        self.put(0, f"{self.name()} = {self.fill((use,))}")
        if self.rng.random() < 0.2:
            self.put(0, f"if s > {self.rng.choice(_LIMITS)}:")
            self.put(1, f"{self.name()} = {self.fill(_UNARY)}")

    def leave(self) -> None:
        """Return early, perhaps out of a nested branch."""
        self.put(0, f"if {self.test()}:")
        if self.rng.random() < 0.3:
            self.put(1, f"if {self.test()}:")
            self.put(2, f"return x, y, {self.fill(_UNARY)}")
        self.put(1, f"return x, {self.name()}, {self.fill(_UNARY)}")

    def hosted(self) -> None:
        """Put what the host holds and the device needs."""
        kind = self.rng.random()
        if kind < 0.7:
            self.put(0, f"{self.name()} = {self.fill(_HOSTED)}")
        elif kind < 0.85:
            self.put(0, "k = torch.arange(4)")
            self.put(0, f"{self.name()} = {self.fill(('{v} * (k[None] > 1).to({u})',))}")
        else:
            self.put(0, f"{self.name()}[torch.where({self.rng.choice(('m', 'pos'))})] = 0.5")

    def other(self) -> None:
        """Put a new name for a tensor's memory, a loss, a round trip, or work in other precision."""
        kind = self.rng.random()
        if kind < 0.4:
            self.put(0, f"{self.name()} = {self.fill(_ALIASES)}")
        elif kind < 0.7:
            self.put(0, f"{self.name()} = {self.name()} + {self.fill(_LOSSES)}")
        elif kind < 0.8:
            self.put(0, f"{self.name()} = {self.name()} + {self.fill(_ROUND_TRIPS)}")
        else:
            self.put(0, "with torch.autocast(x.device.type, dtype=torch.bfloat16):")
            self.branch(1)


def program(seed: int) -> str:
    """Return the text of a module `M` of three arguments, which may run or not."""
    rng = Random(seed)
    writer = _Writer(rng)
    for one in ("a = x * 1.5", "b = y + 0.25", "pos = x > 0"):
        writer.put(0, one)
    for _ in range(rng.choice((1, 1, 2, 2, 3))):
        kind = rng.random()
        if kind < 0.4:
            writer.branch(0)
        elif kind < 0.6:
            writer.masked()
        elif kind < 0.7:
            writer.loop()
        elif kind < 0.8:
            writer.number()
        elif kind < 0.86:
            writer.leave()
        elif kind < 0.93:
            writer.hosted()
        else:
            writer.other()
        if rng.random() < 0.2:
            writer.put(0, f"{writer.name()} = {writer.fill(_UNARY)}")
        if rng.random() < 0.07:
            writer.put(0, writer.fill(_WRITES))
    writer.put(0, f"return x, y, a {rng.choice('+*')} b")
    return HEAD + "\n".join(writer.lines) + "\n"
