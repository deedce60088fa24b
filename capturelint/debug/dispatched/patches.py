"""Names of torch that are exchanged for a session and put back after it."""

from __future__ import annotations

from typing import Any

from torch.jit import _builtins

_ABSENT = object()


class Patches:
    """What was exchanged, to be put back in the opposite order."""

    def __init__(self) -> None:
        self._before: list[tuple[Any, str, object]] = []
        self._scripted: list[int] = []

    def put(self, owner: Any, name: str, value: object) -> None:
        """Exchange or add an attribute of a module, a class or another object."""
        before = vars(owner).get(name, _ABSENT)
        self._before.append((owner, name, before))
        self._stand_for(before, value)
        setattr(owner, name, value)

    def put_back(self) -> None:
        """Give every attribute the value that it had, or none."""
        while self._scripted:
            _operations().pop(self._scripted.pop(), None)
        while self._before:
            owner, name, value = self._before.pop()
            if value is _ABSENT:
                delattr(owner, name)
            else:
                setattr(owner, name, value)

    def _stand_for(self, before: object, value: object) -> None:
        """Let TorchScript take `value` for the operation that `before` is, and not compile it."""
        operation = _operations().get(id(before))
        if operation is not None:
            _operations()[id(value)] = operation
            self._scripted.append(id(value))


def _operations() -> dict[int, str]:
    """Return the operations that TorchScript knows, by `id` of torch's functions."""
    table: dict[int, str] = _builtins._get_builtin_table()  # type: ignore[no-untyped-call]  # noqa: SLF001
    return table
