"""Inputs that lead a function into both outcomes of what it tests, and to the edges of numbers."""

from __future__ import annotations

import ast
import random
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress

import torch
from torch import Tensor

from capturelint.debug.attempts.part import Call
from capturelint.debug.trees.trees import leaves

Change = Callable[[Tensor, random.Random, tuple[float, ...]], None]

AS_RECORDED = "as recorded"
INTEGERS_ZERO = "integers zero"
_ONE = " of one input"

_HUGE, _LARGE, _SMALL = 1e30, 1e4, 1e-4


def constants_in(function: ast.AST) -> tuple[float, ...]:
    """Return the numbers written in a function, with 0 and 1."""
    found = {0.0, 1.0}
    for node in ast.walk(function):
        if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
            found.add(float(node.value))
    return tuple(sorted(found))


def mutants(
    calls: tuple[Call, ...], constants: tuple[float, ...], seed: int
) -> Iterator[tuple[str, tuple[Call, ...]]]:
    """Yield the calls of one step as they are, then changed, each with what was done to them."""
    yield AS_RECORDED, tuple(call.copied() for call in calls)
    for number, (name, change) in enumerate(CHANGES.items()):
        for is_one in (False, True):
            rng = random.Random(1000 * seed + 10 * number + is_one)  # noqa: S311 - no secret
            new = tuple(call.copied() for call in calls)
            tensors = [
                leaf.value for call in new for leaf in leaves((call.args, dict(call.kwargs)))
            ]
            given = [one for one in tensors if isinstance(one, Tensor) and one.numel()]
            if name in _OF_MASKS:
                given = [one for one in given if one.dtype is torch.bool]
                if len(given) <= is_one:
                    continue
            # All inputs together, or one of them alone.
            chosen = [rng.choice(given)] if is_one and given else given
            with torch.no_grad():
                for tensor in chosen:
                    # Elements that share memory are not written one by one.
                    with suppress(RuntimeError):
                        change(tensor, rng, constants)
            yield f"{name}{_ONE if is_one else ''}", new


def is_bounded(name: str) -> bool:
    """Return whether inputs that were changed so hold finite numbers, if they did before."""
    return _change(name) not in UNBOUNDED


def may_overflow(name: str) -> bool:
    """Return whether sums and products of inputs that were changed so may pass the largest number."""
    return _change(name) == _OVERFLOWING


def _change(name: str) -> str:
    """Return what was done to the elements of inputs: after a comma stands what else."""
    return name.partition(",")[0].removesuffix(_ONE)


def _filled(value: float) -> Change:
    def change(tensor: Tensor, _: random.Random, __: tuple[float, ...]) -> None:
        if tensor.is_floating_point() or tensor.dtype is torch.bool:
            tensor.fill_(value)

    return change


def _scaled(factor: float) -> Change:
    def change(tensor: Tensor, _: random.Random, __: tuple[float, ...]) -> None:
        if tensor.is_floating_point():
            tensor.mul_(factor)

    return change


def _signed(sign: int) -> Change:
    def change(tensor: Tensor, _: random.Random, __: tuple[float, ...]) -> None:
        if tensor.is_floating_point():
            tensor.abs_().mul_(sign)

    return change


def _constant(tensor: Tensor, rng: random.Random, constants: tuple[float, ...]) -> None:
    if tensor.is_floating_point():
        tensor.fill_(rng.choice(constants) * rng.choice((1, -1)))


def _beside(tensor: Tensor, rng: random.Random, constants: tuple[float, ...]) -> None:
    if tensor.dtype in (torch.float32, torch.float64, torch.bfloat16):
        tensor.fill_(rng.choice(constants))
        tensor.copy_(torch.nextafter(tensor, tensor + rng.choice((1.0, -1.0))))


def _shifted(tensor: Tensor, rng: random.Random, constants: tuple[float, ...]) -> None:
    if tensor.is_floating_point():
        tensor.add_(rng.choice(constants) * rng.choice((1, -1)))


def _rounded(tensor: Tensor, _: random.Random, __: tuple[float, ...]) -> None:
    if tensor.is_floating_point():
        tensor.round_()


def _first_integers(tensor: Tensor, _: random.Random, __: tuple[float, ...]) -> None:
    if not tensor.is_floating_point() and tensor.dtype is not torch.bool:
        tensor.zero_()


def _flipped(tensor: Tensor, _: random.Random, __: tuple[float, ...]) -> None:
    if tensor.dtype is torch.bool:
        tensor.logical_not_()


def _told(value: int) -> Change:
    def change(tensor: Tensor, _: random.Random, __: tuple[float, ...]) -> None:
        if tensor.dtype is torch.bool:
            tensor.fill_(value)

    return change


def _element(value: float) -> Change:
    def change(tensor: Tensor, rng: random.Random, __: tuple[float, ...]) -> None:
        if tensor.is_floating_point():
            place = tuple(rng.randrange(size) for size in tensor.shape)
            tensor[place].fill_(value)

    return change


# After these no gradients are compared: what is not finite may reach them either way.
UNBOUNDED = frozenset(("one NaN", "one infinity", "one negative infinity"))
_OVERFLOWING = "huge"
# What changes masks alone is left out where there are none.
_OF_MASKS = frozenset(("truth turned around", "nothing true", "all true"))
CHANGES: Mapping[str, Change] = {
    "zeros": _filled(0.0),
    "ones": _filled(1.0),
    "negative": _signed(-1),
    "positive": _signed(1),
    "large": _scaled(_LARGE),
    _OVERFLOWING: _scaled(_HUGE),
    "small": _scaled(_SMALL),
    "a constant of the code": _constant,
    "next to a constant of the code": _beside,
    "another constant of the code": _constant,
    "shifted by a constant of the code": _shifted,
    "shifted back": _shifted,
    "rounded": _rounded,
    "truth turned around": _flipped,
    "nothing true": _told(0),
    "all true": _told(1),
    INTEGERS_ZERO: _first_integers,
    "one zero": _element(0.0),
    "one large": _element(1e3),
    "one NaN": _element(float("nan")),
    "one infinity": _element(float("inf")),
    "one negative infinity": _element(float("-inf")),
}
