"""Fresh inputs from one example: floating values drawn anew for each seed, all else kept."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches

import torch

from capturelint.debug.cases.arguments import tensors
from capturelint.debug.cases.generators import generator_of
from capturelint.debug.cases.mistakes import CaseError


class Redraw:
    """What is drawn anew in one example, and what is held. `notes`: what is held, and why.

    `example`: arguments by name. `asked`: names, or parts of them, to draw although held.
    Raises `CaseError` if the example has no input of an asked name.
    """

    def __init__(self, example: Mapping[str, object], asked: tuple[str, ...]) -> None:
        self._spreads: dict[str, _Spread] = {}
        held: dict[str, list[str]] = {}
        for name, tensor in tensors(example):
            is_asked = any(_is_part(name, one) for one in asked)
            reason = "" if is_asked else _why_held(name, tensor)
            if reason:
                held.setdefault(reason, []).append(name)
            elif tensor.numel() and _can_be_filled(tensor):
                self._spreads[name] = _spread(tensor)
        _refuse_unknown(asked, [name for name, _ in tensors(example)])
        self.notes = tuple(
            f"held: {', '.join(sorted(names))} ({reason} are not redrawn; "
            "--redraw NAME draws them too)"
            for reason, names in held.items()
        )

    def fill(self, inputs: Mapping[str, object], seed: int) -> None:
        """Overwrite the drawn tensors of `inputs`, a copy of the example, with those of `seed`."""
        for name, tensor in tensors(inputs):
            if name in self._spreads:
                _fill(tensor, self._spreads[name], generator_of(seed, name))


@dataclass(frozen=True, slots=True)
class _Spread:
    """How the values of an example lie. Those of integers and truth values are drawn by range."""

    mean: complex
    std: float
    low: float
    high: float


def _is_part(name: str, asked: str) -> bool:
    """Return whether `asked` is `name`, holds it, or is its end: `cache` holds `cache.keys`."""
    return (
        name == asked or name.startswith((f"{asked}.", f"{asked}[")) or name.endswith(f".{asked}")
    )


def _why_held(name: str, tensor: torch.Tensor) -> str:
    if tensor.dtype == torch.bool:
        return "truth values"
    if not (tensor.is_floating_point() or tensor.is_complex()):
        return "integers"
    return "masks" if "mask" in name.lower() or _looks_like_mask(tensor) else ""


def _looks_like_mask(tensor: torch.Tensor) -> bool:
    """Return whether floating values are there to be added to scores, or to choose."""
    values = _on_host(tensor)
    if values.is_complex() or not values.numel():
        return False
    if not bool(values.isfinite().all()) or bool((values <= torch.finfo(tensor.dtype).min).any()):
        return True
    chosen, left_out = values == 1, values == 0
    return bool((chosen | left_out).all() and chosen.any() and left_out.any())


def _spread(tensor: torch.Tensor) -> _Spread:
    values = _on_host(tensor)
    if not (values.is_complex() or values.is_floating_point()):
        return _Spread(0.0, 0.0, int(values.min()), int(values.max()))
    values = values[values.isfinite()]
    if not values.numel():
        return _Spread(0.0, 1.0, 0.0, 0.0)
    mean = complex(values.mean().item())
    # An example of equal values has no spread of its own, and equal inputs would show nothing.
    std = float(values.std(correction=0)) or abs(mean) or 1.0
    if values.is_complex():
        return _Spread(mean, std, 0.0, 0.0)
    return _Spread(mean, std, float(values.min()), float(values.max()))


def _fill(tensor: torch.Tensor, spread: _Spread, generator: torch.Generator) -> None:
    target = _without_repeats(tensor)
    if tensor.is_complex():
        drawn = torch.randn(target.shape, generator=generator, dtype=torch.complex64)
        drawn = drawn * spread.std + spread.mean
    elif tensor.is_floating_point():
        drawn = torch.randn(target.shape, generator=generator) * spread.std + spread.mean.real
        # What had no negative values may be a size, a share or an image.
        drawn = drawn.abs() if 0 <= spread.low < spread.high else drawn
        bound = torch.finfo(tensor.dtype)
        drawn = drawn.clamp(bound.min, bound.max)
    else:
        low, high = int(spread.low), int(spread.high) + 1
        drawn = torch.randint(low, high, target.shape, generator=generator)
    with torch.no_grad():
        target.copy_(drawn.to(tensor.dtype))


def _without_repeats(tensor: torch.Tensor) -> torch.Tensor:
    """Return a view that holds each value of an expanded tensor once, so that it can be written."""
    for dim, stride in enumerate(tensor.stride()):
        if stride == 0 and tensor.shape[dim] > 1:
            tensor = tensor.narrow(dim, 0, 1)
    return tensor


def _can_be_filled(tensor: torch.Tensor) -> bool:
    """Return whether no two places of `tensor` share memory, other than by expansion."""
    if isinstance(tensor, torch.nn.Parameter) or tensor.layout != torch.strided:
        return False
    end = 0  # past the last element of the dimensions seen so far
    dims = sorted(zip(tensor.stride(), tensor.shape, strict=True))
    for stride, size in dims:
        if size > 1 and stride > 0:
            if stride <= end:
                return False
            end += stride * (size - 1)
    return True


def _on_host(tensor: torch.Tensor) -> torch.Tensor:
    values = tensor.detach().cpu()
    wide = (torch.float64, torch.complex64, torch.complex128)
    return values.float() if values.is_floating_point() and values.dtype not in wide else values


def _refuse_unknown(asked: tuple[str, ...], known: list[str]) -> None:
    for one in asked:
        if not any(_is_part(name, one) for name in known):
            near = get_close_matches(one, known, n=1)
            hint = f"did you mean {near[0]}?" if near else f"it has {', '.join(sorted(known))}"
            raise CaseError(f"--redraw {one}: the example has no such input; {hint}")
