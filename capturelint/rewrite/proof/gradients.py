"""The gradients of one call: of all floating inputs and parameters, and of other leaves that it reads."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import torch
from torch import Tensor, nn
from torch.autograd.graph import Node, get_gradient_edge
from torch.utils import _pytree as pytree  # trees of torch's own, the same since 1.8

from capturelint.debug.attempts.compare import Difference, Tolerance, difference
from capturelint.debug.attempts.part import Call

Gradients = Mapping[str, Tensor | None]

_NONE: Mapping[str, float] = {}
# How far two runs of the same may be apart, in parts of the largest number of a gradient, and of all.
_MOST_OF_ITS_OWN = 2e-4
_MOST_OF_ALL = 1e-4


def gradients_of(run: Callable[..., object], calls: Sequence[Call]) -> Gradients:
    """Return the gradients of a weighted sum of all results, by name; None where there are none.

    `calls`: may be written, and their tensors become leaves. Raises what the calls or the backward pass raise.
    """
    wanted: dict[str, Tensor] = {}
    if isinstance(run, nn.Module):
        wanted |= {f"parameter {n}": p for n, p in run.named_parameters() if p.requires_grad}
    results: list[Tensor] = []
    first = _next_number()
    for number, call in enumerate(calls):

        def leaf(value: object, number: int = number) -> object:
            if not isinstance(value, Tensor) or not value.is_floating_point():
                return value
            own = value.detach().requires_grad_()
            wanted[f"input {number}.{len(wanted)}"] = own
            # What the code writes in place must not be a leaf.
            return own * 1

        args, kwargs = pytree.tree_map(leaf, (call.args, dict(call.kwargs)))
        out = replace(call, args=args, kwargs=kwargs, modes=None).of(run)
        results += [t for t in pytree.tree_leaves(out) if isinstance(t, Tensor)]
    ends = [one for one in results if one.is_floating_point() and one.requires_grad]
    wanted |= _others(ends, list(wanted.values()), first)
    if not ends or not wanted:
        return dict.fromkeys(wanted)
    weights = [_weights(one) for one in ends]
    found = torch.autograd.grad(ends, list(wanted.values()), weights, allow_unused=True)
    return dict(zip(wanted, found, strict=True))


def _next_number() -> int:
    """Return a number below that of each step of autograd that comes after, and above those before."""
    made = torch.ones((), requires_grad=True) * 1
    assert made.grad_fn is not None, "it was made of a leaf"
    return made.grad_fn._sequence_nr()  # noqa: SLF001 - torch tells the order by nothing else


def _others(ends: Sequence[Tensor], known: Sequence[Tensor], first: int) -> Mapping[str, Tensor]:
    """Return the leaves that results were computed from besides `known`, such as a tensor that is a plain attribute.

    They are numbered among those of one shape, in the order in which they are met. `first`: the number of the
    first step of autograd; earlier ones, of which a buffer may keep some, can be gone back only once.
    """
    names = {id(one) for one in known}
    found: dict[str, Tensor] = {}
    counts: Counter[tuple[int, ...]] = Counter()
    level, met = [get_gradient_edge(one).node for one in ends], set[Node]()
    while level:
        node = level.pop()
        is_leaf = type(node).__name__ == "AccumulateGrad"
        if node in met or not (is_leaf or node._sequence_nr() >= first):  # noqa: SLF001 - as above
            continue
        met.add(node)
        level += [one for one, _ in node.next_functions if one is not None]
        leaf = getattr(node, "variable", None) if is_leaf else None
        if isinstance(leaf, Tensor) and id(leaf) not in names:
            shape = tuple(leaf.shape)
            found[f"a tensor of shape {shape} that is no parameter ({counts[shape]})"] = leaf
            counts[shape] += 1
    return found


def gradient_difference(
    old: Gradients,
    new: Gradients,
    tolerance: Tolerance,
    *,
    may_overflow: bool = False,
    noise: Mapping[str, float] = _NONE,
) -> str:
    """Return in words which gradient differs, "" if none does. None and zeros are the same.

    `may_overflow`: an infinity may be another or NaN, as sums of too large numbers are in another order.
    `noise`: what is added to the tolerance, by name.
    """
    for name in dict.fromkeys((*old, *new)):
        one, other = old.get(name), new.get(name)
        if one is None and other is None:
            continue
        first = torch.zeros_like(other) if one is None and other is not None else one
        second = torch.zeros_like(one) if other is None and one is not None else other
        if may_overflow and first is not None and second is not None:
            first, second = _bounded(first, second)
        found = difference(first, second, replace(tolerance, floor={"": noise.get(name, 0.0)}))
        if found is not None:
            return f"the gradient of {name} {_told(found)}"
    return ""


def told_apart(
    old: Gradients | str,
    new: Gradients | str,
    tolerance: Tolerance,
    *,
    may_overflow: bool = False,
    noise: Mapping[str, float] = _NONE,
) -> str:
    """Return in words what tells two backward runs apart, "" if nothing does; a text names an error."""
    if isinstance(old, str) or isinstance(new, str):
        if old == new:
            return ""
        ends = [f"raises {one}" if isinstance(one, str) else "runs" for one in (old, new)]
        return f"with gradients the old code {ends[0]}, the new code {ends[1]}"
    return gradient_difference(old, new, tolerance, may_overflow=may_overflow, noise=noise)


def noise_of(one: Gradients, again: Gradients) -> Mapping[str, float]:
    """Return the largest difference of each gradient between two runs of the same; only those that differ."""
    apart = {
        name: float((first.double() - second.double()).abs().max())
        for name, first in one.items()
        if first is not None and first.numel()
        for second in [again.get(name)]
        if second is not None and second.shape == first.shape
    }
    return {name: found for name, found in apart.items() if 0 < found < math.inf}


def little(noise: Mapping[str, float], of: Gradients) -> Mapping[str, float]:
    """Return the noise that is little, next to the largest number of its gradient or of all gradients.

    Kernels that add up in no fixed order differ by no more from run to run, where what follows does not magnify it.
    """
    most = _MOST_OF_ALL * largest_of(of)
    return {
        name: apart
        for name, apart in noise.items()
        if apart <= max(_MOST_OF_ITS_OWN * _largest(of[name]), most)
    }


def largest_of(found: Gradients) -> float:
    """Return the largest finite magnitude in any gradient."""
    return max(map(_largest, found.values()), default=0.0)


def _largest(tensor: Tensor | None) -> float:
    """Return the largest finite magnitude in a tensor."""
    if tensor is None or not tensor.numel():
        return 0.0
    return float(tensor.abs().masked_fill(~tensor.isfinite(), 0).max())


def is_filled(old: Gradients, new: Gradients) -> bool:
    """Return whether some gradient that was not there is zeros now."""
    return any(one is not None and old.get(name) is None for name, one in new.items())


def _bounded(one: Tensor, other: Tensor) -> tuple[Tensor, Tensor]:
    """Return two tensors with zeros where both are not finite."""
    if one.shape != other.shape:
        return one, other
    passed = ~(one.isfinite() | other.isfinite())
    return one.masked_fill(passed, 0), other.masked_fill(passed, 0)


def _told(found: Difference) -> str:
    if found.largest is None:
        return f"is {found.got} and was {found.expected}"
    return f"differs by {found.largest:.3g} ({found.tolerance:.3g} allowed)"


def _weights(tensor: Tensor) -> Tensor:
    flat = torch.linspace(0.5, 1.5, tensor.numel(), device=tensor.device, dtype=torch.float32)
    return flat.to(tensor.dtype).reshape(tensor.shape)
