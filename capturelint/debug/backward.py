"""Whether a case that runs with gradients ever runs a backward pass: without one it is not judged."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from torch import Tensor

from capturelint.debug.trees.trees import leaves

NO_BACKWARD = (
    "no backward was run; return a step function that calls `loss.backward()` to judge one"
)


class Backward:
    """What was seen of one: `is_run`, and whether a result `is_wanting` one."""

    def __init__(self) -> None:
        self.is_run = self.is_wanting = False

    @property
    def notes(self) -> tuple[str, ...]:
        """Return what the user must know."""
        return (NO_BACKWARD,) if self.is_wanting and not self.is_run else ()

    def returned(self, result: object) -> None:
        """Look at what a call returned."""
        values = (leaf.value for leaf in leaves(result))
        self.is_wanting |= any(isinstance(one, Tensor) and one.requires_grad for one in values)

    @contextmanager
    def watching(self, tensors: Iterable[Tensor]) -> Iterator[None]:
        """See each backward inside that reaches one of `tensors`."""
        wanting = [one for one in tensors if one.requires_grad]
        # torch gives it no types.
        handles = [one.register_hook(self._saw) for one in wanting]  # type: ignore[no-untyped-call]
        try:
            yield
        finally:
            for handle in handles:
                handle.remove()

    def _saw(self, _gradient: Tensor) -> None:
        self.is_run = True
