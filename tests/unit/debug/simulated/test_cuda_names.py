"""`torch.cuda` and its like in a session, names imported before it, and torch as it was after it."""

# ruff: noqa: SLF001 - looks at private parts of torch
from __future__ import annotations

import contextlib
from collections.abc import Callable
from types import ModuleType
from typing import TYPE_CHECKING, Any

import pytest
import torch
from torch import nn
from torch.cuda import (  # bound before any session
    current_device,
    device_count,
    get_device_name,
    is_available,
    is_current_stream_capturing,
    memory_allocated,
    synchronize,
)

from capturelint.debug.backend import CannotTellError
from capturelint.debug.dispatched.patches import Patches
from capturelint.debug.dispatched.refusal import NOT_PERMITTED, SimulatedCaptureError
from capturelint.debug.simulated import SimulatedBackend

if TYPE_CHECKING:
    from tests.conftest import InFork
    from tests.unit.debug.conftest import InSession

cuda: Any = torch.cuda


def test_that_no_device_was_counted_before_the_session_does_not_last(in_fork: InFork) -> None:
    def body() -> None:
        cuda._cached_device_count = 0  # as a build for CUDA keeps it
        with SimulatedBackend().session():
            torch.manual_seed(5)
            first = torch.rand(3, device="cuda").tolist()
            torch.manual_seed(5)

            assert torch.rand(3, device="cuda").tolist() == first
            assert device_count() == 1
        assert cuda._cached_device_count == 0

    in_fork(body)


def test_names_bound_before_the_session_answer_too(in_session: InSession) -> None:
    def body(backend: SimulatedBackend) -> None:
        seen = []
        backend.capture(lambda: seen.append(is_current_stream_capturing()))
        with backend.as_if_capturing(lambda: ""):
            seen.append(is_current_stream_capturing())

        assert seen == [True, True]
        assert (is_available(), device_count(), current_device()) == (True, 1, 0)
        assert (is_current_stream_capturing(), memory_allocated()) == (False, 0)
        assert "H200" in get_device_name()
        with pytest.raises(SimulatedCaptureError, match="not permitted"):
            backend.capture(synchronize)

    in_session(body)


@pytest.mark.parametrize(
    "code",
    [
        "cuda.is_initialized() and cuda.is_bf16_supported()",
        "cuda.get_device_capability() == (9, 0)",
        "cuda.get_device_properties(0).multi_processor_count == 132",
        "cuda.get_device_properties('cuda').total_memory > 0",
        "cuda.mem_get_info()[0] > 0",
        "'Allocated memory' in cuda.memory_summary()",
        "cuda.memory_stats()['allocated_bytes.all.current'] == 0",
        "cuda.max_memory_allocated() == 0",
        "cuda.memory_snapshot() == []",
        "cuda.empty_cache() is None",
        "cuda.reset_peak_memory_stats() is None",
        "cuda.ipc_collect() is None",
        "cuda.set_device(0) is None",
        "cuda.get_arch_list()[0] == 'sm_75'",
        "cuda.nvtx.range_push('a') == 0 and cuda.nvtx.range_pop() == 0",
        "not cuda.can_device_access_peer(0, 0)",
        "cuda.current_blas_handle() == 1",
        "torch.accelerator.is_available()",
        "torch.accelerator.current_accelerator() == torch.device('cuda')",
        "torch.accelerator.device_count() == 1",
        "torch.accelerator.current_device_index() == 0",
        "torch.accelerator.current_stream() == cuda.current_stream()",
        "torch.get_device_module('cuda') is cuda",
        "torch.get_device_module() is cuda",
        "torch.backends.cuda.is_built()",
        "torch.version.cuda.startswith('13')",
        "torch.amp.is_autocast_available('cuda')",
        "torch.ones(2, device='cuda:0').device.index == 0",
        "torch.device('cuda').type == 'cuda'",
    ],
)
def test_questions_are_answered_in_and_outside_a_capture(in_session: InSession, code: str) -> None:
    def body(backend: SimulatedBackend) -> None:
        answers = [eval(code)]
        backend.capture(lambda: answers.append(eval(code)))

        assert answers == [True, True]

    in_session(body)


def test_contexts_choose_the_device(in_session: InSession) -> None:
    def body(_backend: SimulatedBackend) -> None:
        with torch.device("cuda"):
            made = torch.ones(2)
            layer = nn.Linear(2, 2)
        with cuda.device(0), cuda.device_of(made), torch.accelerator.device_index(0):
            pass
        torch.set_default_device("cuda")
        default = torch.zeros(2)
        torch.set_default_device(None)

        assert (made.is_cuda, layer.weight.is_cuda, default.is_cuda) == (True, True, True)
        assert not torch.zeros(2).is_cuda

    in_session(body)


