"""Old and new text of a program held against each other on the host alone, by none of the prover's means.

A program is a module `M` of `x`, `y` (floating) and `m` (a mask) with a function `inputs(seed)`. Nothing
of capturelint is used: neither its simulator, its changed inputs nor its comparison.
"""

from __future__ import annotations

import random
import sys
import types
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor

# How far apart two results may be: sums in another order are. What is float64 in a program of float32
# holds sums of float32: `(x + s).double()`.
_CLOSE = {torch.float64: (1e-7, 1e-9), torch.bfloat16: (3e-2, 3e-2)}
_FLOAT = (1e-3, 1e-5)
_HALVINGS = 40
_MOST_EDGES = 4
_ROWS, _WIDTH = 3, 4  # what the prover sees

_LAYOUT = "layout"

Given = list[Tensor]
Came = list[Any]


def difference(old_text: str, new_text: str, *, trains: bool, draws: int = 12) -> str:
    """Return what tells two programs apart and on which inputs, "" if nothing does."""
    before, after = _Program(old_text, trains), _Program(new_text, trains)
    for name, given in _inputs(before, draws):
        kind = name.partition(" ")[0]
        old, new = before.ran(given), after.ran(given)
        # How results lie in memory is proven for inputs that lie as those of the case.
        is_exact = given[0].dtype == torch.float64
        pair = (old, new) if given[0].is_contiguous() else map(_numbers, (old, new))
        why = _unlike(*pair, is_exact=is_exact)
        if not why and "finite" in name:
            why = _unlike(before.slopes(given), after.slopes(given), is_exact=is_exact)
        if why:
            return f"{kind}: {why} with {name}"
    steps = [_drawn(random.Random(seed), _ROWS) for seed in range(900, 908)]
    why = _unlike(before.in_a_row(steps), after.in_a_row(steps), is_exact=False)
    return f"row: {why}" if why else ""


class _Program:
    """One text of a program, which makes the same module each time."""

    def __init__(self, text: str, trains: bool) -> None:
        module = types.ModuleType("program")
        exec(compile(text, "program", "exec"), module.__dict__)
        self._lines: list[int] = []
        self._models = {
            dtype: module.M().to(dtype).train(trains) for dtype in (torch.float32, torch.float64)
        }

    def made(self, dtype: torch.dtype) -> Any:
        """Return the module as it is at first."""
        model = self._models[dtype]
        model.seen = torch.zeros_like(model.seen)
        return model

    def ran(self, given: Given) -> Came:
        """Return what one call of a fresh module leaves."""
        return self.in_a_row([given])

    def in_a_row(self, steps: Sequence[Given]) -> Came:
        """Return what calls of one module leave, one after the other."""
        model = self.made(steps[0][0].dtype)
        return [one for given in steps for one in _called(model, given)]

    def slopes(self, given: Given) -> Came:
        """Return the gradients of what is finite, nothing else."""
        model = self.made(given[0].dtype)
        own = [_leaf(one) for one in given]
        wanted = [one for one in (*own, *model.parameters()) if one.requires_grad]
        torch.manual_seed(7)
        try:
            out = model(*(one * 1 if one.requires_grad else one for one in own))
            total = sum((one.double() * (0.7 + 0.1 * n)).sum() for n, one in enumerate(out))
            if not bool(torch.isfinite(torch.as_tensor(total))):
                return []
            return list(
                torch.autograd.grad(total, wanted, materialize_grads=True, allow_unused=True)
            )
        except Exception as error:  # noqa: BLE001 - the other must raise the same
            return [type(error).__name__]

    def way(self, given: Given) -> tuple[int, ...]:
        """Return the lines that a call goes through."""
        self._lines = []
        model = self.made(given[0].dtype)
        sys.settrace(self._called)
        try:
            _called(model, given)
        finally:
            sys.settrace(None)
        return tuple(self._lines)

    def _called(self, frame: types.FrameType, event: str, _: object) -> Any:
        if frame.f_code.co_filename != "program":
            return None
        if event == "line":
            self._lines.append(frame.f_lineno)
        return self._called


def _called(model: Any, given: Given) -> Came:
    """Return results, with their memory layout, what was written, and the random numbers after."""
    own = [_as_it_lies(one) for one in given]
    torch.manual_seed(7)
    try:
        with torch.no_grad():
            out = model(*own)
    except Exception as error:  # noqa: BLE001 - the other must raise the same
        return [type(error).__name__, model.seen.clone()]
    layout = f"{_LAYOUT} {[(one.stride(), one.requires_grad) for one in out]}"
    left = [*own, model.seen.clone(), torch.get_rng_state()]
    return [*(one.clone() for one in out), layout, *left]


