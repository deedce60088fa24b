"""What a backend offers: a device to run on, capture and replay, and what a capture would trip over."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from capturelint.errors import CapturelintError
from capturelint.verdict import Frozen, Hazard, Place

if TYPE_CHECKING:
    from capturelint.debug.dispatched.launches import Launches

_Value = TypeVar("_Value")


class BackendError(CapturelintError):
    """A backend cannot be used here."""


class CannotTellError(NotImplementedError):
    """The backend met something it cannot run faithfully; the module is undecided, not passed.

    Model code may catch it, so a backend also reports it under `unsupported`.
    """


class SpentError(BaseException):
    """The device is lost to this process, or not fit to be judged on: a fresh one must go on.

    No `Exception`, because nothing that handles those of user code can handle it.
    """


class ReplayKillsError(RuntimeError):
    """A replay did what kills a device. The message is what CUDA would say.

    For a backend whose device survives everything; else `spent` tells of it.
    """


@dataclass(frozen=True, slots=True)
class Counts:
    """Work of one call. `kernels`: that it runs eagerly. `nodes`: kernels in a graph of it, `others`.

    `others`: copies, fills and more in that graph. Libraries may choose other kernels while capturing.
    """

    kernels: int
    nodes: int
    others: int

    def __str__(self) -> str:
        """Return it in words."""
        more = f" and {_counted(self.others, 'other node')}" if self.others else ""
        eager = _counted(self.kernels, "kernel")
        return f"an eager call runs {eager}, a graph holds {_counted(self.nodes, 'kernel')}{more}"


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


class Unowned(Protocol):
    """Memory that replays of a graph may use and that no tensor owns: freed, or never written."""

    def fill(self, byte: int) -> None:
        """Write a byte all over it. What tensors own is not touched."""

    def restore(self) -> None:
        """Let it hold what it held before it was first filled."""


class Captured(Protocol):
    """One captured graph. `output`: what the captured call returned, in the graph's memory.

    `is_empty`: it holds no work at all.
    """

    output: object
    is_empty: bool

    def replay(self) -> None:
        """Run the captured work again on what its static inputs hold now."""

    def unowned(self) -> Unowned | None:
        """Return the memory that its replays may use and nobody owns now; None if there is none."""

    def close(self) -> None:
        """Give its memory back. It cannot be replayed afterwards."""


class Backend(Protocol):
    """A device that can capture. All methods but `session` are called inside a session.

    `name`: `simulated` or `cuda`.
    """

    name: str

    def session(self) -> AbstractContextManager[None]:
        """Return a context in which user code runs: there, `cuda` is this backend's device."""

    def place(self, value: _Value) -> _Value:
        """Return `value` on the device: a module, or any tree of tensors made on the CPU."""

    def seed(self, seed: int) -> None:
        """Seed Python's, numpy's and torch's generators, on the host and on the device."""

    def warming_up(self) -> AbstractContextManager[None]:
        """Return a context that runs work as before a capture: on a side stream."""

    def capture(self, call: Callable[[], object]) -> Captured:
        """Capture `call`. Raises what it raised, or what ending the capture raised.

        The first exception is in the `__context__` chain. Host and device state are as usable
        afterwards as before.
        """

    def counts(self, call: Callable[[], object]) -> Counts | None:
        """Return what one call runs eagerly and what a graph of it holds; None if it is not told.

        Costs a capture, which is thrown away, and an eager call. Raises what these raise.
        """

    def as_if_capturing(
        self, module: Callable[[], str], *, compiled: bool = False
    ) -> AbstractContextManager[list[Hazard]]:
        """Return a context that runs eagerly as if capturing and fills the list with hazards.

        Each line is listed once for each module that ran it, when the context is left. `module`
        tells the path of the module that is running. `compiled`: what `torch.compile` made runs as
        it is, not eagerly, so that less is seen of each operation.
        """

    def freed(
        self, call: Callable[[], object], after: Callable[[], object], line: tuple[str, int]
    ) -> Place | None:
        """Return the user's line that frees, in `after`, memory that `call` is given at `line`.

        `line`: path and number. None where nothing is seen to free it.
        """

    def recording(self) -> AbstractContextManager[Any]:
        """Return a context whose value records what an eager call launches, for `frozen`."""

    def frozen(self, first: object, second: object) -> tuple[Frozen, ...]:
        """Return what differs between the recordings of two calls: what a graph would bake in."""

    def launched(self, recording: object) -> Launches:
        """Return what a recorded call launched."""

    def unsupported(self) -> tuple[str, ...]:
        """Return what the backend could not run faithfully since it was last asked, in words."""

    def runs_compiled(self) -> bool:
        """Return whether the case has code that `torch.compile` made, and runs it as such."""

    def eagerly(self) -> AbstractContextManager[None]:
        """Return a context in which compiled code runs eagerly, so that operations can be watched."""

    def allocated(self) -> int | None:
        """Return the bytes that torch holds on the device now, None where that is not known.

        Costs a wait for the device.
        """

    def spent(self) -> str:
        """Return why this process cannot go on with the device, or "" if it can.

        Puts right what it can first. Costs a wait for the device.
        """

    def notes(self) -> tuple[str, ...]:
        """Return what the user must know about this run, such as parts that ran otherwise."""

    def environment(self) -> Mapping[str, str]:
        """Return versions and devices, by name."""
