"""The backend that needs no GPU: it runs on the host and refuses what a CUDA capture would refuse."""
# ruff: noqa: SLF001 - rests on private parts of torch, which selftest.py checks

from __future__ import annotations

import platform
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from traceback import walk_tb
from typing import Any, TypeVar, cast

import torch
from torch import nn

from capturelint.debug.backend import BackendError, CannotTellError, ReplayKillsError
from capturelint.debug.dispatched.differ import frozen_values
from capturelint.debug.dispatched.flags import engines_told
from capturelint.debug.dispatched.hazards import Hazards
from capturelint.debug.dispatched.launches import Launches
from capturelint.debug.seeding import seed_all
from capturelint.debug.simulated.autocast import casting
from capturelint.debug.simulated.capture import capturing, looking
from capturelint.debug.simulated.engine import errors_kept
from capturelint.debug.simulated.placing import placed
from capturelint.debug.simulated.selftest import check_torch
from capturelint.debug.simulated.simulator import Simulator
from capturelint.debug.simulated.surroundings import patched
from capturelint.debug.simulated.tape import Tape
from capturelint.debug.trees.scratch import Scratch
from capturelint.verdict import Frozen, Hazard

_Value = TypeVar("_Value")


# What kernels of the host say of an index, and what those of the device do.
_OUT_OF_RANGE = re.compile(r"\bindex\b.*\bout of (range|bounds)\b")
_ASSERTED = "CUDA error: device-side assert triggered"
_NEEDS_TRITON = "it launches a kernel of Triton's, which the simulator does not run"


class SimulatedGraph:
    """One captured graph of a simulator."""

    def __init__(self, simulator: Simulator, tape: Tape, output: object) -> None:
        self._simulator = simulator
        self._tape = tape
        self.output = output
        self.is_empty = tape.is_empty

    def replay(self) -> None:
        """Run the captured work again on what its static inputs hold now."""
        try:
            self._tape.replay(self._simulator.random)
        except (IndexError, RuntimeError) as error:
            if _OUT_OF_RANGE.search(str(error)):
                raise ReplayKillsError(f"{_ASSERTED} ({error})") from error
            raise

    def unowned(self) -> Scratch | None:
        """Return the memory that its replays may use and nobody owns now; None if there is none."""
        return self._tape.unowned()

    def close(self) -> None:
        """Give its memory back. It cannot be replayed afterwards."""
        self._tape.close()
        self.output = None


