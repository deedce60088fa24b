"""What is said of rewritten functions beside their code."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import torch

from capturelint.rewrite.proof.function import Rewriting


def notes_on(done: Sequence[Rewriting], backend: str) -> Iterator[str]:
    """Yield what the proof of the functions of a file rests on, and what they do otherwise."""
    if not done:
        return
    how = "bit for bit" if all(one.comparison.is_exact for one in done) else "within tolerance"
    has_gradients = all(one.comparison.has_gradients for one in done)
    gradients = "gradients of finite inputs too" if has_gradients else "not run with gradients"
    unless = ", where the old code did not raise" if any(o.is_unsafe for o in done) else ""
    yield (
        f"the same {how}, {gradients}, in the shapes and types of the case{unless};"
        f" torch {torch.__version__}, {backend}"
    )
    if any(one.comparison.fills_gradients for one in done):
        yield "gradients that were None are zeros now, which weight decay tells apart"
    if any(one.comparison.copies for one in done):
        yield "a result no longer shares memory with what the old code returned itself"
    yield from dict.fromkeys(note for one in done for note in one.notes)
