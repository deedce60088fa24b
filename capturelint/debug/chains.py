"""Chains of exceptions: which one was first, and which is about the capture."""

from __future__ import annotations

import re
from collections.abc import Sequence

# What errors of captures have in their text, as torch 2.6 to 2.13 and CUDA 12 and 13 word them.
_OF_A_CAPTURE = re.compile(
    r"captur|CUDA|cuBLAS|CUBLAS|cuDNN|CUDNN|cuFFT|CUFFT|cusolver|CUSOLVER|NCCL"
)


def chain_of(error: BaseException, *, before: BaseException | None = None) -> list[BaseException]:
    """Return `error` and those it came of, the oldest last.

    `before`: one that was being handled already, which is left out with all that it came of.
    """
    chain: list[BaseException] = []
    waiting = [error]
    while waiting:
        one = waiting.pop(0)
        if one is before or any(one is known for known in chain):
            continue
        chain.append(one)
        waiting += [cause for cause in (one.__cause__, one.__context__) if cause is not None]
    return chain


def oldest_of_capture(chain: Sequence[BaseException]) -> BaseException:
    """Return the first exception that has to do with the capture, else the first of all.

    A model may have handled others before: capturing then goes on inside its `except`.
    """
    return ([one for one in chain if is_of_capture(one)] or list(chain))[-1]


def is_of_capture(error: BaseException) -> bool:
    """Return whether an exception has to do with a capture, by its text."""
    return hasattr(error, "refusal") or _OF_A_CAPTURE.search(str(error)) is not None
