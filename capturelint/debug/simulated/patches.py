"""Names of torch that are exchanged for a session and put back after it."""

from __future__ import annotations

from typing import Any

_ABSENT = object()


class Patches:
    """What was exchanged, to be put back in the opposite order."""

    def __init__(self) -> None:
        self._before: list[tuple[Any, str, object]] = []

    def put(self, owner: Any, name: str, value: object) -> None:
        """Exchange or add an attribute of a module, a class or another object."""
        self._before.append((owner, name, vars(owner).get(name, _ABSENT)))
        setattr(owner, name, value)

    def put_back(self) -> None:
        """Give every attribute the value that it had, or none."""
        while self._before:
            owner, name, value = self._before.pop()
            if value is _ABSENT:
                delattr(owner, name)
            else:
                setattr(owner, name, value)
