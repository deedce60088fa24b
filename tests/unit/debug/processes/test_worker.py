"""What the worker makes of an engine that fails, by whether the device is still there."""

from __future__ import annotations

from typing import Any

import pytest

from capturelint.debug.backend import SpentError
from capturelint.debug.cases.mistakes import CaseError
from capturelint.debug.processes.worker import Tools, judged
from capturelint.debug.settings import Settings
from tests.unit.debug.processes.stand_in import StandInBackend


def _judged(error: Exception, *, spent: str) -> None:
    class Backend(StandInBackend):
        def spent(self) -> str:
            return spent

    def fails(*_: Any, **__: Any) -> Any:
        raise error

    tools = Tools(choose=lambda _: (Backend(), ()), judge=fails)  # type: ignore[arg-type,return-value]  # as much of a backend as this needs
    judged(lambda: None, Settings(), {}, lambda _: None, tools=tools)  # type: ignore[arg-type,return-value]  # is not called


def test_whatever_fails_once_the_device_is_lost_is_no_bug() -> None:
    with pytest.raises(SpentError, match=r"^the device is lost$"):
        _judged(
            RuntimeError("CUDA error: device-side assert triggered"), spent="the device is lost"
        )


def test_what_fails_on_a_device_that_works_is_our_bug() -> None:
    with pytest.raises(RuntimeError, match="of ours"):
        _judged(RuntimeError("of ours"), spent="")


def test_a_mistake_of_the_user_is_told_as_such() -> None:
    with pytest.raises(CaseError, match="of the user"):
        _judged(CaseError("of the user"), spent="the device is lost")
