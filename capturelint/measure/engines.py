"""The ladders that engines capture by themselves, and the options that give them another one.

Read in the sources of vLLM 0.33.0 and SGLang 0.5.23. A ladder is in rows of the step; with
`rows_per_request` above 1 (speculative decoding: one and the drafted tokens) a decoding request has
that many. `largest`: rows; it is a multiple of `rows_per_request`, as every size that comes back.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

VLLM = "vLLM 0.33"
SGLANG = "SGLang 0.5.23"
# vllm/config/vllm.py, `_set_cudagraph_sizes`: what it stops at unless told (1024 on B200 and its kin).
VLLM_CEILING = 512


def powers_of_two(largest: int, rows_per_request: int) -> list[int]:
    """Return 1, 2, 4, ... requests and the largest, in rows."""
    requests = largest // rows_per_request
    doubled = [1 << power for power in range(requests.bit_length())]
    return [count * rows_per_request for count in sorted({*doubled, requests})]


def vllm_sizes(largest: int, rows_per_request: int) -> list[int]:
    """Return what vLLM captures for decoding up to `largest` rows, `--max-num-seqs` as large.

    1, 2, 4, then steps of 8 below 256 and of 16 from there, and the largest; with speculative decoding
    also these numbers of requests (`_set_cudagraph_sizes` in vllm/config/vllm.py), each then rounded up
    to whole requests (`_init_candidates` in vllm/v1/worker/gpu/cudagraph_utils.py). Its ceiling of 512
    rows is left out here.
    """
    wanted = {*_vllm_grid(largest), largest}
    if rows_per_request > 1:
        requests = largest // rows_per_request
        wanted |= {count * rows_per_request for count in (*_vllm_grid(requests), requests)}
    rounded = {-(-size // rows_per_request) * rows_per_request for size in wanted}
    return sorted(size for size in rounded if size <= largest)


def sglang_sizes(largest: int, rows_per_request: int) -> list[int]:
    """Return what SGLang captures for decoding up to `largest` rows, in rows.

    Its lists are of requests, the denser one for speculative decoding, and end with the largest
    (`generate_decode_cuda_graph_batch_sizes` in sglang/srt/arg_groups/cuda_graph_hook.py).
    """
    requests = largest // rows_per_request
    if rows_per_request == 1:
        spans = [(1, 2, 1), (4, 12, 4), (16, 256, 8), (272, 511, 16), (512, requests, 32)]
    else:
        spans = [(1, 8, 1), (10, 32, 2), (40, 64, 4), (72, 256, 8), (272, requests, 16)]
    counts = {count for low, high, step in spans for count in range(low, high + 1, step)}
    return sorted(n * rows_per_request for n in {*counts, requests} if n <= requests)


def vllm_flag(sizes: Sequence[int]) -> str:
    """Return the option of `vllm serve` that captures these sizes, which it counts in tokens.

    `compilation-config` takes them as `cudagraph_capture_sizes`; both at once are refused
    (vllm/engine/arg_utils.py).
    """
    return f"--cudagraph-capture-sizes {_words(sizes)}"


def sglang_flag(sizes: Sequence[int], rows_per_request: int) -> str:
    """Return the option of `sglang.launch_server` that captures these sizes, which it counts in requests.

    Until sgl-project/sglang#23906 it was `--cuda-graph-bs`, now one for each phase
    (sglang/srt/arg_groups/fields/exec_.py).
    """
    return f"--cuda-graph-bs-decode {_words(size // rows_per_request for size in sizes)}"


def _vllm_grid(largest: int) -> list[int]:
    grid = [1, 2, 4, *range(8, 256, 8), *range(256, largest + 1, 16)]
    return [size for size in grid if size <= largest]


def _words(sizes: Iterable[int]) -> str:
    return " ".join(str(size) for size in sizes)
