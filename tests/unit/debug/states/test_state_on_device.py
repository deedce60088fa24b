"""Trees and state of tensors on the (simulated) device."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from capturelint.debug.states.causes import writers
from capturelint.debug.states.state import Change, State
from capturelint.debug.trees.trees import copied, copy_into, leaves

if TYPE_CHECKING:
    from capturelint.debug.simulated import SimulatedBackend
    from tests.unit.debug.conftest import InSession


class Model(nn.Module):
    cache: torch.Tensor
    acc: Any

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(2, 2)
        self.norm = nn.BatchNorm1d(2)
        self.register_buffer("cache", torch.zeros(2))
        self.acc = torch.zeros(2, device="cuda")
        self.position = torch.zeros(1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.norm(self.linear(x))
        self.cache.add_(1)
        with torch.no_grad():
            self.linear.weight.mul_(1.5)
        self.acc = self.acc + 1
        self.position += 1
        return x + self.cache + self.position.item()


class Counting(nn.Module):
    cache: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("cache", torch.zeros(2))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.cache.add_(1)


def values(*tensors: torch.Tensor) -> list[Any]:
    return [tensor.detach().cpu().tolist() for tensor in tensors]


def test_copies_on_the_device_share_memory_as_the_originals_do(in_session: InSession) -> None:
    def body(_: SimulatedBackend) -> None:
        base = torch.arange(12.0, device="cuda").view(3, 4)
        tree: dict[str, Any] = {
            "qkv": base,
            "parts": base.chunk(2, -1),
            "mask": base[:1].expand(3, 4),
        }

        copy = copied(tree)
        base.mul_(2)
        assert values(copy["parts"][1]) == [[[2, 3], [6, 7], [10, 11]]]
        copy_into(copy, tree)

        assert all(leaf.value.device.type == "cuda" for leaf in leaves(copy))  # type: ignore[attr-defined]
        assert values(copy["parts"][1]) == values(tree["parts"][1])
        assert values(copy["mask"]) == values(tree["mask"])
        copy["qkv"].zero_()
        assert values(copy["parts"][0]) == [[[0, 0]] * 3]

    in_session(body)


def test_only_what_a_graph_does_not_write_itself_is_told(in_session: InSession) -> None:
    def body(backend: SimulatedBackend) -> None:
        model = backend.place(Model())
        x = torch.ones(3, 2, device="cuda")
        state = State([model])
        before = state.save()

        with state.watching():
            model(x)

        assert state.changes(before, state.save()) == (
            Change("acc", "rebound", "float32 tensor (2) on cuda", "float32 tensor (2) on cuda"),
            Change("position", "host tensor", "0.0", "1.0"),
        )

    in_session(body)


def test_memory_of_the_device_is_put_back(in_session: InSession) -> None:
    def body(backend: SimulatedBackend) -> None:
        model = backend.place(Model())
        x = torch.ones(3, 2, device="cuda")
        state = State([model])
        acc, mean = model.acc, model.norm.get_buffer("running_mean")
        before, seen = state.save(), values(model.linear.weight, model.cache, acc, mean)

        with state.watching():
            first = model(x)
        state.restore(before)
        assert values(model.linear.weight, model.cache, model.acc, mean) == seen
        assert model.acc is acc
        assert values(model(x)) == values(first)

    in_session(body)


def test_a_capture_and_its_replays_are_undone(in_session: InSession) -> None:
    def body(backend: SimulatedBackend) -> None:
        model = backend.place(Counting())
        x = torch.ones(2, device="cuda")
        state = State([model])
        with torch.no_grad(), state.watching():
            model(x)
        before = state.save()

        graph = backend.capture(lambda: model(x))
        graph.replay()
        graph.replay()
        assert values(model.cache) == [[3, 3]]
        state.restore(before)

        assert values(model.cache) == [[1, 1]]

    in_session(body)


def test_what_is_first_written_in_a_watched_capture_is_put_back(in_session: InSession) -> None:
    def body(backend: SimulatedBackend) -> None:
        hidden = [torch.zeros(2, device="cuda")]
        state = State([nn.ReLU()])
        before = state.save()

        with state.watching():
            graph = backend.capture(lambda: hidden[0].add_(1))
        graph.replay()
        assert values(hidden[0]) == [[1, 1]]
        state.restore(before)

        assert values(hidden[0]) == [[0, 0]]

    in_session(body)


def test_saving_is_not_seen_by_a_recording(in_session: InSession) -> None:
    def body(backend: SimulatedBackend) -> None:
        model = backend.place(nn.BatchNorm1d(2).eval())
        x = torch.ones(3, 2, device="cuda")
        state = State([model])

        with backend.recording() as first:
            model(x)
        with backend.recording() as second:
            state.restore(state.save())
            model(x)

        assert backend.frozen(first, second) == ()

    in_session(body)


def test_lines_are_found_on_the_device(in_session: InSession) -> None:
    def body(backend: SimulatedBackend) -> None:
        model = backend.place(Model())
        x = torch.ones(3, 2, device="cuda")
        state = State([model])
        before = state.save()
        with state.watching():
            model(x)
        changes = state.changes(before, state.save())

        found = writers(lambda: model(x), state, changes)

        assert {name: place.source for name, place in found.items()} == {
            "acc": "self.acc = self.acc + 1",
            "position": "self.position += 1",
        }

    in_session(body)
