"""What a module sets in one that it calls: the line that sets it is to blame, not both together."""

from __future__ import annotations

import random

import torch
from torch import Tensor, nn

from tests.written_inputs import SHAPE, WIDTH, x

calls = 0


class Scaled(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(WIDTH, WIDTH)
        self.scale: float = 1.0
        self.history: list[int] = []
        self.flag: Tensor | None = None

    def forward(self, x: Tensor) -> Tensor:
        if self.flag is not None and self.flag.sum() > 0:  # blamed: a_tensor_that_the_child_tests
            x = x * 2
        y: Tensor = self.linear(x)
        return y * self.scale * (1 + len(self.history)) * (1 + calls)


class Parent(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.child = Scaled()


class Adds(Parent):
    def forward(self, x: Tensor) -> object:
        self.child.scale += 1.0  # blamed: a_number
        return self.child(x)


def a_number() -> object:
    """stale-on-replay."""
    return Adds(), x()


class Draws(Parent):
    def forward(self, x: Tensor) -> object:
        self.child.scale = random.random()  # blamed: a_random_number
        return self.child(x)


def a_random_number() -> object:
    """stale-on-replay."""
    return Draws(), x()


class Appends(Parent):
    def forward(self, x: Tensor) -> object:
        self.child.history.append(1)  # blamed: a_list
        return self.child(x)


def a_list() -> object:
    """stale-on-replay."""
    return Appends(), x()


class Counts(Parent):
    def forward(self, x: Tensor) -> object:
        global calls  # noqa: PLW0603 - as users do
        calls += 1  # blamed: a_global
        return self.child(x)


def a_global() -> object:
    """stale-on-replay."""
    return Counts(), x()


class Flags(Parent):
    def forward(self, x: Tensor) -> object:
        self.child.flag = x
        y = self.child(x)
        self.child.flag = None
        return y


def a_tensor_that_the_child_tests() -> object:
    """refuses-capture."""
    return Flags(), x()


class Biased(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(WIDTH, WIDTH)
        self.register_buffer("bias", torch.zeros(SHAPE))
        self.bias: Tensor

    def forward(self, x: Tensor) -> Tensor:
        y: Tensor = self.linear(x)
        return y + self.bias


class Fills(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.child = Biased()

    def forward(self, x: Tensor) -> object:
        self.child.bias.copy_(x * 2)
        return self.child(x)


def a_buffer_that_is_written_in_place() -> object:
    """replays-equal."""
    return Fills(), x()


class Gathers(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.child = Biased()

    def forward(self, x: Tensor) -> object:
        self.child.bias = self.child.bias + x  # blamed: a_buffer_that_is_replaced
        return self.child(x)


def a_buffer_that_is_replaced() -> object:
    """stale-on-replay."""
    return Gathers(), x()


class Asks(Parent):
    def forward(self, x: Tensor) -> object:
        if torch.cuda.is_current_stream_capturing():
            x = x * 2  # blamed: another_input_while_capturing
        return self.child(x)


def another_input_while_capturing() -> object:
    """differs-when-capturing."""
    return Asks(), x()


class Keeps(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.kept: Tensor | None = None

    def forward(self, x: Tensor) -> Tensor:
        self.kept = x * 2  # blamed: what_one_child_kept_in_the_call_before
        return self.kept


class Recalls(nn.Module):
    def __init__(self, keeps: Keeps) -> None:
        super().__init__()
        vars(self)["keeps"] = keeps

    def forward(self, x: Tensor) -> Tensor:
        keeps: Keeps = vars(self)["keeps"]
        return x if keeps.kept is None else x + keeps.kept


class Remembers(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.keeps = Keeps()
        self.recalls = Recalls(self.keeps)

    def forward(self, x: Tensor) -> Tensor:
        y: Tensor = self.recalls(x)
        z: Tensor = self.keeps(x)
        return y + z


def what_one_child_kept_in_the_call_before() -> object:
    """fails-together."""
    return Remembers(), x()


class KeepsResults(nn.Module):
    """Adds what the module that it calls returned in the call before."""

    def __init__(self) -> None:
        super().__init__()
        self.child = nn.ReLU()
        self.before: Tensor | None = None

    def forward(self, x: Tensor) -> Tensor:
        result: Tensor = self.child(x)
        before, self.before = self.before, result  # blamed: a_result_that_the_next_call_reads
        return result if before is None else result + before


def a_result_that_the_next_call_reads() -> object:
    """stale-on-replay."""
    return KeepsResults(), x()
