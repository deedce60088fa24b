"""Draws depend on seed and name, and keep to their shape and pool."""

from __future__ import annotations

import torch

from capturelint.debug.cases.hub.draws import Fixed, Noise, Padding, Tokens, drawn


def test_the_same_seed_and_name_draw_the_same() -> None:
    draws = {"a": Noise((2, 3)), "b": Noise((2, 3))}
    one, again, other = drawn(draws, 1), drawn(draws, 1), drawn(draws, 2)

    assert torch.equal(one["a"], again["a"])
    assert not torch.equal(one["a"], one["b"])
    assert not torch.equal(one["a"], other["a"])


def test_tokens_come_out_of_their_pool() -> None:
    ids = drawn({"ids": Tokens((50, 4), (3, 7))}, 0)["ids"]

    assert ids.shape == (50, 4)
    assert set(ids.flatten().tolist()) == {3, 7}


def test_padding_varies_by_seed_in_the_first_row_only() -> None:
    right = [drawn({"mask": Padding((2, 5), left=False)}, seed)["mask"] for seed in range(20)]
    left = [drawn({"mask": Padding((2, 5), left=True)}, seed)["mask"] for seed in range(20)]

    assert {tuple(mask[0].tolist()) for mask in right} == {
        (1, 1, 1, 1, 0),
        (1, 1, 1, 0, 0),
        (1, 1, 0, 0, 0),
    }
    assert {tuple(mask[0].tolist()) for mask in left} == {
        (0, 1, 1, 1, 1),
        (0, 0, 1, 1, 1),
        (0, 0, 0, 1, 1),
    }
    assert all(mask[1].tolist() == [1] * 5 for mask in (*right, *left))


def test_fixed_values_fill_their_shape() -> None:
    assert drawn({"x": Fixed((1, 3), (1, 4, 4))}, 0)["x"].tolist() == [[1, 4, 4]]
    assert drawn({"x": Fixed((2,), (0.5,), whole=False)}, 3)["x"].tolist() == [0.5, 0.5]
