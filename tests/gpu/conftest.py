"""Skip what needs a device where there is none, and say so."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

_HERE = Path(__file__).parent


def _missing() -> str:
    if find_spec("torch") is None:
        return "torch is not installed"
    from capturelint.debug.backends import why_no_device

    return why_no_device()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark each test of this folder, and skip it with the reason why there is no device."""
    own = [item for item in items if item.path.is_relative_to(_HERE)]
    missing = _missing() if own else ""
    for item in own:
        item.add_marker(pytest.mark.gpu)
        if missing:
            item.add_marker(pytest.mark.skip(reason=f"no GPU: {missing}"))
