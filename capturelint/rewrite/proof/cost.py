"""What new code costs that computes more than the old: FLOPs and numbers written, and on a GPU time."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Protocol

import torch
from torch import Tensor
from torch._ops import OpOverload
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves
from torch.utils.flop_counter import flop_registry

from capturelint.debug.attempts.part import Call
from capturelint.rewrite.proof.trial import Bench

# What each pattern computes more, by its module.
_COMPUTES = {
    "branch": "both arms",
    "choice": "both arms",
    "predicated": "both arms",
    "masked": "all rows",
    "reduced": "all rows",
    "bounded": "all turns",
    "gathered": "all rows",
    "grouped_product": "all rows",
}
_REPEATS = 20  # steps of each way that are timed
_WARMUP = 3
_UNITS = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))
NO_TIME = "no time is given, as the host's would say nothing of a GPU's"

Swap = Callable[[], AbstractContextManager[object]]
# Runs a call, and returns ms that it took on the device.
Timer = Callable[[Callable[[], object]], float]


@dataclass(frozen=True, slots=True)
class Work:
    """What one step does on average.

    `flops`: of matrix products, convolutions and attention. `written`: numbers that operations return.
    """

    flops: float
    written: float


class Costly(Protocol):
    """A function that was rewritten."""

    @property
    def qualname(self) -> str:
        """Its name in its file."""
        ...

    @property
    def computes(self) -> Mapping[str, None]:
        """What it does more."""
        ...

    def swapped(self) -> AbstractContextManager[None]:
        """Return a context in which it runs the new code."""
        ...


def costs(those: Sequence[Costly], benches: Sequence[Bench], new: Swap) -> Iterator[str]:
    """Yield what each of the functions computes more, and what all take on a GPU, in words.

    `new`: a context with all new code.
    """
    before = work_of(benches)
    steps = max(len(bench.part.steps) for bench in benches)
    for one in those:
        with one.swapped():
            after = work_of(benches)
        if before is not None and after is not None:
            what = " and ".join(one.computes)
            yield f"{one.qualname}: {in_words(what, before, after, steps=steps)}"
    if benches[0].backend.name == "cuda":
        yield time_in_words(*times_of(benches, new, cuda_timer))
    else:
        yield NO_TIME


def computed(pattern: object) -> str:
    """Return what code that a pattern wrote computes more than the old: `both arms`, or ""."""
    return _COMPUTES.get(str(getattr(pattern, "__name__", "")).rpartition(".")[2], "")


def work_of(benches: Sequence[Bench]) -> Work | None:
    """Return what the callables do in a step, with the code that they have now; None if one raises.

    On average over all recorded steps; forwards alone, unless they run their own backward.
    """
    counter = _Counter()
    steps = 0
    try:
        for bench in benches:
            steps = max(steps, len(bench.part.steps))
            for run in _steps(bench):
                with counter:
                    run()
    except Exception:  # noqa: BLE001 - user code may raise anything; then there is no figure
        return None
    return Work(counter.flops / steps, counter.written / steps) if steps else None


def times_of(benches: Sequence[Bench], new: Swap, timer: Timer) -> tuple[float, float]:
    """Return ms of an eager step by the old code and, inside `new`, by the new one: medians.

    Old and new run in turn on all recorded steps, from the same state.
    """
    spent: dict[bool, list[float]] = {False: [], True: []}
    most = max(len(bench.part.steps) for bench in benches)
    for number in range(_WARMUP + _REPEATS):
        for is_new in (False, True) if number % 2 else (True, False):
            total = 0.0
            for bench in benches:
                for run in _steps(bench, only=number % most):
                    if is_new:
                        with new():
                            total += timer(run)
                    else:
                        total += timer(run)
            if number >= _WARMUP:
                spent[is_new].append(total)
    return statistics.median(spent[False]), statistics.median(spent[True])


def cuda_timer(call: Callable[[], object]) -> float:
    """Return ms that a call takes on the GPU, by events on the current stream."""
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))  # type: ignore[no-untyped-call]
    torch.cuda.synchronize()
    start.record()
    call()
    end.record()
    end.synchronize()
    return float(start.elapsed_time(end))


def in_words(what: str, old: Work, new: Work, *, steps: int) -> str:
    """Return how much more the new code does: FLOPs, where there are any, and numbers written."""
    told = [
        f"{new.written:,.0f} numbers written, not {old.written:,.0f}{_more(old.written, new.written)}"
    ]
    if new.flops:
        now, was = _flops(new.flops), _flops(old.flops)
        told.insert(0, f"{now} of matrix products, not {was}{_more(old.flops, new.flops)}")
    recorded = "the recorded step" if steps == 1 else f"{steps} recorded steps"
    return f"{what} are computed: in a step of the case {'; '.join(told)}; average of {recorded}"


def time_in_words(old: float, new: float) -> str:
    """Return what an eager step took, in ms, and takes now."""
    return (
        f"an eager step of the case takes {new:.3g} ms on the GPU, where it took {old:.3g}{_more(old, new)}:"
        f" medians of {_REPEATS} each, run in turn; a graph saves launches besides"
    )


def _more(old: float, new: float) -> str:
    return f" ({100 * (new - old) / old:+.0f} %)" if old else ""


def _flops(value: float) -> str:
    size, unit = next(((size, unit) for size, unit in _UNITS if value >= size), (1, ""))
    return f"{value / size:.3g} {unit}FLOP"


def _steps(bench: Bench, only: int | None = None) -> Iterator[Callable[[], object]]:
    """Yield what runs each recorded step of a part once, on copies, from the state at the start."""
    for number, calls in enumerate(bench.part.steps):
        if only is not None and number != only:
            continue
        bench.tell()
        with bench.modules.from_start(), bench.instance.state.watching():
            if bench.instance.prepare is not None:
                bench.instance.prepare(number)
            bench.backend.seed(bench.settings.seed + number)
            yield _running(bench, [call.copied() for call in calls])


def _running(bench: Bench, calls: Sequence[Call]) -> Callable[[], object]:
    return lambda: [call.of(bench.part.run) for call in calls]


class _Counter(TorchDispatchMode):
    """Counts the FLOPs that torch knows of operations, and the numbers that they return."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call] # of its metaclass hook
        self.flops = self.written = 0.0

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        kwargs = kwargs or {}
        if not isinstance(func, OpOverload) or func.namespace == "prim":
            return func(*args, **kwargs)
        formula = flop_registry.get(func.overloadpacket)
        if formula is None:
            # What is made of other operations comes whole in inference mode.
            with self:
                result = func.decompose(*args, **kwargs)
            if result is not NotImplemented:
                return result
        result = func(*args, **kwargs)
        if not func.is_view:
            self.written += sum(
                one.numel() for one in tree_leaves(result) if isinstance(one, Tensor)
            )
        if formula is not None:
            self.flops += formula(*args, **kwargs, out_val=result)
        return result