def test_there_is_one_device(in_session: InSession) -> None:
    def body(backend: SimulatedBackend) -> None:
        calls: list[Callable[[], object]] = [
            lambda: cuda.set_device(1),
            lambda: torch.ones(2, device="cuda:1"),
            lambda: torch.ones(2).to("cuda:1"),
            lambda: torch.ones(2).cuda(1),
            lambda: torch.ones(2, device="cuda").to("cuda:1"),
            lambda: torch.ones(2, device="cuda").cuda(1),
            lambda: nn.Linear(2, 2).to("cuda:1"),
        ]
        for call in calls:
            with pytest.raises(CannotTellError, match="invalid device ordinal"):
                call()
        with pytest.raises(AssertionError, match="Invalid device id"):
            cuda.get_device_properties(1)
        (reason,) = {text.partition(", at ")[0] for text in backend.unsupported()}
        assert reason == "cuda:1 (invalid device ordinal: the simulator has one device, cuda:0)"

    in_session(body)


def test_graphs_of_the_users_own_are_refused_inside_and_work_outside(
    in_session: InSession,
) -> None:
    def body(backend: SimulatedBackend) -> None:
        x = torch.ones(2, device="cuda")
        graph = cuda.CUDAGraph()

        def own_graph() -> torch.Tensor:
            with cuda.graph(graph):
                return x.mul(2)

        y = own_graph()
        x.fill_(3)
        graph.replay()
        assert y.cpu().tolist() == [6, 6]
        with pytest.raises(SimulatedCaptureError) as refused:
            backend.capture(own_graph)
        assert str(refused.value) == NOT_PERMITTED
        with pytest.raises(SimulatedCaptureError, match="Cannot prepare for replay"):
            backend.capture(graph.replay)
        backend.capture(cuda.CUDAGraph)

    in_session(body)


def test_what_a_graph_of_the_users_own_refused_is_what_its_end_was_raised_for(
    in_session: InSession,
) -> None:
    def body(_backend: SimulatedBackend) -> None:
        x = torch.ones(2, device="cuda")

        def captured(*, swallows: bool) -> None:
            errors = [RuntimeError] if swallows else []
            with cuda.graph(cuda.CUDAGraph()), contextlib.suppress(*errors):
                x.sum().item()

        for swallows in (False, True):
            with pytest.raises(SimulatedCaptureError) as ended:
                captured(swallows=swallows)
            assert str(ended.value.__context__) == NOT_PERMITTED

    in_session(body)


def test_each_session_captures_on_a_stream_of_its_own(in_fork: InFork) -> None:
    def twice() -> None:
        backend = SimulatedBackend()
        for _ in range(2):
            with backend.session():
                graph = cuda.CUDAGraph()
                with cuda.graph(graph):
                    y = torch.ones(2, device="cuda") * 2
                graph.replay()
                assert y.cpu().tolist() == [2, 2]

    in_fork(twice)


def test_amp_of_earlier_releases_still_works(in_session: InSession) -> None:
    def body(_backend: SimulatedBackend) -> None:
        layer, x = nn.Linear(4, 4).cuda(), torch.ones(2, 4, device="cuda")
        with torch.autocast("cuda", dtype=torch.bfloat16):
            half = layer(x)

        assert half.dtype == torch.bfloat16
        assert layer(x).dtype == torch.float32

    in_session(body)


def snapshot() -> dict[tuple[str, str], object]:
    """Return what the names that a session exchanges are bound to."""
    owners: list[Any] = [
        torch, torch._C, torch.cuda, torch.cuda.graphs, torch.cuda.nvtx, torch.accelerator,
        torch.version, torch.Tensor, torch.cuda.Stream, torch.cuda.Event, torch.cuda.CUDAGraph,
        nn.Module, nn.RNNBase, nn.UninitializedParameter, nn.parameter.UninitializedTensorMixin,  # type: ignore[attr-defined]  # no stub
    ]  # fmt: skip
    return {
        (str(owner), name): value
        for owner in owners
        for name, value in list(vars(owner).items())
        if not isinstance(value, ModuleType)
    }


def test_torch_is_as_it_was_after_a_session_also_after_an_error(in_fork: InFork) -> None:
    def body() -> None:
        before = snapshot()
        with pytest.raises(ValueError, match="the user's"), SimulatedBackend().session():
            raise ValueError("the user's")
        after = snapshot()
        # What a session imports may add names of torch's own; the backend stays registered.
        new = {key for key in after.keys() - before.keys() if key[1] != "simcuda"}
        added = [after[key] for key in new]

        assert {key for key in before if before[key] is not after.get(key)} == set()
        assert [value for value in added if "capturelint" in module_of(value)] == []

    in_fork(body)


def module_of(value: object) -> str:
    return str(getattr(value, "__module__", ""))


def test_patches_are_put_back_in_the_opposite_order() -> None:
    class Owner:
        known = 1

    patches = Patches()
    patches.put(Owner, "known", 2)
    patches.put(Owner, "known", 3)
    patches.put(Owner, "added", 4)
    during = (Owner.known, vars(Owner)["added"])
    patches.put_back()

    assert during == (3, 4)
    assert Owner.known == 1
    assert "added" not in vars(Owner)
