"""What engines capture by themselves, as their sources made it when they were run (see engines.py)."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from capturelint.measure import engines


def test_powers_of_two_end_with_the_largest() -> None:
    assert engines.powers_of_two(1, 1) == [1]
    assert engines.powers_of_two(24, 1) == [1, 2, 4, 8, 16, 24]
    assert engines.powers_of_two(42, 7) == [7, 14, 28, 42]


def test_vllm_takes_steps_of_8_then_of_16() -> None:
    assert engines.vllm_sizes(3, 1) == [1, 2, 3]
    assert engines.vllm_sizes(42, 1) == [1, 2, 4, 8, 16, 24, 32, 40, 42]
    assert engines.vllm_sizes(300, 1)[-5:] == [248, 256, 272, 288, 300]
    assert len(engines.vllm_sizes(512, 1)) == 51


def test_vllm_rounds_up_to_whole_requests_with_speculative_tokens() -> None:
    assert engines.vllm_sizes(42, 7) == [7, 14, 21, 28, 35, 42]
    assert engines.vllm_sizes(48, 3) == [3, 6, 9, 12, 18, 24, 33, 42, 48]


def test_sglang_takes_steps_of_8_16_and_32() -> None:
    assert engines.sglang_sizes(40, 1) == [1, 2, 4, 8, 12, 16, 24, 32, 40]
    assert engines.sglang_sizes(600, 1)[-5:] == [496, 512, 544, 576, 600]
    assert len(engines.sglang_sizes(512, 1)) == 52


def test_sglang_is_denser_with_speculative_tokens() -> None:
    assert engines.sglang_sizes(52, 4) == [4 * n for n in (1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 13)]


@pytest.mark.parametrize("sizes", [engines.powers_of_two, engines.vllm_sizes, engines.sglang_sizes])
@pytest.mark.parametrize("rows", [1, 2, 3, 5, 8])
def test_ladders_ascend_in_whole_requests_to_the_largest(
    sizes: Callable[[int, int], list[int]], rows: int
) -> None:
    for requests in range(1, 300, 7):
        found = sizes(requests * rows, rows)
        assert found == sorted(set(found))
        assert found[-1] == requests * rows
        assert all(size % rows == 0 for size in found)


def test_options_count_tokens_for_vllm_and_requests_for_sglang() -> None:
    assert engines.vllm_flag((4, 8, 32)) == "--cudagraph-capture-sizes 4 8 32"
    assert engines.sglang_flag((4, 8, 32), 4) == "--cuda-graph-bs-decode 1 2 8"
