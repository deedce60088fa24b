"""What users set on parameters and tensors before they move: hooks, attributes and their classes."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from tests.written_inputs import WIDTH, x


class Trains(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(WIDTH, WIDTH)

    def forward(self, x: Tensor) -> object:
        self.linear.zero_grad()
        self.linear(x).square().sum().backward()
        assert self.linear.weight.grad is not None
        return self.linear.weight.grad.clone()


class ReadsInHook(Trains):
    def __init__(self) -> None:
        super().__init__()
        self.linear.weight.register_hook(self.seen)  # type: ignore[no-untyped-call]  # of torch

    def seen(self, gradient: Tensor) -> None:
        float(gradient.norm())  # blamed: a_hook_that_reads


def a_hook_that_reads() -> object:
    """refuses-capture."""
    return ReadsInHook().train(), x()


class ReadsAfterwards(Trains):
    def __init__(self) -> None:
        super().__init__()
        weight = self.linear.weight
        weight.register_post_accumulate_grad_hook(self.seen)  # type: ignore[no-untyped-call]  # of torch

    def seen(self, parameter: Tensor) -> None:
        assert parameter.grad is not None
        float(parameter.grad.norm())  # blamed: a_hook_after_accumulation_that_reads


def a_hook_after_accumulation_that_reads() -> object:
    """refuses-capture."""
    return ReadsAfterwards().train(), x()


class Doubles(Trains):
    def __init__(self) -> None:
        super().__init__()
        self.linear.weight.register_hook(lambda one: one * 2)  # type: ignore[no-untyped-call]  # of torch


def a_hook_that_computes() -> object:
    """replays-equal."""
    return Doubles().train(), x()


class Loaded(nn.Parameter):
    @property
    def factor(self) -> float:
        return 3.0


class Scales(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = Loaded(torch.ones(WIDTH, WIDTH), requires_grad=False)
        self.weight.__dict__["shift"] = 2.0

    def forward(self, x: Tensor) -> Tensor:
        y: Tensor = x @ self.weight * self.weight.factor
        shift: float = self.weight.__dict__["shift"]
        return y + shift


def a_class_and_an_attribute() -> object:
    """replays-equal."""
    return Scales(), x()


class Named(Tensor):
    """A class of the user's own."""


class Multiplies(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.table = torch.ones(WIDTH, WIDTH, device="cuda").as_subclass(Named)

    def forward(self, x: Tensor) -> Tensor:
        y = x @ self.table
        assert isinstance(y, Named)
        return y


def a_tensor_of_a_class() -> object:
    """replays-equal."""
    return Multiplies(), x()


class Dispatches(Tensor):
    @classmethod
    def __torch_dispatch__(cls, *_: object) -> object:
        raise NotImplementedError


class HoldsIt(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.held = torch.ones(WIDTH, device="cuda").as_subclass(Dispatches)

    def forward(self, x: Tensor) -> Tensor:
        return x + 1


def a_tensor_made_early_that_dispatches_by_itself() -> object:
    """Undecided."""
    return HoldsIt(), x()


def layers_whose_sizes_the_first_call_gives() -> object:
    """replays-equal."""
    return nn.Sequential(nn.LazyLinear(WIDTH), nn.LazyBatchNorm1d()).eval(), x()