class SimulatedBackend:
    """A simulated `cuda:0`, usable for several sessions one after another."""

    name = "simulated"

    def __init__(self, capture_error_mode: str = "global") -> None:
        self._capture_error_mode = capture_error_mode
        self._active: Simulator | None = None
        self._is_checked = False

    @property
    def simulator(self) -> Simulator:
        """Return the simulator of the session that is open."""
        if self._active is None:
            raise BackendError("the simulator is used outside its session; open one first")
        return self._active

    @contextmanager
    def session(self) -> Iterator[None]:
        """Return a context in which user code runs: there, `cuda` is the simulated device.

        Only this thread is covered, and threads started inside. Raises BackendError if the torch
        that is installed does not behave as the simulator needs.
        """
        if not self._is_checked:
            with _opened() as trial:
                check_torch(trial)
            self._is_checked = True
        with _opened(self._capture_error_mode) as simulator:
            self._active, before = simulator, self._active
            try:
                yield
            finally:
                self._active = before

    def place(self, value: _Value) -> _Value:
        """Return `value` on the device: a module, or any tree of tensors made on the host."""
        if isinstance(value, nn.Module):
            return value.cuda()
        return placed(value, self.simulator)

    def seed(self, seed: int) -> None:
        """Seed Python's, numpy's and torch's generators, on the host and on the device."""
        seed_all(seed)

    @contextmanager
    def warming_up(self) -> Iterator[None]:
        """Return a context that runs work on a side stream, as before a capture.

        Raises `CannotTellError` where Triton raises: it has no GPU to launch a kernel on.
        """
        streams = self.simulator.streams
        with _without_triton(), streams.using(streams.new()):
            yield

    def capture(self, call: Callable[[], object]) -> SimulatedGraph:
        """Capture `call`. Raises what it raised, or what ending the capture raised.

        Raises `CannotTellError` where Triton raises: it has no GPU to launch a kernel on.
        """
        with _without_triton(), engines_told(), capturing(self.simulator) as tape:
            output = call()
        return SimulatedGraph(self.simulator, tape, output)

    def freed(
        self, call: Callable[[], object], after: Callable[[], object], line: tuple[str, int]
    ) -> None:
        """Return None: there is no allocator that could tell."""

    def counts(self, call: Callable[[], object]) -> None:
        """Return None: there are no kernels."""

    @contextmanager
    def as_if_capturing(
        self,
        module: Callable[[], str],
        *,
        compiled: bool = False,  # noqa: ARG002 - what is compiled runs eagerly here
    ) -> Iterator[list[Hazard]]:
        """Return a context that runs eagerly as if capturing and fills the list with hazards."""
        simulator = self.simulator
        listed: list[Hazard] = []
        hazards = simulator.hazards = Hazards(module)
        try:
            with engines_told(), looking(simulator):
                yield listed
        finally:
            simulator.hazards = None
            listed.extend(hazards.listed())

    @contextmanager
    def _recording(self) -> Iterator[Launches]:
        simulator = self.simulator
        launches = simulator.launches = Launches(simulator)
        try:
            yield launches
        finally:
            simulator.launches = None

    def recording(self) -> AbstractContextManager[Any]:
        """Return a context whose value records what an eager call launches, for `frozen`."""
        return self._recording()

    def frozen(self, first: object, second: object) -> tuple[Frozen, ...]:
        """Return what a graph would bake in: what differs between the recordings of two calls."""
        return frozen_values(cast("Launches", first), cast("Launches", second))

    def launched(self, recording: object) -> Launches:
        """Return what a recorded call launched."""
        return cast("Launches", recording)

    def unsupported(self) -> tuple[str, ...]:
        """Return what could not be run faithfully since it was last asked, in words."""
        simulator = self.simulator
        found = tuple(simulator.unsupported)
        simulator.unsupported.clear()
        return found

    def runs_compiled(self) -> bool:
        """Return False: what is compiled runs eagerly here."""
        return False

    def eagerly(self) -> AbstractContextManager[None]:
        """Return a context that changes nothing."""
        return nullcontext()

    def allocated(self) -> int | None:
        """Return None: memory of the simulated device is that of the host."""
        return None

    def spent(self) -> str:
        """Return "": a simulated device outlives everything."""
        return ""

    def notes(self) -> tuple[str, ...]:
        """Return what the user must know about this run, such as parts that ran otherwise."""
        return tuple(self.simulator.notes)

    def environment(self) -> Mapping[str, str]:
        """Return versions and devices, by name."""
        return {
            "backend": self.name,
            "device": "none, simulated on the host",
            "torch": torch.__version__,
            "python": platform.python_version(),
            "platform": platform.platform(terse=True),
        }


@contextmanager
def _opened(capture_error_mode: str = "global") -> Iterator[Simulator]:
    """Return a context in which the device of a new simulator is there."""
    if torch._C._get_dispatch_mode(torch._C._TorchDispatchModeKey.FAKE) is not None:
        raise BackendError("a session of the simulator, or of fake tensors, is already open here")
    simulator = Simulator(capture_error_mode)
    with patched(simulator), errors_kept(), casting(), simulator.dispatching():
        yield simulator


@contextmanager
def _without_triton() -> Iterator[None]:
    """Run what is inside; where Triton itself raises, raise `CannotTellError` instead."""
    try:
        yield
    except Exception as error:
        if _is_from_triton(error):
            raise CannotTellError(_NEEDS_TRITON) from error
        raise


def _is_from_triton(error: BaseException) -> bool:
    """Return whether Triton itself raised an error: not what it called, nor what called it."""
    frames = [frame for frame, _ in walk_tb(error.__traceback__)]
    return bool(frames) and str(frames[-1].f_globals.get("__name__", "")).startswith("triton.")
