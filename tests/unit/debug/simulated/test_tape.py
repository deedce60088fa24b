"""What a graph recorded, replayed on fresh inputs: the same as eager, and nothing else changes."""

# ruff: noqa: SLF001 - optimizers use the operators on lists, which have no public name

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest
import torch
from torch import nn
from torch.multiprocessing.reductions import StorageWeakRef
from torch.nn import functional

from tests.unit.debug.simulated.replaying import Inputs, check_replays, host, normal

if TYPE_CHECKING:
    from capturelint.debug.simulated import SimulatedBackend
    from tests.unit.debug.conftest import InSession


def _through_a_view(x: torch.Tensor) -> torch.Tensor:
    y = x.clone()
    y.view(-1)[3:].mul_(2)
    return y


def _foreach_in_place(x: torch.Tensor) -> list[torch.Tensor]:
    tensors = [x.clone(), x + 1]
    torch._foreach_mul_(tensors, 2)
    return tensors


def _transposed_in_place(x: torch.Tensor) -> torch.Tensor:
    y = x.clone()
    y.t_()
    return y + 0


def _squeezed_in_place(x: torch.Tensor) -> torch.Tensor:
    y = x.clone()
    y.squeeze_(0).add_(1)
    return y


def _used_before_and_after_unsqueeze(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    y = x.clone()
    before = y * 2
    y.unsqueeze_(0)
    return before, y.mul_(3)


def _factories(x: torch.Tensor) -> torch.Tensor:
    ones = torch.full((4,), 1.0, device="cuda")
    return x + torch.zeros_like(x) + ones + torch.arange(4, device="cuda") + torch.eye(4)[0].sum()


def _empty_then_filled(x: torch.Tensor) -> torch.Tensor:
    y = torch.empty(4, device="cuda")
    return y.copy_(x)


def _resized_output(x: torch.Tensor) -> torch.Tensor:
    y = torch.empty(0, device="cuda")
    torch.mul(x, 2, out=y)
    return y + 1


def _normal_noise(x: torch.Tensor) -> torch.Tensor:
    y = functional.dropout(functional.dropout(x, 0.5), 0.5)
    return y + torch.randn(64, device="cuda") + torch.empty(64, device="cuda").uniform_()


@pytest.mark.parametrize(
    ("function", "inputs"),
    [
        pytest.param(_through_a_view, normal(3, 4), id="in place through a view"),
        pytest.param(lambda x: torch._foreach_add([x, x * 2], 1.5), normal(3), id="foreach"),
        pytest.param(_foreach_in_place, normal(3), id="foreach in place"),
        pytest.param(_transposed_in_place, normal(2, 3), id="t_"),
        pytest.param(_squeezed_in_place, normal(1, 3), id="squeeze_"),
        pytest.param(_used_before_and_after_unsqueeze, normal(3), id="unsqueeze_"),
        pytest.param(lambda x: [y * 2 for y in x.split(2)], normal(4, 2), id="split"),
        pytest.param(lambda x: torch.unbind(x * 3), normal(4, 2), id="unbind"),
        pytest.param(lambda x: (*torch.sort(x), *torch.topk(x, 2)), normal(4, 5), id="sort, topk"),
        pytest.param(_factories, normal(4), id="factories"),
        pytest.param(_empty_then_filled, normal(4), id="empty, then filled"),
        pytest.param(_resized_output, normal(4), id="out= of another size"),
        pytest.param(_normal_noise, normal(64), id="random numbers"),
        pytest.param(lambda x: x.view(2, 2), normal(4), id="a view of the input"),
        pytest.param(lambda x: torch.fft.rfft(x).mul(1 + 2j).abs(), normal(8), id="complex"),
        pytest.param(lambda x: torch.fft.fft(x).conj().imag, normal(8), id="conjugate view"),
        pytest.param(lambda x: (x.bfloat16() @ x.bfloat16().t()).float(), normal(4, 4), id="bf16"),
        pytest.param(lambda x: x.to(torch.float8_e4m3fn).float(), normal(4, 4), id="fp8"),
        pytest.param(lambda x: x[:0].sum() + x.sum(), normal(4), id="no elements"),
    ],
)
def test_replays_on_fresh_inputs_equal_eager(
    in_session: InSession, function: Callable[..., object], inputs: Inputs
) -> None:
    in_session(lambda backend: check_replays(backend, function, inputs))


def test_replays_equal_eager_for_tensors_made_in_inference_mode(in_session: InSession) -> None:
    def body(backend: SimulatedBackend) -> None:
        with torch.inference_mode():
            linear = nn.Linear(3, 3).cuda()
            check_replays(backend, lambda x: linear(x).add_(1), normal(2, 3))

    in_session(body)


def test_replays_run_backward_again(in_session: InSession) -> None:
    def body(backend: SimulatedBackend) -> None:
        linear = nn.Linear(3, 3).cuda()

        def gradients(x: torch.Tensor) -> Any:
            return torch.autograd.grad(linear(x).square().sum(), list(linear.parameters()))

        check_replays(backend, gradients, normal(2, 3))

    in_session(body)


def test_each_replay_draws_new_random_numbers_as_eager_calls_do(in_session: InSession) -> None:
    def body(backend: SimulatedBackend) -> None:
        ones = torch.ones(64, device="cuda")
        graph = backend.capture(lambda: functional.dropout(ones, 0.5))
        replayed = []
        backend.seed(5)
        for _ in range(2):
            graph.replay()
            replayed += host(graph.output)
        backend.seed(5)
        eager = [host(functional.dropout(ones, 0.5))[0] for _ in range(2)]

        assert not torch.equal(*replayed)
        assert [torch.equal(a, b) for a, b in zip(replayed, eager, strict=True)] == [True, True]

    in_session(body)


@pytest.mark.parametrize("gradients", [False, True])
def test_a_capture_leaves_state_alone_and_replays_change_it_as_eager_calls_do(
    in_session: InSession, *, gradients: bool
) -> None:
    @torch.set_grad_enabled(gradients)  # another operator then
    def body(backend: SimulatedBackend) -> None:
        norm = nn.BatchNorm1d(4).cuda().train()
        twin = copy.deepcopy(norm)
        before = host(norm.state_dict())
        (static,) = normal(8, 4)(0)
        graph = backend.capture(lambda: norm(static))
        assert all(map(torch.equal, host(norm.state_dict()), before))

        for seed in range(3):
            (fresh,) = normal(8, 4)(seed)
            static.copy_(fresh)
            graph.replay()
            assert torch.equal(*host([graph.output, twin(fresh)]))
        assert all(map(torch.equal, host(norm.state_dict()), host(twin.state_dict())))
        assert norm.num_batches_tracked is not None
        assert norm.num_batches_tracked.item() == 3

    in_session(body)


def test_a_cache_is_written_at_the_position_that_a_tensor_holds(in_session: InSession) -> None:
    def body(backend: SimulatedBackend) -> None:
        cache = torch.zeros(3, 2, device="cuda")
        position = torch.tensor([0]).cuda()
        row = torch.zeros(1, 2, device="cuda")
        graph = backend.capture(lambda: cache.index_copy_(0, position, row))
        assert host(cache)[0].tolist() == [[0, 0], [0, 0], [0, 0]]

        for number in range(3):
            position.fill_(number)
            row.fill_(number + 1)
            graph.replay()
        assert host(cache)[0].tolist() == [[1, 1], [2, 2], [3, 3]]

    in_session(body)


def test_a_host_number_stays_as_it_was_when_captured(in_session: InSession) -> None:
    def body(backend: SimulatedBackend) -> None:
        scale = torch.tensor(2.0)
        ones = torch.ones(3, device="cuda")
        graph = backend.capture(lambda: ones * scale)
        scale.fill_(5)
        graph.replay()
        assert host(graph.output)[0].tolist() == [2, 2, 2]

    in_session(body)


def test_pinned_memory_is_read_and_written_by_each_replay(in_session: InSession) -> None:
    def body(backend: SimulatedBackend) -> None:
        source = torch.ones(3).pin_memory()

        def there_and_back() -> torch.Tensor:
            return (source.to("cuda", non_blocking=True) * 2).to("cpu", non_blocking=True)

        graph = backend.capture(there_and_back)
        source.fill_(7)
        graph.replay()
        assert host(graph.output)[0].tolist() == [14, 14, 14]

    in_session(body)


def test_two_graphs_work_on_one_buffer(in_session: InSession) -> None:
    def body(backend: SimulatedBackend) -> None:
        buffer = torch.zeros(2, device="cuda")
        adds = backend.capture(lambda: buffer.add_(1))
        doubles = backend.capture(lambda: buffer * 2)
        adds.replay()
        adds.replay()
        doubles.replay()
        assert host(doubles.output)[0].tolist() == [4, 4]

    in_session(body)


def test_deep_copies_are_made_again_by_each_replay(in_session: InSession) -> None:
    in_session(
        lambda backend: check_replays(backend, lambda x: copy.deepcopy(x).add_(1), normal(3))
    )


def test_a_closed_graph_gives_its_memory_back_and_does_not_replay(in_session: InSession) -> None:
    def body(backend: SimulatedBackend) -> None:
        ones = torch.ones(3, device="cuda")
        graph = backend.capture(lambda: (ones + 1) * 2)
        assert isinstance(graph.output, torch.Tensor)
        memory: Any = StorageWeakRef(graph.output.untyped_storage())  # type: ignore[no-untyped-call]
        graph.close()
        assert memory.expired()
        with pytest.raises(RuntimeError, match="closed"):
            graph.replay()

    in_session(body)
