"""A tensor over host storage that says it is on the device, and what it does not do."""

from __future__ import annotations

import copy
import io
from typing import TYPE_CHECKING

import pytest
import torch
from torch import nn

from capturelint.debug.backend import CannotTellError
from tests.unit.debug.simulated.replaying import host

if TYPE_CHECKING:
    from capturelint.debug.simulated import SimulatedBackend
    from tests.unit.debug.conftest import InSession


def test_a_tensor_says_that_it_is_on_the_device(in_session: InSession) -> None:
    def body(_: SimulatedBackend) -> None:
        x = torch.ones(2).cuda()
        says = (x.device, x.is_cuda, x.is_cpu, x.get_device(), x.is_pinned(), x.type())
        assert says == (torch.device("cuda", 0), True, False, 0, False, "torch.cuda.FloatTensor")
        assert isinstance(x, torch.Tensor)
        assert isinstance(x, torch.cuda.FloatTensor)  # type: ignore[attr-defined]
        assert torch.is_tensor(x)
        assert str(x) == "tensor([1., 1.], device='cuda:0')"

    in_session(body)


def test_views_and_aliases_are_real(in_session: InSession) -> None:
    def body(_: SimulatedBackend) -> None:
        x = torch.zeros(2, 3, device="cuda")
        row = x[1]
        row.add_(1)
        assert x.tolist() == [[0, 0, 0], [1, 1, 1]]
        assert row._base is x  # noqa: SLF001
        assert row.data_ptr() == x.data_ptr() + 3 * 4
        assert x.add_(1) is x

    in_session(body)


def test_an_output_of_another_size_takes_the_size_of_the_result(in_session: InSession) -> None:
    def body(_: SimulatedBackend) -> None:
        y = torch.empty(0, device="cuda")
        torch.mul(torch.ones(2, 3, device="cuda"), 2, out=y)
        assert (y.shape, y.stride()) == ((2, 3), (3, 1))
        y.t_()
        assert (y.shape, y.stride()) == ((3, 2), (1, 3))
        y.set_(torch.zeros(4, device="cuda"))  # type: ignore[call-overload]  # a tensor is not in its types
        assert y.tolist() == [0, 0, 0, 0]
        assert y.untyped_storage().nbytes() == 16

    in_session(body)


def test_moves_and_conversions(in_session: InSession) -> None:
    def body(_: SimulatedBackend) -> None:
        x = torch.ones(2, device="cuda")
        assert x.to("cuda") is x
        assert x.to(x) is x
        assert x.cuda() is x
        assert x.to("cuda", copy=True) is not x
        assert x.to(torch.float16).dtype == torch.float16
        assert x.type("torch.cuda.HalfTensor").dtype == torch.float16
        assert not x.to("cpu").is_cuda
        assert not x.type("torch.FloatTensor").is_cuda
        assert x.cpu().numpy().tolist() == [1, 1]
        with pytest.raises(TypeError, match=r"Use Tensor.cpu\(\)"):
            x.numpy()

    in_session(body)


def test_deep_copies_keep_ties_and_parameters(in_session: InSession) -> None:
    def body(_: SimulatedBackend) -> None:
        linear = nn.Linear(2, 2)
        tied = nn.Sequential(linear, nn.Linear(2, 2), linear).cuda()
        tied.register_buffer("row", linear.weight.detach()[0])
        twin = copy.deepcopy(tied)
        weight = twin[0].weight
        assert weight is twin[2].weight
        assert isinstance(weight, nn.Parameter)
        assert weight.requires_grad
        with torch.no_grad():
            weight.fill_(3)
        assert host(twin.row)[0].tolist() == [3, 3]
        assert linear.weight.tolist() != weight.tolist()

    in_session(body)


def test_parameters_stay_the_same_objects_on_the_way_to_the_device(in_session: InSession) -> None:
    def body(_: SimulatedBackend) -> None:
        linear = nn.Linear(3, 3)
        weight = linear.weight
        linear.cuda()
        assert linear.weight is weight
        assert weight.is_cuda
        assert isinstance(weight, nn.Parameter)
        assert dict(linear.named_parameters())["weight"] is weight
        linear.load_state_dict({"weight": torch.ones(3, 3), "bias": torch.zeros(3)})
        assert weight.sum().item() == 9

    in_session(body)


def test_data_can_be_exchanged_on_the_device(in_session: InSession) -> None:
    def body(_: SimulatedBackend) -> None:
        linear = nn.Linear(2, 2).cuda()
        linear.weight.data = torch.ones(2, 2, device="cuda")
        linear.weight.data.mul_(2)
        assert linear.weight.tolist() == [[2, 2], [2, 2]]
        assert linear(torch.ones(1, 2).cuda()).sum().item() == pytest.approx(
            8 + linear.bias.sum().item()
        )

    in_session(body)


def test_backward_reaches_tensors_of_both_sides(in_session: InSession) -> None:
    def body(_: SimulatedBackend) -> None:
        here = torch.ones(2, requires_grad=True)
        there = torch.ones(2, device="cuda", requires_grad=True)
        (here.cuda() * there * 3).sum().backward()  # type: ignore[no-untyped-call]
        assert here.grad is not None
        assert there.grad is not None
        assert (here.grad.tolist(), here.grad.is_cuda) == ([3, 3], False)
        assert (there.grad.tolist(), there.grad.is_cuda) == ([3, 3], True)

    in_session(body)


def test_python_protocols_read_the_data(in_session: InSession) -> None:
    def body(_: SimulatedBackend) -> None:
        x = torch.arange(3, device="cuda")
        assert [int(one) for one in x] == [0, 1, 2]
        assert [10, 20, 30][x[1]] == 20
        assert 2 in x
        assert 5 not in x
        assert f"{x.sum():>3}" == "  3"
        assert len(x) == 3

    in_session(body)


def test_what_it_does_not_do(in_session: InSession) -> None:
    def body(backend: SimulatedBackend) -> None:
        x = torch.ones(2, device="cuda")
        assert type(x) is not torch.Tensor
        with pytest.raises(CannotTellError):
            torch.save(x, io.BytesIO())
        with pytest.raises(CannotTellError):
            x.__dlpack__()
        assert [told.partition(", at ")[0] for told in backend.unsupported()] == [
            "pickling a device tensor",
            "handing a device tensor to another library (DLPack)",
        ]

    in_session(body)
