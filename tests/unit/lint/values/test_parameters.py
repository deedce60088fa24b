"""Parameters: annotations, defaults, callers, names and use."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.lint.probe import kinds


@pytest.mark.parametrize(
    ("annotation", "facts"),
    [
        ("Tensor", "device tensor"),
        ("torch.Tensor", "device tensor"),
        ("'Tensor'", "device tensor"),
        ("torch.LongTensor", "device tensor, int"),
        ("torch.BoolTensor", "device tensor, bool"),
        ("torch.FloatTensor", "device tensor, float"),
        ("nn.Parameter", "device tensor"),
        ("Tensor | None", "device tensor, optional"),
        ("Optional[Tensor]", "device tensor, optional"),
        ("typing.Optional['Tensor']", "device tensor, optional"),
        ("Union[Tensor, None]", "device tensor, optional"),
        ("Annotated[Tensor, 3]", "device tensor"),
        ("Float[Tensor, 'b d']", "device tensor"),
        ("Mask", "device tensor, optional"),
        ("Tensor | int", "device tensor"),
        ("Tensor | Other", "unknown"),
        ("int", "host value"),
        ("float | None", "host value"),
        ("str", "host value"),
        ("torch.dtype", "host value"),
        ("torch.device", "host value"),
        ("torch.Size", "shape-like"),
        ("list[Tensor]", "host value"),
        ("Literal['a', 'b']", "host value"),
        ("None", "host value"),
        ("np.ndarray", "host value"),
        ("nn.Module", "module"),
        ("nn.Linear", "module"),
        ("Layer", "module"),
        ("Plain", "host value"),
        ("Callable[[Tensor], Tensor]", "unknown"),
        ("Any", "unknown"),
        ("Nowhere", "unknown"),
        ("T", "unknown"),
    ],
)
def test_an_annotation_says_what_a_parameter_is(
    annotation: str, facts: str, tmp_path: Path
) -> None:
    told = kinds(
        tmp_path,
        f"""
        import typing
        from typing import Annotated, Any, Callable, Literal, Optional, TypeVar, Union

        import numpy as np
        from jaxtyping import Float

        Mask = Tensor | None
        T = TypeVar("T")

        class Layer(nn.Module):
            pass

        class Plain:
            pass

        def step(first, second, given: {annotation}):
            given  #: {facts}
        """,
    )

    assert told.seen == told.wanted


@pytest.mark.parametrize(
    ("annotation", "facts"),
    [
        ("list[Tensor]", "device tensor"),
        ("Sequence[Tensor]", "device tensor"),
        ("tuple[Tensor, ...]", "device tensor"),
        ("tuple[Tensor, int]", "device tensor"),
        ("tuple[int, Tensor]", "host value"),
        ("dict[str, Tensor]", "device tensor"),
        ("list[list[int]]", "host value"),
        ("list", "unknown"),
    ],
)
def test_an_annotation_of_a_container_says_what_it_holds(
    annotation: str, facts: str, tmp_path: Path
) -> None:
    told = kinds(
        tmp_path,
        f"""
        from collections.abc import Sequence

        def step(first, given: {annotation}):
            given[0]  #: {facts}
        """,
    )

    assert told.seen == told.wanted


def test_defaults_tell_of_numbers_and_nothing_of_none(tmp_path: Path) -> None:
    told = kinds(
        tmp_path,
        """
        def step(first, scale=1.0, name="x", flag=False, mask=None, *, size=2, rest=None, **more):
            scale  #: host value
            name  #: host value
            flag  #: host value
            mask  #: unknown
            size  #: host value
            rest  #: unknown
            more["a"]  #: unknown
        """,
    )

    assert told.seen == told.wanted


def test_what_callers_pass_tells_where_words_are_missing(tmp_path: Path) -> None:
    told = kinds(
        tmp_path,
        """
        def helper(a, b, c=None, *, d, e=1):
            a  #: device tensor
            b  #: shape-like
            c  #: host tensor
            d  #: host value, = 3
            e  #: host value, = 1

        def step(x: Tensor):
            helper(x, x.shape[0], x.cpu(), d=3)
        """,
    )

    assert told.seen == told.wanted


def test_what_two_callers_pass_is_what_they_agree_on(tmp_path: Path) -> None:
    told = kinds(
        tmp_path,
        """
        def helper(a, b, c, d):
            a  #: device tensor
            b  #: device tensor, mixed
            c  #: host value
            d  #: device tensor
            return a

        def step(x: Tensor, unheard):
            helper(x, x, 1, x)
            helper(x + 1, 2, 2, unheard)
        """,
    )

    assert told.seen == told.wanted


def test_a_caller_knows_better_than_the_annotation_of_a_helper(tmp_path: Path) -> None:
    told = kinds(
        tmp_path,
        """
        def helper(a: Tensor, b: Tensor, c: Tensor | None = None):
            a  #: host tensor
            b  #: device tensor, int
            c  #: host value, = None

        def step(x: Tensor):
            helper(x.cpu(), x.long())
        """,
    )

    assert told.seen == told.wanted


def test_star_arguments_hide_what_is_passed(tmp_path: Path) -> None:
    told = kinds(
        tmp_path,
        """
        def helper(a, b=None, c=None):
            a  #: device tensor
            b  #: device tensor
            c  #: unknown

        def open_helper(a, b=None):
            a  #: device tensor
            b  #: unknown

        def step(x: Tensor, rest, names):
            pair = (x, x)
            helper(*pair, **names)
            open_helper(x, *rest)
        """,
    )

    assert told.seen == told.wanted


def test_a_method_that_only_tensors_have_proves_one_and_a_shared_one_suggests_it(
    tmp_path: Path,
) -> None:
    told = kinds(
        tmp_path,
        """
        def step(first, used, shared, named, plain):
            used.unsqueeze(0)
            used  #: device tensor
            used.unsqueeze(0)  #: device tensor
            shared.mean()
            shared  #: device tensor, weak
            shared.sum()  #: device tensor, weak, rank 0
            named.append(1)
            named  #: unknown
            plain  #: unknown
        """,
    )

    assert told.seen == told.wanted


def test_the_first_argument_of_a_module_is_supposed_to_be_a_tensor(tmp_path: Path) -> None:
    told = kinds(
        tmp_path,
        """
        class Plain(nn.Module):
            def forward(self, x, y):
                x  #: device tensor, weak
                y  #: unknown

        class OfLists(nn.Module):
            def forward(self, xs):
                xs  #: unknown
                for x in xs:
                    pass

        class OfDicts(nn.Module):
            def forward(self, batch):
                batch["x"]  #: unknown

        class OfObjects(nn.Module):
            def forward(self, batch):
                batch  #: unknown
                return batch.fields

        class Unpacked(nn.Module):
            def forward(self, xs):
                xs  #: unknown
                return unknown(*xs)
        """,
    )

    assert told.seen == told.wanted


def test_of_a_function_the_first_argument_is_supposed_to_be_a_tensor(tmp_path: Path) -> None:
    told = kinds(
        tmp_path,
        """
        def step(x, y):
            x  #: device tensor, weak
            y  #: unknown
        """,
    )

    assert told.seen == told.wanted


@pytest.mark.parametrize("annotation", ["Callable[[int], int]", "type[Layer]", "T | int"])
def test_an_annotation_other_than_a_tensor_is_believed(annotation: str, tmp_path: Path) -> None:
    told = kinds(
        tmp_path,
        f"""
        class Layer(nn.Module):
            def forward(self, x: {annotation}):
                x  #: unknown
        """,
    )

    assert told.seen == told.wanted


def test_labels_are_not_given_to_a_root_and_debug_flags_not_set(tmp_path: Path) -> None:
    told = kinds(
        tmp_path,
        """
        class Model(nn.Module):
            def forward(self, x: Tensor, labels=None, mask: Tensor | None = None, debug=False):
                if labels is not None:
                    x  #: never runs
                if debug:
                    x  #: never runs
                if mask is not None:
                    x  #: device tensor
                if self.training:
                    x  #: never runs
                if self.training and labels is not None:
                    x  #: never runs
                if not self.training:
                    x  #: device tensor
        """,
    )

    assert told.seen == told.wanted


def test_a_flag_of_a_root_may_be_set_but_for_debugging(tmp_path: Path) -> None:
    told = kinds(
        tmp_path,
        """
        class Model(nn.Module):
            def forward(self, x: Tensor, use_cache=False, mode="sum", bias=None):
                if use_cache:
                    x  #: device tensor
                else:
                    x  #: device tensor
                if mode == "mean":
                    x  #: device tensor
                if bias is None:
                    x  #: device tensor
                else:
                    x  #: device tensor
        """,
    )

    assert told.seen == told.wanted


def test_a_helper_runs_only_with_what_it_is_given(tmp_path: Path) -> None:
    told = kinds(
        tmp_path,
        """
        def helper(x, flag=False, mask=None, mode="sum"):
            if flag:
                x  #: never runs
            if mask is not None:
                x  #: never runs
            if mode == "sum":
                x  #: device tensor
            else:
                x  #: never runs
            return x

        def step(x: Tensor):
            helper(x)
            helper(x + 1, mode="sum")
        """,
    )

    assert told.seen == told.wanted


def test_names_of_devices_dtypes_and_configurations(tmp_path: Path) -> None:
    told = kinds(
        tmp_path,
        """
        def step(first, device, dtype, config, quant_config):
            device  #: host value
            dtype  #: host value
            config  #: host value
            quant_config.bits  #: host value
            torch.zeros(2, device=device)  #: device tensor
        """,
    )

    assert told.seen == told.wanted


def test_what_a_root_compares_with_none_may_be_none(tmp_path: Path) -> None:
    told = kinds(
        tmp_path,
        """
        def helper(x: Tensor, mask: Tensor):
            if mask is None:
                x  #: never runs

        def step(x: Tensor, mask: Tensor, table: Tensor, size: int):
            table  #: device tensor, not optional
            helper(x, table)
            if mask is not None:
                mask  #: device tensor, not optional
                helper(x, mask)
            elif size is not None and x.sum():
                mask  #: host value, = None
                x  #: device tensor
        """,
    )

    assert told.seen == told.wanted


@pytest.mark.parametrize(
    "annotation", ["Tensor | float", "float | Tensor | int", "torch.Tensor | float | int"]
)
def test_of_a_tensor_or_a_number_a_root_is_given_the_tensor(
    annotation: str, tmp_path: Path
) -> None:
    told = kinds(
        tmp_path,
        f"""
        def helper(x: Tensor, t: {annotation}):
            if not torch.is_tensor(t):
                x  #: device tensor

        def step(x: Tensor, t: {annotation}, scale: {annotation} = 1.0):
            t  #: device tensor
            scale  #: host value
            steps = t
            if not torch.is_tensor(steps):
                x  #: never runs
            if not isinstance(t, Tensor):
                x  #: never runs
            helper(x, x.shape[0])
            helper(x, t)
        """,
    )

    assert told.seen == told.wanted
