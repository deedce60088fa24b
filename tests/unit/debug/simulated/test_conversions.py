"""Tensors and modules that change sides, lazy modules, loading, and tensors made of others."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

import pytest
import torch
from torch import nn

from capturelint.debug.dispatched.refusal import UNPINNED, SimulatedCaptureError

if TYPE_CHECKING:
    from capturelint.debug.simulated import SimulatedBackend
    from tests.unit.debug.conftest import InSession


@pytest.mark.parametrize(
    "code",
    [
        "h.cuda()",
        "h.cuda(0)",
        "h.to('cuda')",
        "h.to(device='cuda')",
        "h.to(torch.device('cuda', 0), torch.float32)",
        "h.to('cuda', non_blocking=True)",
        "h.to(x)",
        "h.to(other=x)",
        "h.type_as(x)",
        "h.type(torch.cuda.FloatTensor)",
        "h.type('torch.cuda.FloatTensor')",
        "torch.as_tensor(h, device='cuda')",
        "torch.tensor(h.tolist(), device='cuda')",
        "torch.asarray(h.tolist(), device='cuda')",
        "x.new_tensor(h)",
        "torch.as_tensor(h.numpy(), device='cuda')",
        "torch.empty_like(h, device='cuda').copy_(h)",
        "nn.Parameter(h).cuda().detach()",
    ],
)
def test_host_tensors_are_moved(in_session: InSession, code: str) -> None:
    def body(_backend: SimulatedBackend) -> None:
        h, x = torch.arange(3.0), torch.ones(3, device="cuda")
        moved: Any = eval(code, {"h": h, "x": x, "torch": torch, "nn": nn})

        assert moved.is_cuda
        assert moved.tolist() == [0.0, 1.0, 2.0]

    in_session(body)


def test_moving_keeps_gradients_and_dtypes(in_session: InSession) -> None:
    def body(_backend: SimulatedBackend) -> None:
        h = torch.ones(3, requires_grad=True)
        h.to("cuda", torch.float64).sum().backward()  # type: ignore[no-untyped-call]  # of torch

        assert h.grad is not None
        assert h.grad.tolist() == [1.0, 1.0, 1.0]
        assert torch.ones(2).to("cuda", torch.float16).dtype == torch.float16
        assert torch.ones(2).type(torch.float64).device.type == "cpu"
        assert torch.ones(2).type() == "torch.FloatTensor"

    in_session(body)


def test_modules_keep_their_ties_and_classes(in_session: InSession) -> None:
    def body(_backend: SimulatedBackend) -> None:
        first, second = nn.Linear(2, 2), nn.Linear(2, 2)
        second.weight = first.weight
        both = nn.ModuleList([first, second, nn.BatchNorm1d(2)])
        weight = first.weight
        both.to("cuda", torch.float16)

        assert first.weight is second.weight is weight
        assert all(isinstance(parameter, nn.Parameter) for parameter in both.parameters())
        assert {t.dtype for t in both.state_dict().values()} == {torch.float16, torch.int64}
        assert all(tensor.is_cuda for tensor in both.state_dict().values())
        assert not next(both.cpu().parameters()).is_cuda

    in_session(body)


def test_parameters_that_a_graph_holds_are_exchanged(in_session: InSession) -> None:
    def body(_backend: SimulatedBackend) -> None:
        layer = nn.Linear(2, 2)
        twin = nn.Linear(2, 2)
        twin.weight = layer.weight
        kept = layer.weight.expand_as(layer.weight).grad_fn
        both = nn.ModuleList([layer, twin]).cuda()

        assert kept is not None
        assert all(parameter.is_cuda for parameter in both.parameters())
        assert layer.weight is twin.weight

    in_session(body)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_lazy_modules_get_their_weights_on_the_device(
    in_session: InSession, dtype: torch.dtype
) -> None:
    def body(_backend: SimulatedBackend) -> None:
        layer: Any = nn.LazyLinear(3, device="cuda", dtype=dtype)
        result = layer(torch.ones(2, 4, device="cuda", dtype=dtype))

        assert type(layer) is nn.Linear
        assert isinstance(layer.weight, nn.Parameter)
        assert (layer.weight.is_cuda, layer.weight.dtype) == (True, dtype)
        assert result.shape == (2, 3)
        assert nn.LazyLinear(3)(torch.ones(2, 4)).device.type == "cpu"

    in_session(body)


def test_lazy_modules_that_are_moved_later_work_too(in_session: InSession) -> None:
    def body(_backend: SimulatedBackend) -> None:
        net = nn.Sequential(nn.LazyLinear(3), nn.LazyBatchNorm1d()).cuda()
        net(torch.ones(2, 4, device="cuda"))

        assert all(tensor.is_cuda for tensor in net.state_dict().values())

    in_session(body)


def test_saved_weights_are_loaded_onto_the_device(in_session: InSession) -> None:
    def body(_backend: SimulatedBackend) -> None:
        file = io.BytesIO()
        torch.save(nn.Linear(2, 2).state_dict(), file)
        file.seek(0)
        loaded = torch.load(file, map_location="cuda")
        layer = nn.Linear(2, 2).cuda()
        layer.load_state_dict(loaded)

        assert all(tensor.is_cuda for tensor in loaded.values())
        assert torch.equal(layer.weight, loaded["weight"])

    in_session(body)


@pytest.mark.parametrize(
    "code",
    [
        "torch.tensor([t, t])",
        "torch.tensor([[t, 1.0]], device='cuda')",
        "torch.as_tensor([t])",
        "x.new_tensor([t])",
    ],
)
def test_lists_of_device_tensors_are_read_one_by_one(in_session: InSession, code: str) -> None:
    def body(backend: SimulatedBackend) -> None:
        t, x = torch.tensor(2.0).cuda(), torch.ones(3, device="cuda")
        names = {"torch": torch, "t": t, "x": x}

        assert eval(code, names).flatten()[0].item() == 2.0
        with pytest.raises(SimulatedCaptureError, match="not permitted"):
            backend.capture(lambda: eval(code, names))

    in_session(body)


def test_made_tensors_keep_what_was_asked_for(in_session: InSession) -> None:
    def body(_backend: SimulatedBackend) -> None:
        h = torch.ones(2)
        made = torch.tensor(h.tolist(), dtype=torch.float64, device="cuda", requires_grad=True)

        assert (made.dtype, made.requires_grad) == (torch.float64, True)
        assert torch.as_tensor(h) is h
        assert torch.as_tensor(made, device="cuda") is made
        assert torch.asarray(h, device="cuda").is_cuda
        with torch.device("cuda"):
            assert torch.tensor([1.0]).is_cuda
            assert torch.as_tensor(h.numpy()).is_cuda

    in_session(body)


def test_assigning_a_buffer_moves_it_at_the_line(in_session: InSession) -> None:
    def body(backend: SimulatedBackend) -> None:
        table = torch.ones(3)
        with pytest.raises(SimulatedCaptureError) as refused:
            backend.capture(lambda: table.to("cuda"))

        assert str(refused.value) == UNPINNED
        assert refused.value.refusal.code == "CL202"
        assert refused.value.places[0].path == __file__

    in_session(body)


def test_lengths_of_packed_sequences_must_be_on_the_host(in_session: InSession) -> None:
    def body(_backend: SimulatedBackend) -> None:
        pack = nn.utils.rnn.pack_padded_sequence
        x, lengths = torch.ones(2, 3, 4, device="cuda"), torch.tensor([3, 2])

        assert pack(x, lengths, batch_first=True).data.shape == (5, 4)
        with pytest.raises(
            RuntimeError, match="should be a 1D CPU int64 tensor, but got 1D cuda:0"
        ):
            pack(x, lengths.cuda(), batch_first=True)

    in_session(body)