def _numbers(came: Came) -> Came:
    return [one for one in came if not (isinstance(one, str) and one.startswith(_LAYOUT))]


def _as_it_lies(one: Tensor) -> Tensor:
    new = torch.empty_strided(one.shape, one.stride(), dtype=one.dtype)
    return new.copy_(one)


def _leaf(one: Tensor) -> Tensor:
    return _as_it_lies(one).requires_grad_() if one.is_floating_point() else one


def _inputs(program: _Program, draws: int) -> Iterator[tuple[str, Given]]:
    """Yield inputs with a name, whose first word is the kind."""
    for seed in range(draws):
        rng = random.Random(seed)
        given = _drawn(rng, _ROWS)
        yield f"plain numbers {seed}, finite", given
        order = torch.randperm(_ROWS, generator=torch.Generator().manual_seed(seed))
        yield f"order {seed}, finite", [one[order] for one in given]
        yield f"layout {seed}, finite", [one.t().contiguous().t() for one in given]
        yield f"odd numbers {seed}", [_odd(one, rng) for one in given]
    for seed in range(draws // 3):
        yield f"double {seed}, finite", [_double(one) for one in _drawn(random.Random(seed), _ROWS)]
        for rows in (1, 5):
            yield f"size of {rows} rows {seed}, finite", _drawn(random.Random(seed), rows)
    for number, given in enumerate(_edges(program, draws)):
        yield f"edge {number}", given


def _drawn(rng: random.Random, rows: int) -> Given:
    generator = torch.Generator().manual_seed(rng.randrange(1 << 30))
    found = []
    for _ in range(2):
        one = torch.randn(rows, _WIDTH, generator=generator)
        found.append(one * rng.choice((1.0, 0.05, 6.0)) + rng.choice((0.0, 0.7, -0.7, 3.0)))
    mask = torch.rand(rows, _WIDTH, generator=generator) > rng.choice((0.5, 0.2, 0.9, -1.0, 2.0))
    return [*found, mask]


def _odd(one: Tensor, rng: random.Random) -> Tensor:
    """Return numbers of the edges of their type: denormal, very large, infinite, no number, zeros."""
    if not one.is_floating_point():
        return one
    new = one.clone()
    kind = rng.randrange(5)
    if kind == 0:
        return new * 1e-40
    if kind == 1:
        return new * 1e18
    value = (float("nan"), float("inf"), -0.0)[kind - 2]
    new[rng.randrange(new.shape[0])] = value
    return new


def _double(one: Tensor) -> Tensor:
    return one.double() if one.is_floating_point() else one


def _edges(program: _Program, draws: int) -> Iterator[Given]:
    """Yield the pairs of nearest inputs between which the old program takes another way."""
    met: dict[tuple[int, ...], Given] = {}
    for seed in range(2 * draws):
        given = _drawn(random.Random(100 + seed), _ROWS)
        met.setdefault(program.way(given), given)
    ways = list(met.values())[:_MOST_EDGES]
    for first, second in pairwise(ways):
        yield from _nearest(program.way, first, second)


def _nearest(
    way: Callable[[Given], tuple[int, ...]], first: Given, second: Given
) -> tuple[Given, Given]:
    """Return inputs on both sides of where the way changes between two inputs."""
    mask = first[2]

    def between(part: float) -> Given:
        pairs = zip(first[:2], second[:2], strict=True)
        return [*(one + (other - one) * part for one, other in pairs), mask]

    low, high = 0.0, 1.0
    start = way(between(low))
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if way(between(middle)) == start:
            low = middle
        else:
            high = middle
    return between(low), between(high)


def _unlike(old: Came, new: Came, *, is_exact: bool) -> str:
    """Return what tells two runs apart. `is_exact`: nothing in them was of less than float64."""
    if len(old) != len(new):
        return f"{old[:1]} and {new[:1]}"
    for one, other in zip(old, new, strict=True):
        if isinstance(one, str) or isinstance(other, str):
            if type(one) is not type(other) or one != other:
                return f"{one} and {other}"
        elif (one.dtype, one.shape) != (other.dtype, other.shape):
            return f"{one.dtype} {tuple(one.shape)} and {other.dtype} {tuple(other.shape)}"
        else:
            close = _CLOSE.get(one.dtype, _FLOAT)
            rtol, atol = close if is_exact else max(close, _FLOAT)
            if not torch.allclose(one, other, rtol=rtol, atol=atol, equal_nan=True):
                return f"{one} and {other}"
    return ""
