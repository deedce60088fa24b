"""What becomes of one operation: which side it runs on, what is refused as a mix, what is unknown."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest
import torch
from torch import nn
from torch.nn import functional
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

from capturelint.debug.backend import CannotTellError
from capturelint.debug.dispatched.refusal import SimulatedCaptureError
from tests.unit.debug.simulated.replaying import check_replays, normal

if TYPE_CHECKING:
    from capturelint.debug.simulated import SimulatedBackend
    from tests.unit.debug.conftest import InSession


def test_factories_and_indices_land_where_torch_puts_them(in_session: InSession) -> None:
    def body(_: SimulatedBackend) -> None:
        x = torch.arange(6.0, device="cuda").view(2, 3)
        mask = torch.tensor([True, False]).cuda()
        tensors = [
            torch.tensor([1, 2], device="cuda"),
            torch.zeros_like(x),
            x.new_zeros(2),
            x.new_tensor([1.0]),
            x[mask],
            x[[0, 1]],
            x[:, torch.tensor([1])],
            x + torch.tensor(2.0),
            torch.where(x > 2, x, torch.tensor(0.0)),
        ]
        assert [tensor.device for tensor in tensors] == [torch.device("cuda", 0)] * len(tensors)
        x[mask] = 9.0
        x[:, [1, 2]] = 5.0
        x[1, 1] = 7
        assert x.tolist() == [[9, 5, 5], [3, 7, 5]]

    in_session(body)


def test_tensors_of_both_sides_do_not_mix(in_session: InSession) -> None:
    def body(_: SimulatedBackend) -> None:
        there, here = torch.ones(3, 3, device="cuda"), torch.ones(3, 3)
        mixes: list[Callable[[], object]] = [
            lambda: there + here,
            lambda: there @ here,
            lambda: torch.cat([there, here]),
            lambda: functional.embedding(torch.tensor([1]), there),
            lambda: nn.Linear(3, 3)(there),
        ]
        for mix in mixes:
            with pytest.raises(RuntimeError, match="found at least two devices, cuda:0 and cpu"):
                mix()

    in_session(body)


def test_a_second_device_cannot_be_told(in_session: InSession) -> None:
    def body(backend: SimulatedBackend) -> None:
        with pytest.raises(CannotTellError):
            torch.ones(3, device="cuda:1")
        assert [told.partition(", at ")[0] for told in backend.unsupported()] == [
            "cuda:1 (invalid device ordinal: the simulator has one device, cuda:0)"
        ]
        assert backend.unsupported() == ()

    in_session(body)


def test_the_python_body_of_a_custom_operator_is_looked_into(in_session: InSession) -> None:
    def body(backend: SimulatedBackend) -> None:
        @torch.library.custom_op("capturelint_tests::twice", mutates_args=())
        def twice(x: torch.Tensor) -> torch.Tensor:
            return x * 2

        @torch.library.custom_op(
            "capturelint_tests::adds", mutates_args=("x",), device_types="cuda"
        )
        def adds(x: torch.Tensor) -> None:
            x.add_(1)

        library: Any = torch.library.Library("capturelint_tests", "FRAGMENT")  # type: ignore[no-untyped-call]
        library.define("reads(Tensor x) -> Tensor")
        library.impl("reads", lambda x: x * x.sum().item(), "CUDA")

        def both(x: torch.Tensor) -> torch.Tensor:
            y = x.clone()
            adds(y)
            return twice(y)

        check_replays(backend, both, normal(3))
        ones = torch.ones(3, device="cuda")
        with pytest.raises(SimulatedCaptureError):
            backend.capture(lambda: torch.ops.capturelint_tests.reads(ones))

    in_session(body)


def test_a_custom_operator_without_a_python_body_cannot_be_told(in_session: InSession) -> None:
    def body(backend: SimulatedBackend) -> None:
        library: Any = torch.library.Library("capturelint_tests", "FRAGMENT")  # type: ignore[no-untyped-call]
        library.define("compiled(Tensor x) -> Tensor")
        with pytest.raises(CannotTellError):
            torch.ops.capturelint_tests.compiled(torch.ones(3, device="cuda"))
        (told,) = backend.unsupported()
        assert told.startswith("the custom operator capturelint_tests::compiled, at ")

    in_session(body)


def test_a_branch_on_the_device_reads_on_the_host(in_session: InSession) -> None:
    def body(backend: SimulatedBackend) -> None:
        ones = torch.ones(3, device="cuda")

        def branches() -> torch.Tensor:
            chosen: torch.Tensor = torch.cond(
                ones.sum() > 0, lambda x: x * 2, lambda x: x * 3, (ones,)
            )
            return chosen

        assert branches().tolist() == [2, 2, 2]
        with pytest.raises(SimulatedCaptureError):
            backend.capture(branches)

    in_session(body)


def test_other_operators_on_functions_cannot_be_told(in_session: InSession) -> None:
    def body(backend: SimulatedBackend) -> None:
        from torch.nn.attention.flex_attention import flex_attention

        q = torch.ones(1, 1, 16, 16, device="cuda")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # that it was not compiled
            with pytest.raises(CannotTellError):
                flex_attention(q, q, q)
        (told,) = backend.unsupported()
        assert told.startswith("the higher-order operator flex_attention, at ")

    in_session(body)


class _Functions(TorchFunctionMode):
    def __init__(self) -> None:
        super().__init__()
        self.seen: list[str] = []

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.seen.append(getattr(func, "__name__", str(func)))
        return func(*args, **(kwargs or {}))


class _Operators(TorchDispatchMode):
    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.seen: list[str] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.seen.append(str(func))
        return func(*args, **(kwargs or {}))


def test_modes_of_the_user_see_each_operation_once(in_session: InSession) -> None:
    def body(_: SimulatedBackend) -> None:
        with _Functions() as functions, _Operators() as operators:
            y = torch.ones(2, device="cuda").relu()
        assert functions.seen == ["ones", "relu"]
        assert operators.seen == ["aten.ones.default", "aten.relu.default"]
        assert y.is_cuda

    in_session(body)


def test_threads_started_inside_are_covered(in_session: InSession) -> None:
    def body(_: SimulatedBackend) -> None:
        made: list[torch.Tensor] = []
        thread = threading.Thread(target=lambda: made.append(torch.ones(2, device="cuda") * 2))
        thread.start()
        thread.join()
        assert made[0].is_cuda
        assert made[0].tolist() == [2, 2]

    in_session(body)


def test_composite_operators_are_taken_apart_in_inference_mode(in_session: InSession) -> None:
    def body(backend: SimulatedBackend) -> None:
        with torch.inference_mode():
            here = torch.ones(2, 3)
            there = here.to("cuda")
            assert there.is_cuda
            assert functional.linear(there, there).is_cuda
            with pytest.raises(SimulatedCaptureError):
                backend.capture(lambda: here.to("cuda"))

    in_session(body)


def test_operators_with_a_kernel_run_whole(in_session: InSession) -> None:
    def body(backend: SimulatedBackend) -> None:
        images = torch.ones(2, 3, 4, 4, device="cuda")
        mean, variance = torch.zeros(3, device="cuda"), torch.ones(3, device="cuda")
        with backend.recording() as launches:
            functional.batch_norm(images, mean, variance, training=True)
            functional.interpolate(images, scale_factor=2)
        operations = [launch.operation for launch in launches.items]
        assert operations == ["aten.native_batch_norm.default", "aten.upsample_nearest2d.default"]

    in_session(body)


def test_function_transforms_run(in_session: InSession) -> None:
    def body(backend: SimulatedBackend) -> None:
        def squares(x: torch.Tensor) -> torch.Tensor:
            return (x * x).sum()

        check_replays(backend, torch.vmap(squares), normal(3, 4))
        check_replays(backend, torch.func.grad(squares), normal(3))

    in_session(body)


def test_scripted_and_traced_functions_run(in_session: InSession) -> None:
    def body(backend: SimulatedBackend) -> None:
        linear = nn.Linear(3, 3).cuda()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            traced = torch.jit.trace(linear, torch.ones(2, 3).cuda())  # type: ignore[no-untyped-call]
            scripted = torch.jit.script(linear)
        check_replays(backend, scripted, normal(2, 3))
        check_replays(backend, traced, normal(2, 3))

    in_session(body)


def test_ragged_tensors_run(in_session: InSession) -> None:
    def body(backend: SimulatedBackend) -> None:
        offsets = torch.tensor([0, 2, 5]).cuda()

        def doubled(x: torch.Tensor) -> torch.Tensor:
            ragged = torch.nested.nested_tensor_from_jagged(x, offsets)
            return (ragged * 2).values()

        check_replays(backend, doubled, normal(5, 3))

    in_session(body)
