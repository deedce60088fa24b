"""Which storages a call writes is seen, and nothing else is copied."""

from __future__ import annotations

import gc
from contextlib import suppress
from typing import Any

import pytest
import torch
from torch import nn
from torch.nn import functional as f

from capturelint.debug.states import storages
from capturelint.debug.states.state import State
from capturelint.debug.trees.hosted import storage_on_host
from capturelint.debug.trees.memory import storage_key


def written(state: State, *tensors: torch.Tensor) -> list[bool]:
    """Return whether each of the tensors is among what is saved."""
    saved = state.save().storages
    return [storage_key(tensor) in saved for tensor in tensors]


def test_nothing_of_a_large_layer_is_cloned() -> None:
    layer = nn.Linear(2048, 2048)
    state = State([layer])

    with state.watching(), torch.no_grad():
        layer(torch.ones(1, 2048))

    assert list(state.save().storages) == []


def test_a_parameter_is_cloned_once_it_is_written() -> None:
    layer = nn.Linear(2, 2)
    state = State([layer])

    with state.watching(), torch.no_grad():
        layer.weight.add_(1)

    assert written(state, layer.weight, layer.bias) == [True, False]


def test_buffers_are_always_cloned() -> None:
    norm = nn.BatchNorm1d(2)

    assert written(State([norm]), norm.running_mean, norm.weight) == [True, False]  # type: ignore[arg-type]  # it is a tensor


@pytest.mark.parametrize(
    "write",
    [
        lambda t: t.add_(1),
        lambda t: t[0].mul_(2),
        lambda t: t.__setitem__(0, 5.0),
        lambda t: torch.add(t, 1, out=t),
        lambda t: t.copy_(torch.ones(4)),
        lambda t: torch._foreach_add_([torch.ones(1), t], 1),
        lambda t: t.view(2, 2).t().zero_(),
        lambda t: f.batch_norm(torch.randn(3, 4), t, torch.ones(4), training=True),
        lambda t: f.instance_norm(torch.randn(2, 4, 3), t, torch.ones(4)),
    ],
)
@pytest.mark.parametrize("inference", [False, True])
def test_every_way_to_write_is_seen(write: Any, inference: bool) -> None:
    layer = nn.Linear(4, 1, bias=False)
    target = layer.weight.detach()[0]
    state = State([layer])
    before = state.save()
    values = target.clone()

    with state.watching(), torch.inference_mode(mode=inference):
        write(target)

    assert written(state, target) == [True]
    assert not torch.equal(target, values)
    state.restore(before)
    assert torch.equal(target, values)


@pytest.mark.parametrize(
    "read",
    [
        lambda t: t + 1,
        lambda t: t.view(2, 2).t(),
        lambda t: t.clone().add_(1),
        lambda t: torch.add(t, 1, out=torch.empty(4)),
        lambda t: torch.zeros(4).copy_(t),
        lambda t: f.dropout(t, training=False),
    ],
)
def test_reading_is_not_writing(read: Any) -> None:
    layer = nn.Linear(4, 1, bias=False)
    state = State([layer])

    with state.watching():
        read(layer.weight.detach()[0])

    assert written(state, layer.weight) == [False]


def test_what_an_operation_returns_as_it_is_was_there_before() -> None:
    layer = nn.Linear(4, 1, bias=False)
    state = State([layer])

    with state.watching(), torch.inference_mode():
        f.dropout(layer.weight, training=False).add_(1)

    assert written(state, layer.weight) == [True]


def test_memory_made_inside_is_not_kept() -> None:
    state = State([nn.ReLU()])

    with state.watching():
        kept = [torch.zeros(3).add_(1), torch.tensor([1.0, 2.0]).mul_(2)]

    assert written(state, *kept) == [False, False]


def test_memory_that_nobody_sees_any_more_is_forgotten() -> None:
    state = State([nn.ReLU()])
    argument = torch.zeros(3)
    before = state.save()

    with state.watching():
        argument.add_(1)
    assert len(before.storages) == 1
    del argument
    gc.collect()
    with state.watching():
        pass

    assert before.storages == {}
    assert state.save().storages == {}
    state.restore(before)


def test_a_snapshot_made_before_the_first_watch_learns_what_was_written() -> None:
    hidden = [torch.zeros(2)]  # nothing leads to it
    state = State([nn.ReLU()])
    before = state.save()

    with state.watching():
        hidden[0].add_(1)
    later = state.save()
    with state.watching():
        hidden[0].add_(1)

    state.restore(later)
    assert hidden[0].tolist() == [1, 1]
    state.restore(before)
    assert hidden[0].tolist() == [0, 0]


def test_what_a_snapshot_knows_is_not_learnt_again() -> None:
    norm = nn.BatchNorm1d(2)
    mean = norm.get_buffer("running_mean")
    state = State([norm])
    before = state.save()

    mean.add_(1)
    with state.watching():
        mean.add_(1)
    state.restore(before)

    assert mean.tolist() == [0, 0]


def test_what_a_capture_writes_first_is_learnt_after_it(monkeypatch: pytest.MonkeyPatch) -> None:
    hidden = [torch.zeros(2)]
    state = State([nn.ReLU()])
    before = state.save()
    monkeypatch.setattr("capturelint.debug.states.storages._is_capturing", lambda: True)

    with suppress(LookupError), state.watching():
        hidden[0].add_(0)  # a capture runs nothing
        raise LookupError
    hidden[0].add_(1)
    state.restore(before)

    assert hidden[0].tolist() == [0, 0]


def test_versions_of_tensors_are_left_alone() -> None:
    norm = nn.BatchNorm1d(2)
    state = State([norm])
    assert norm.running_mean is not None
    version = norm.running_mean._version  # noqa: SLF001 - what is tested

    state.restore(state.save())

    assert norm.running_mean._version == version  # noqa: SLF001 - what is tested


def test_memory_that_was_resized_gets_its_size_back() -> None:
    extra = torch.arange(4.0)
    state = State([nn.ReLU()], extra=[extra])
    before = state.save()

    extra.untyped_storage().resize_(0)
    state.restore(before)

    assert extra.tolist() == [0, 1, 2, 3]


def test_watching_changes_no_result() -> None:
    layer = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2), nn.Dropout())
    state = State([layer])
    x = torch.randn(3, 2)
    before = state.save()

    plain = layer(x)
    state.restore(before)
    with state.watching():
        seen = layer(x)

    assert torch.equal(plain, seen)


def test_operators_of_higher_order_run_while_watching() -> None:
    state = State([nn.ReLU()])
    hop = torch.ops.higher_order

    with state.watching():
        result = hop.cond(torch.tensor(True), lambda x: x + 1, lambda x: x - 1, (torch.ones(1),))

    assert result.tolist() == [2]


def test_what_is_large_on_the_device_is_kept_on_the_host(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(storages, "is_large_on_device", lambda _, size: size > 8)
    moved: list[int] = []

    def moving(storage: torch.UntypedStorage) -> torch.UntypedStorage:
        moved.append(storage.nbytes())
        return storage_on_host(storage)

    monkeypatch.setattr(storages, "storage_on_host", moving)
    module = nn.Module()
    module.register_buffer("large", torch.arange(4.0))
    module.register_buffer("small", torch.zeros(1))
    state = State([module])
    snapshot = state.save()
    large: Any = module.large
    large.fill_(7.0)
    state.restore(snapshot)

    assert moved == [16]
    assert large.tolist() == [0.0, 1.0, 2.0, 3.0]
