"""Conditions: which arm a capture takes, and what a test tells of the names in it."""

from __future__ import annotations

from pathlib import Path

from tests.unit.lint.probe import kinds


def test_a_test_for_none_narrows_both_arms(tmp_path: Path) -> None:
    told = kinds(
        tmp_path,
        """
        def step(x: Tensor | None, y: Tensor | None = None):
            x  #: device tensor, optional
            if x is None:
                x  #: host value, = None
            else:
                x  #: device tensor, not optional
            if y is not None:
                y  #: device tensor, not optional
            if x is None or y is None:
                return None
            x  #: device tensor, not optional
            y  #: device tensor, not optional
        """,
    )

    assert told.seen == told.wanted


def test_a_tensor_that_is_surely_there_is_never_none(tmp_path: Path) -> None:
    told = kinds(
        tmp_path,
        """
        def step(x: Tensor):
            y = x + 1
            if y is None:
                x  #: never runs
            if not y is not None:
                x  #: never runs
            z = None
            if z is not None:
                x  #: never runs
            x  #: device tensor
        """,
    )

    assert told.seen == told.wanted


def test_isinstance_narrows_to_a_tensor_a_number_or_a_class(tmp_path: Path) -> None:
    told = kinds(
        tmp_path,
        """
        class Cache:
            def __init__(self, x: Tensor):
                self.keys = x

        def step(a, b, c, d):
            if isinstance(a, torch.Tensor):
                a  #: device tensor
            if isinstance(b, (int, float)):
                b  #: host value
            if isinstance(c, Cache):
                c.keys  #: device tensor
            if torch.is_tensor(d):
                d  #: device tensor
            else:
                d  #: unknown
            a  #: unknown
        """,
    )

    assert told.seen == told.wanted


def test_isinstance_of_what_is_known_takes_one_arm(tmp_path: Path) -> None:
    told = kinds(
        tmp_path,
        """
        def step(x: Tensor):
            y = x + 1
            if isinstance(y, float):
                x  #: never runs
            if not isinstance(y, torch.Tensor):
                x  #: never runs
            n = 3
            if isinstance(n, Tensor):
                x  #: never runs
            assert isinstance(y, torch.Tensor)
            y  #: device tensor
        """,
    )

    assert told.seen == told.wanted


def test_an_assertion_narrows_what_follows(tmp_path: Path) -> None:
    told = kinds(
        tmp_path,
        """
        def step(a: Tensor | None, b):
            assert a is not None and isinstance(b, Tensor), f"{b}"
            a  #: device tensor, not optional
            b  #: device tensor
        """,
    )

    assert told.seen == told.wanted


def test_a_capture_takes_the_arm_for_captures(tmp_path: Path) -> None:
    told = kinds(
        tmp_path,
        """
        def step(x: Tensor):
            if torch.cuda.is_current_stream_capturing():
                x  #: device tensor
            else:
                x  #: never runs
            if not torch.cuda.is_current_stream_capturing():
                x  #: never runs
            y = x if torch.cuda.is_current_stream_capturing() else 1
            y  #: device tensor
            if torch.jit.is_scripting() or torch.jit.is_tracing():
                x  #: never runs
            if not torch.jit.is_scripting() and x.shape[0]:
                x  #: device tensor
        """,
    )

    assert told.seen == told.wanted


def test_a_guard_may_leave_early(tmp_path: Path) -> None:
    told = kinds(
        tmp_path,
        """
        def step(x: Tensor):
            if torch.cuda.is_current_stream_capturing():
                return x
            x  #: never runs

        def forward(x: Tensor):
            if not torch.cuda.is_current_stream_capturing():
                x  #: never runs
                return x
            x  #: device tensor
        """,
    )

    assert told.seen == told.wanted


def test_a_guard_may_be_kept_in_a_name_or_come_from_a_helper(tmp_path: Path) -> None:
    told = kinds(
        tmp_path,
        """
        from torch.cuda import is_current_stream_capturing as busy

        def is_eager():
            return not torch.cuda.is_current_stream_capturing()

        def both(flag):
            return flag and busy()

        def step(x: Tensor):
            capturing = torch.cuda.is_current_stream_capturing()
            if not capturing:
                x  #: never runs
            if is_eager():
                x  #: never runs
            if not busy():
                x  #: never runs
            check = not busy() and x.is_cuda
            if check:
                x  #: never runs
            if both(capturing):
                x  #: device tensor
            else:
                x  #: never runs
        """,
    )

    assert told.seen == told.wanted


def test_a_guard_excludes_the_right_side_of_a_chain(tmp_path: Path) -> None:
    told = kinds(
        tmp_path,
        """
        def looked_at(x: Tensor):
            x  #: never runs
            return x

        def step(x: Tensor, n: int):
            capturing = torch.cuda.is_current_stream_capturing()
            if not capturing and looked_at(x):
                pass
            if n and not capturing and looked_at(x):
                pass
            if capturing or looked_at(x):
                x  #: device tensor
            y = not capturing and looked_at(x)
            z = looked_at(x) if not capturing else x
        """,
    )

    assert told.seen == told.wanted


