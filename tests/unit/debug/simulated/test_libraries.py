"""Handles of CUDA's libraries: a capture refuses the operation that first needs one."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest
import torch
from torch import nn
from torch.nn import functional
from torch.nn.attention import SDPBackend, sdpa_kernel

from capturelint.debug.dispatched.refusal import SimulatedCaptureError
from capturelint.operations.messages import NO_BLAS, NO_DNN, NO_FFT, NO_SOLVER

if TYPE_CHECKING:
    from capturelint.debug.simulated import SimulatedBackend
    from tests.unit.debug.conftest import InSession


def refusal(backend: SimulatedBackend, call: Callable[[], object]) -> str:
    try:
        backend.capture(call)
    except SimulatedCaptureError as error:
        return str(error)
    return ""


def names() -> dict[str, Any]:
    def on_device(*sizes: int) -> torch.Tensor:
        return torch.ones(*sizes, device="cuda")

    return {"torch": torch, "F": functional, "W": on_device}


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("W(2, 3) @ W(3, 4)", NO_BLAS),
        ("F.linear(W(2, 3), W(4, 3), W(4))", NO_BLAS),
        ("torch.einsum('ij,ij->i', W(2, 3), W(2, 3))", NO_BLAS),
        ("torch.bmm(W(2, 3, 3), W(2, 3, 3))", NO_BLAS),
        ("torch.cdist(W(30, 3), W(30, 3))", NO_BLAS),
        ("F.bilinear(W(2, 3), W(2, 3), W(4, 3, 3))", NO_BLAS),
        ("torch.linalg.inv_ex(W(2, 3, 3) + torch.eye(3, device='cuda'))", NO_BLAS),
        ("torch.linalg.inv_ex(W(3, 3) + torch.eye(3, device='cuda'))", NO_SOLVER),
        ("torch.linalg.qr(W(3, 3))", NO_SOLVER),
        ("torch.linalg.cholesky_ex(torch.eye(3, device='cuda'))", NO_SOLVER),
        ("F.conv2d(W(1, 1, 8, 8), W(1, 1, 3, 3))", NO_DNN),
        ("F.batch_norm(W(2, 3, 4), None, None, W(3), W(3), training=True)", NO_DNN),
        ("torch.fft.rfft(W(8))", NO_FFT),
        ("F.scaled_dot_product_attention(*[W(1, 2, 4, 8).half()] * 3)", NO_DNN),
        ("F.scaled_dot_product_attention(*[W(1, 2, 4, 7)] * 3)", NO_BLAS),
        ("F.scaled_dot_product_attention(*[W(1, 2, 4, 8)] * 3)", ""),
        ("torch.cdist(W(8, 3), W(8, 3))", ""),
        ("F.batch_norm(W(2, 3), None, None, W(3), W(3), training=True)", ""),
        ("F.layer_norm(W(2, 3), (3,)).softmax(-1).sum()", ""),
        ("torch.outer(W(3), W(3))", ""),
        ("torch.bmm(W(0, 3, 3), W(0, 3, 3))", ""),
    ],
)
def test_the_first_use_in_a_capture_is_refused(
    in_session: InSession, code: str, message: str
) -> None:
    def body(backend: SimulatedBackend) -> None:
        given = names()

        assert refusal(backend, lambda: eval(code, given)) == message

    in_session(body)


def test_after_a_use_outside_it_is_captured(in_session: InSession) -> None:
    def body(backend: SimulatedBackend) -> None:
        x = torch.ones(3, 3, device="cuda")
        x.matmul(x)

        assert refusal(backend, lambda: x @ x) == ""
        assert refusal(backend, lambda: torch.fft.fft(x)) == NO_FFT

    in_session(body)


def test_as_if_capturing_the_line_is_listed_and_the_handle_made(in_session: InSession) -> None:
    def body(backend: SimulatedBackend) -> None:
        x = torch.ones(3, 3, device="cuda")
        with backend.as_if_capturing(lambda: "") as hazards:
            x.matmul(x).matmul(x)

        assert [hazard.message for hazard in hazards] == [NO_BLAS]
        assert refusal(backend, lambda: x @ x) == ""

    in_session(body)


def test_recurrent_layers_open_cudnn_when_they_are_moved(in_session: InSession) -> None:
    def body(backend: SimulatedBackend) -> None:
        layer, x = nn.LSTM(4, 4).cuda(), torch.ones(2, 1, 4, device="cuda")

        assert refusal(backend, lambda: layer(x)) == ""
        assert refusal(backend, lambda: x @ x) == NO_BLAS

    in_session(body)


def test_attention_pinned_to_torchs_kernels_needs_no_library(in_session: InSession) -> None:
    def body(backend: SimulatedBackend) -> None:
        q = torch.ones(1, 2, 4, 8, device="cuda", dtype=torch.bfloat16)

        def attention(kernel: SDPBackend) -> torch.Tensor:
            with sdpa_kernel(kernel):
                return functional.scaled_dot_product_attention(q, q, q)

        assert refusal(backend, lambda: attention(SDPBackend.FLASH_ATTENTION)) == ""
        assert refusal(backend, lambda: attention(SDPBackend.EFFICIENT_ATTENTION)) == ""
        assert refusal(backend, lambda: attention(SDPBackend.MATH)) == NO_BLAS

    in_session(body)


def test_attention_computes_what_it_does_on_the_host(in_session: InSession) -> None:
    def body(_backend: SimulatedBackend) -> None:
        q = torch.randn(1, 2, 4, 8)
        x = q.cuda()
        expected = functional.scaled_dot_product_attention(q, q, q, is_causal=True)
        with torch.inference_mode():
            inferred = functional.scaled_dot_product_attention(x, x, x, is_causal=True)
        got = functional.scaled_dot_product_attention(x, x, x, is_causal=True)

        torch.testing.assert_close(got.cpu(), expected)
        torch.testing.assert_close(inferred.cpu(), expected)

    in_session(body)


@pytest.mark.parametrize("kind", [nn.LSTM, nn.GRU, nn.RNN, nn.LSTMCell, nn.GRUCell])
def test_recurrent_layers_are_trained_as_on_the_host(in_session: InSession, kind: Any) -> None:
    def body(_backend: SimulatedBackend) -> None:
        torch.manual_seed(0)
        layer = kind(4, 5)
        x = torch.randn(2, 3, 4) if isinstance(layer, nn.RNNBase) else torch.randn(3, 4)

        def gradient(x: torch.Tensor) -> torch.Tensor:
            result = layer(x)
            first = result[0] if isinstance(result, tuple) else result
            weight = next(iter(layer.parameters()))
            (found,) = torch.autograd.grad(first.pow(2).sum(), weight)
            return found

        expected = gradient(x)
        layer.cuda()

        torch.testing.assert_close(gradient(x.cuda()).cpu(), expected)

    in_session(body)
