"""A host tensor that is given the data of a device tensor is on the device."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import nn

if TYPE_CHECKING:
    from capturelint.debug.simulated import SimulatedBackend
    from tests.unit.debug.conftest import InSession


def test_parameters_move_with_their_data(in_session: InSession) -> None:
    def body(_: SimulatedBackend) -> None:
        linear = nn.Linear(2, 2)
        weight = linear.weight
        for parameter in linear.parameters():
            parameter.data = parameter.data.cuda()
        assert linear.weight is weight
        assert isinstance(weight, nn.Parameter)
        assert (weight.is_cuda, weight.requires_grad, weight.is_leaf) == (True, True, True)
        linear(torch.ones(1, 2).cuda()).sum().backward()
        assert weight.grad is not None
        assert weight.grad.is_cuda

    in_session(body)


def test_data_of_the_same_side_is_assigned_as_before(in_session: InSession) -> None:
    def body(_: SimulatedBackend) -> None:
        here = torch.ones(2)
        here.data = torch.zeros(3)
        assert (here.tolist(), here.is_cuda) == ([0, 0, 0], False)
        there = torch.ones(2).cuda()
        there.data = torch.zeros(3).cuda()
        assert (there.tolist(), there.is_cuda) == ([0, 0, 0], True)

    in_session(body)


def test_a_device_tensor_that_others_hold_can_be_reshaped_in_place(in_session: InSession) -> None:
    def body(_: SimulatedBackend) -> None:
        tensor = torch.arange(6.0, device="cuda").view(2, 3)
        held = [tensor, tensor]
        tensor.t_()

        assert [one.shape for one in held] == [(3, 2), (3, 2)]
        assert tensor.tolist() == [[0.0, 3.0], [1.0, 4.0], [2.0, 5.0]]

    in_session(body)


def test_moved_parameters_keep_hooks_attributes_and_gradient(in_session: InSession) -> None:
    def body(_: SimulatedBackend) -> None:
        linear = nn.Linear(2, 2)
        seen: list[object] = []
        weight = linear.weight
        weight.__dict__["scale"] = 2.0
        weight.register_hook(lambda _: seen.append("hook"))  # type: ignore[no-untyped-call]
        weight.register_post_accumulate_grad_hook(  # type: ignore[no-untyped-call]
            lambda one: seen.append(one is weight)
        )
        linear(torch.ones(1, 2)).sum().backward()
        linear.cuda()
        assert linear.weight is weight
        assert weight.grad is not None
        assert (weight.grad.is_cuda, weight.__dict__["scale"]) == (True, 2.0)
        linear(torch.ones(1, 2).cuda()).sum().backward()
        assert (seen, weight.grad.tolist()) == (["hook", True] * 2, [[2, 2], [2, 2]])
        assert type(linear.cpu().weight) is nn.Parameter

    in_session(body)