def test_an_uncertain_operand_does_not_make_a_chain_certain(tmp_path: Path) -> None:
    told = kinds(
        tmp_path,
        """
        def step(x: Tensor, n: int):
            capturing = torch.cuda.is_current_stream_capturing()
            if capturing and n:
                x  #: device tensor
            else:
                x  #: device tensor
            if not capturing or n:
                x  #: device tensor
            else:
                x  #: device tensor
        """,
    )

    assert told.seen == told.wanted


def test_short_circuits_narrow_their_right_side(tmp_path: Path) -> None:
    told = kinds(
        tmp_path,
        """
        def kept(y):
            y  #: device tensor, not optional
            return y

        def step(x: Tensor | None):
            x is not None and kept(x)
            x is None or kept(x)
            kept(x) if x is not None else None
        """,
    )

    assert told.seen == told.wanted


def test_or_falls_back_from_none(tmp_path: Path) -> None:
    told = kinds(
        tmp_path,
        """
        def step(x: Tensor, size: int | None = None):
            y = None or x
            y  #: device tensor, not optional
            z = x if size else None
            (z or x)  #: device tensor, not optional
            n = size or 4
            n  #: host value
            x and 1  #: device tensor, mixed
        """,
    )

    assert told.seen == told.wanted


def test_comparisons_of_tensors_are_masks_and_of_others_are_not(tmp_path: Path) -> None:
    told = kinds(
        tmp_path,
        """
        def step(x: Tensor, n: int):
            x > 0  #: device tensor, bool
            x.sum() == n  #: device tensor, bool, rank 0
            x is None  #: host value
            x in [1]  #: host value
            x == "mean"  #: host value
            x.cpu() > 0  #: host tensor, bool
            x.shape[0] > n  #: host value
            x.dtype == torch.float32  #: host value
            1 < 2  #: host value, = True
            "a" in ("b", "c")  #: host value, = False
            not n  #: host value
        """,
    )

    assert told.seen == told.wanted


def test_a_constant_decides_its_branch(tmp_path: Path) -> None:
    told = kinds(
        tmp_path,
        """
        DEBUG = False

        def mode():
            return "fast"

        def step(x: Tensor):
            if DEBUG:
                x  #: never runs
            if mode() == "fast":
                x  #: device tensor
            else:
                x  #: never runs
            while False:
                x  #: never runs
        """,
    )

    assert told.seen == told.wanted


def test_captured_code_runs_on_a_gpu(tmp_path: Path) -> None:
    told = kinds(
        tmp_path,
        """
        def step(x: Tensor):
            if x.device.type == "cpu":
                x  #: never runs
            if x.device.type in ("cpu", "mps"):
                x  #: never runs
            if x.is_cuda:
                x  #: device tensor
            else:
                x  #: never runs
            if not torch.cuda.is_available():
                x  #: never runs
            if x.cpu().is_cuda:
                x  #: never runs
            if x.device == torch.device("cpu"):
                x.sum()  #: never runs
            if x.device != other.device:
                x.mean()  #: device tensor
        """,
    )

    assert told.seen == told.wanted


def test_an_attribute_is_narrowed_until_it_is_assigned(tmp_path: Path) -> None:
    told = kinds(
        tmp_path,
        """
        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.bias = None

            def set(self, bias: Tensor):
                self.bias = bias

            def forward(self, x: Tensor):
                self.bias  #: device tensor, optional
                if self.bias is None:
                    self.bias  #: host value, = None
                    return x
                self.bias  #: device tensor, not optional
                self.bias = 3
                self.bias  #: host value, = 3
        """,
    )

    assert told.seen == told.wanted


def test_a_name_bound_anew_forgets_its_attributes(tmp_path: Path) -> None:
    told = kinds(
        tmp_path,
        """
        def step(box, other):
            box.x = torch.ones(2, device="cuda")
            box.x  #: device tensor
            box = other
            box.x  #: unknown
        """,
    )

    assert told.seen == told.wanted


def test_code_whose_waits_are_declared_is_not_captured(tmp_path: Path) -> None:
    told = kinds(
        tmp_path,
        """
        from vllm.utils import gpu_sync_allowed

        def step(x: Tensor):
            with gpu_sync_allowed():
                x  #: never runs
            x  #: device tensor
        """,
        preset=("vllm",),
    )

    assert told.seen == told.wanted


def test_an_assertion_that_fails_under_capture_ends_the_function(tmp_path: Path) -> None:
    told = kinds(
        tmp_path,
        """
        def step(x: Tensor, batch, n: int):
            assert torch.cuda.is_current_stream_capturing()
            if n:
                assert batch.forward_mode.is_extend()
                x  #: device tensor
            if n > 1:
                assert batch.forward_mode.is_idle()
                x  #: never runs
            x  #: device tensor
        """,
        preset=("sglang",),
    )

    assert told.seen == told.wanted


def test_a_size_is_never_none(tmp_path: Path) -> None:
    told = kinds(
        tmp_path,
        """
        def longest(x, target: int | None = None):
            return target if target is not None else x.max()

        def step(x: Tensor, n: int | None = None):
            longest(x, x.shape[1])  #: shape-like, int
            if x.shape[0] is None:
                x  #: never runs
            if n is None:
                x  #: device tensor
        """,
    )

    assert told.seen == told.wanted
