"""Whether the private parts of torch that the simulator rests on still behave as it needs."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import TYPE_CHECKING

import torch
from torch import nn

from capturelint.debug.backend import BackendError
from capturelint.debug.dispatched.refusal import SimulatedCaptureError
from capturelint.debug.simulated.capture import capturing
from capturelint.debug.simulated.tensor import DeviceTensor

if TYPE_CHECKING:
    from capturelint.debug.simulated.simulator import Simulator

_WORKS = "2.11 or 2.13"
_OF_FORKS = "fork-based multiprocessing"  # as torch's autograd says it


def check_torch(simulator: Simulator) -> None:
    """Try what the simulator is made of, on a few numbers, in a session of its own.

    Raises BackendError that names what fails, and the versions of torch that work.
    """
    with torch.random.fork_rng(devices=[]), torch.enable_grad():
        for check in _CHECKS:
            _try(check, simulator)


def _try(check: Callable[[Simulator], bool], simulator: Simulator) -> None:
    what = (check.__doc__ or "").partition(".")[0].lower()
    advice = f"use torch {_WORKS}, or a GPU with --backend cuda"
    reason = ""
    try:
        works = check(simulator)
    except Exception as error:  # noqa: BLE001 - whatever torch raises, the answer is the same
        works, reason = False, f" ({type(error).__name__}: {str(error).splitlines()[0]})"
        if _OF_FORKS in reason:
            advice = (
                "this process was forked from one in which a simulated GPU, such as that of a GraphRunner, "
                "had run: name the case as FILE.py:make, or judge it before that or in another process"
            )
    if not works:
        raise BackendError(
            f"the capture simulator cannot {what} with torch {torch.__version__}{reason}; {advice}"
        )


def _makes(_: Simulator) -> bool:
    """Make tensors on the device."""
    made = [
        torch.ones(2, device="cuda"),
        torch.ones(2).to("cuda"),
        torch.ones(2).cuda(),
        torch.tensor([1.0, 1.0], device="cuda"),
        torch.ones(2, device="cuda").new_zeros(2),
    ]
    return all(isinstance(one, DeviceTensor) and one.device.type == "cuda" for one in made)


def _computes(_: Simulator) -> bool:
    """Compute through views."""
    x = torch.zeros(2, 3, device="cuda")
    x[1].add_(2)
    x[:, [0, 1]] = 5.0
    y = torch.relu(x @ x.t())[torch.tensor([True, False]).cuda()]
    return not y.cpu().is_cuda and y.tolist() == [[50, 50]]


def _differentiates(_: Simulator) -> bool:
    """Run backward."""
    linear = nn.Linear(2, 1).cuda()
    x = torch.ones(1, 2, device="cuda", requires_grad=True)
    linear(x).sum().backward()
    gradient = linear.weight.grad
    return isinstance(gradient, DeviceTensor) and gradient.tolist() == [[1, 1]]


def _copies(_: Simulator) -> bool:
    """Copy modules."""
    linear = nn.Linear(2, 2).cuda()
    twin = copy.deepcopy(linear)
    return twin.weight is not linear.weight and torch.equal(twin.weight, linear.weight)


def _replays(simulator: Simulator) -> bool:
    """Replay a graph."""
    x, buffer = torch.ones(2, device="cuda"), torch.zeros(2, device="cuda")
    with capturing(simulator) as tape:
        buffer.add_(x)
        y = buffer * 2
    if buffer.tolist() != [0, 0]:
        return False
    x.fill_(3)
    tape.replay(simulator.random)
    tape.replay(simulator.random)
    return y.tolist() == [12, 12]


def _refuses(simulator: Simulator) -> bool:
    """Refuse what a capture refuses."""
    x = torch.ones(2, device="cuda")
    for forbidden in (x.sum().item, x.cpu, lambda: torch.tensor([1.0], device="cuda")):
        try:
            with capturing(simulator):
                forbidden()
        except SimulatedCaptureError:
            continue
        return False
    return True


_CHECKS = (_makes, _computes, _differentiates, _copies, _replays, _refuses)
