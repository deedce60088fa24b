"""Errors in backward reach the caller: they do not end the process."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest
import torch
from torch import nn

from capturelint.debug.dispatched.refusal import NOT_PERMITTED, SimulatedCaptureError

if TYPE_CHECKING:
    from capturelint.debug.simulated import SimulatedBackend
    from tests.unit.debug.conftest import InSession


def _fail(*_: Any) -> Any:
    raise ValueError("from a hook")


def _on_tensor(x: torch.Tensor) -> None:
    x.register_hook(_fail)  # type: ignore[no-untyped-call]


def _on_node(x: torch.Tensor) -> None:
    assert x.grad_fn is not None
    x.grad_fn.register_hook(_fail)


def _before_node(x: torch.Tensor) -> None:
    assert x.grad_fn is not None
    x.grad_fn.register_prehook(_fail)


@pytest.mark.parametrize("register", [_on_tensor, _on_node, _before_node])
def test_an_error_in_a_hook_is_raised_by_backward(
    in_session: InSession, register: Callable[[torch.Tensor], None]
) -> None:
    def body(_: SimulatedBackend) -> None:
        for _attempt in range(20):  # often enough for the interpreter to specialise
            x = torch.ones(3, device="cuda", requires_grad=True)
            y = x.sin()
            register(y)
            with pytest.raises(ValueError, match="from a hook"):
                y.sum().backward()  # type: ignore[no-untyped-call]
        x.cos().sum().backward()  # type: ignore[no-untyped-call]
        assert x.grad is not None

    in_session(body)


class _ReadsInBackward(torch.autograd.Function):
    @staticmethod
    def forward(_: Any, x: torch.Tensor) -> torch.Tensor:
        return x * 2

    @staticmethod
    def backward(_: Any, gradient: torch.Tensor) -> torch.Tensor:
        return gradient * gradient.sum().item()


def test_a_refusal_in_backward_is_raised_by_backward(in_session: InSession) -> None:
    def body(backend: SimulatedBackend) -> None:
        def step() -> None:
            x = torch.ones(3, device="cuda", requires_grad=True)
            _ReadsInBackward.apply(x).sum().backward()  # type: ignore[no-untyped-call]

        with pytest.raises(SimulatedCaptureError) as raised:
            backend.capture(step)
        assert str(raised.value) == NOT_PERMITTED

    in_session(body)


def test_sparse_gradients_are_captured_and_replayed(in_session: InSession) -> None:
    def body(backend: SimulatedBackend) -> None:
        table = nn.Embedding(4, 2, sparse=True).cuda()
        rows = torch.tensor([1, 1, 3]).cuda()

        def gradient() -> torch.Tensor:
            (found,) = torch.autograd.grad(table(rows).sum(), table.weight)
            return found.to_dense()

        gradient()
        graph = backend.capture(gradient)
        rows.fill_(2)
        graph.replay()
        assert isinstance(graph.output, torch.Tensor)
        assert graph.output.tolist() == [[0, 0], [0, 0], [3, 3], [0, 0]]

    in_session(body)
