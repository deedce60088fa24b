"""Which results lie in the memory of inputs or of state: another replay changes them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from torch import Tensor

from capturelint.debug.trees.memory import may_share
from capturelint.debug.trees.trees import leaves


def aliases(
    inputs: Mapping[str, object], results: object, state: Mapping[str, Tensor]
) -> tuple[str, ...]:
    """Return in words which tensors of `results` share memory with `inputs` or `state`."""
    places = [(f"the input `{path}`", tensor) for path, tensor in _tensors(inputs)]
    places += [(f"`{name}`", tensor) for name, tensor in state.items()]
    return tuple(
        f"{f'`{path}` of the result' if path else 'the result'} lies in the memory of {where}"
        for path, tensor in _tensors(results)
        for where in [
            next((name for name, one in places if tensor is one or may_share(tensor, one)), None)
        ]
        if where is not None
    )


def _tensors(tree: object) -> Iterator[tuple[str, Tensor]]:
    for leaf in leaves(tree):
        if isinstance(leaf.value, Tensor):
            yield leaf.path, leaf.value
