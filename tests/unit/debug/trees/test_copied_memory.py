"""Copied tensors share memory with each other as the originals do, and none with those."""

from __future__ import annotations

import pytest
import torch

from capturelint.debug.trees.trees import copied


def memory(tensor: torch.Tensor) -> int:
    return tensor.untyped_storage().data_ptr()


def test_tensors_of_one_storage_stay_so_at_the_same_offsets_and_strides() -> None:
    base = torch.arange(24.0).view(4, 6)
    left, right, turned = base[:, :3], base[:, 3:], base.t()

    a, b, c = copied((left, right, turned))

    assert memory(a) == memory(b) == memory(c) != memory(base)
    for one, other in ((left, a), (right, b), (turned, c)):
        assert one.stride() == other.stride()
        assert one.storage_offset() == other.storage_offset()
        assert torch.equal(one, other)
    a.fill_(-1)
    assert torch.equal(c[:3], torch.full((3, 4), -1.0))
    assert base[0, 0] == 0


def test_a_tensor_held_twice_is_one_tensor_in_the_copy() -> None:
    tensor = torch.ones(2)

    one, other = copied((tensor, [tensor]))

    assert one is other[0]


def test_views_of_another_dtype_share_the_copied_memory() -> None:
    numbers = torch.arange(4, dtype=torch.int32)
    raw = numbers.view(torch.uint8)[4:8]

    copy, copied_raw = copied((numbers, raw))

    copied_raw.zero_()
    assert copy.tolist() == [0, 0, 2, 3]
    assert numbers.tolist() == [0, 1, 2, 3]


def test_a_small_view_does_not_copy_a_large_storage() -> None:
    base = torch.arange(10_000.0)

    copy = copied(base[1_001:1_010])

    assert copy.tolist() == base[1_001:1_010].tolist()
    assert copy.untyped_storage().nbytes() < 1_024
    assert copy.data_ptr() % 16 == base[1_001:1_010].data_ptr() % 16


def test_expanded_tensors_stay_expanded() -> None:
    copy = copied(torch.ones(1, 3).expand(5, 3))

    assert copy.shape == (5, 3)
    assert copy.stride() == (0, 1)


@pytest.mark.parametrize("shape", [(0,), (0, 3), ()])
def test_tensors_without_elements_or_dimensions_are_copied(shape: tuple[int, ...]) -> None:
    tensor = torch.ones(shape)

    copy = copied(tensor)

    assert copy.shape == shape
    assert torch.equal(copy, tensor)


def test_conjugated_and_negated_views_are_copied_as_such() -> None:
    base = torch.tensor([1 + 2j, 3 - 1j])

    plain, conjugated, negated = copied((base, base.conj(), base.conj().imag))

    assert conjugated.is_conj()
    assert negated.is_neg()
    assert torch.equal(conjugated.resolve_conj(), base.conj().resolve_conj())
    assert negated.tolist() == [-2.0, 1.0]
    assert memory(plain) == memory(conjugated) == memory(negated)


def test_a_conjugated_view_alone_is_copied_as_such() -> None:
    view = torch.tensor([1 + 2j, 3 - 1j]).conj()

    copy = copied(view)

    assert copy.is_conj()
    assert copy.tolist() == [1 - 2j, 3 + 1j]


def test_sparse_tensors_are_cloned() -> None:
    sparse = torch.eye(2).to_sparse()

    copy = copied(sparse)

    assert torch.equal(copy.to_dense(), torch.eye(2))
