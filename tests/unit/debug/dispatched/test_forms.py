"""Words of the table that have a meaning, operations that exist, and the predicates over arguments."""

# ruff: noqa: SLF001 - operators have names of their own
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import torch
from torch._ops import OpOverload

from capturelint.debug.dispatched.arguments import Arguments
from capturelint.debug.dispatched.forms import FORMS
from capturelint.operations.dispatched import DISPATCHED, FUSED, HANDLES

if TYPE_CHECKING:
    from capturelint.debug.simulated import SimulatedBackend
    from tests.unit.debug.conftest import InSession

aten: Any = torch.ops.aten
# In torch only where it was built for CUDA, or in other versions.
ELSEWHERE = {"aten::_int_mm"}


def test_every_form_of_the_table_has_a_meaning() -> None:
    words = {row.form for row in DISPATCHED} | {row.form for row in (*HANDLES, *FUSED)}

    assert words == set(FORMS)


@pytest.mark.parametrize(
    "name", sorted({row.op for row in DISPATCHED} | {row.op for row in (*HANDLES, *FUSED)})
)
def test_every_operation_is_known_to_torch(name: str) -> None:
    packet, _, overload = name.removeprefix("aten::").partition(".")
    if name not in ELSEWHERE:
        found = getattr(aten, packet)

        assert not overload or overload in found.overloads()


def arguments(func: OpOverload, *args: Any, **kwargs: Any) -> Arguments:
    nothing: Any = None
    return Arguments(func, args, kwargs, nothing)


def test_arguments_are_found_by_position_name_or_default() -> None:
    given = arguments(aten.add.Tensor, 1, other=2)

    assert (given["self"], given["other"], given["alpha"], given["unknown"]) == (1, 2, 1, None)


def fits(form: str, func: OpOverload, *args: Any, **kwargs: Any) -> bool:
    return FORMS[form](arguments(func, *args, **kwargs))


@pytest.mark.parametrize(
    ("tested", "elements", "many"),
    [(9, 1, False), (10, 1, True), (20, 5, True), (5, 20, False), (100, 128, True)],
)
def test_isin_sorts_many_elements(tested: int, elements: int, many: bool) -> None:
    isin = aten.isin.Tensor_Tensor
    values, few = torch.ones(elements), torch.ones(tested)

    assert fits("many elements", isin, values, few) is many
    assert not fits("many elements", isin, values, few, assume_unique=True)


def test_rows_are_long_along_their_dimension() -> None:
    tensor = torch.empty(3000, 4)

    assert fits("rows of more than 2048", aten.mode.default, tensor, 0)
    assert not fits("rows of more than 2048", aten.mode.default, tensor)
    assert not fits("rows of more than 2048", aten.mode.default, torch.ones(()))


def test_histograms_have_no_range_when_its_ends_are_equal() -> None:
    assert fits("no range", aten.histc.default, torch.ones(3), 4)
    assert not fits("no range", aten.histc.default, torch.ones(3), 4, 0, 1)


def test_matrices_are_several_empty_or_not_square() -> None:
    one, several = torch.ones(4, 4), torch.ones(2, 4, 4)
    cholesky, factor = aten.cholesky_inverse.default, aten.linalg_lu_factor_ex.default

    assert not fits("several matrices", cholesky, one)
    assert not fits("several matrices", cholesky, one[None])
    assert fits("several matrices", cholesky, several)
    assert fits("empty matrices", cholesky, several[:0])
    assert fits("matrices not square", factor, one[:2])
    assert not fits("matrices not square", factor, several)


def test_few_rows_are_compared_pair_by_pair() -> None:
    form, func = "more than 25 rows, the Euclidean distance", aten._cdist_forward.default
    few, many = torch.ones(25, 2), torch.ones(26, 2)

    assert not fits(form, func, few, few, 2.0, None)
    assert fits(form, func, few, many, 2.0, None)
    assert not fits(form, func, many, many, 1.0, None)
    assert not fits(form, func, many, many, 2.0, 2)


def test_only_batch_norms_that_cudnn_takes_need_it() -> None:
    form, func = "at least three dimensions, as cuDNN takes them", aten.native_batch_norm.default
    weight = torch.ones(2)
    rest = (None, None, True, 0.1, 1e-5)

    assert fits(form, func, torch.ones(3, 2, 4), weight, weight, *rest)
    assert not fits(form, func, torch.ones(3, 2), weight, weight, *rest)
    assert not fits(form, func, torch.ones(3, 2, 4), None, None, *rest)
    assert not fits(form, func, torch.ones(3, 2, 4).bfloat16(), weight, weight, *rest)


def test_attention_is_fused_by_dtype_and_alignment() -> None:
    func = aten.scaled_dot_product_attention.default

    def kernels(query: torch.Tensor, **options: Any) -> tuple[bool, bool]:
        given = (query, query, query)
        return (
            fits("attention as cuDNN takes it", func, *given, **options),
            fits("attention as torch fuses it", func, *given, **options),
        )

    full = torch.ones(1, 2, 3, 8)

    assert kernels(full) == (False, True)
    assert kernels(full.half()) == (True, True)
    assert kernels(full[..., :7]) == (False, False)
    assert kernels(full.half(), dropout_p=0.1) == (True, True)


def test_the_backward_of_a_product_is_seen(in_session: InSession) -> None:
    def body(_backend: SimulatedBackend) -> None:
        seen = []

        def look(grad: torch.Tensor) -> torch.Tensor:
            seen.append(fits("the backward of a product", aten.cumprod.default))
            return grad

        x: Any = torch.ones(3, device="cuda", requires_grad=True)
        x.register_hook(look)
        seen.append(fits("the backward of a product", aten.cumprod.default))
        (x * 2).sum().backward()

        assert seen == [False, False]

    in_session(body)
