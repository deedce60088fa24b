"""The stages of an attempt: what user code raises in one, or a backend cannot run, ends the attempt."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from capturelint.debug.attempts.died import died_replaying
from capturelint.debug.attempts.refused import cannot_tell, first_line
from capturelint.debug.attempts.replaced import StandIns
from capturelint.debug.backend import Backend, ReplayKillsError
from capturelint.debug.frames import raised_at
from capturelint.debug.states.state import State
from capturelint.debug.trees.static_inputs import ArgumentVariesError
from capturelint.verdict import VARIES

# What an attempt tells before it does it; a process that ends meanwhile ended of it.
CAPTURING, REPLAYING, EAGER = "capturing", "replaying", "running eagerly"


class UndecidedError(Exception):
    """An attempt cannot come to a verdict. The message says why."""


@dataclass(frozen=True, slots=True)
class Stages:
    """Contexts for what one attempt runs. They raise UndecidedError where it cannot go on."""

    backend: Backend
    stand_ins: StandIns

    @contextmanager
    def eager(self) -> Iterator[None]:
        """Run eagerly inside."""
        try:
            with self.failing("raises when run eagerly alone"):
                yield
        except UndecidedError as error:
            why = "" if error.__cause__ is None else self.backend.spent()
            if not why:
                raise
            # The host runs ahead of the device: the line may only have noticed it.
            at = [f", at or before {one}" for one in raised_at(error)[:1]]
            raise UndecidedError(f"it dies eagerly too{''.join(at)}: {why}") from error

    @contextmanager
    def replaying(self, step: int) -> Iterator[None]:
        """Replay inside. Raises DiedError if the device does not survive it. `step`: from 0."""
        try:
            with self.failing("its graph cannot be replayed"):
                yield
        except UndecidedError as error:
            is_told = isinstance(error.__cause__, ReplayKillsError)
            why = str(error.__cause__) if is_told else self.backend.spent()
            if why:
                raise died_replaying(step, why) from error
            raise
        why = self.backend.spent()
        if why:
            raise died_replaying(step, why)

    def settle(self) -> None:
        """Wait for what ran eagerly. Raises UndecidedError if the device did not survive that."""
        why = self.backend.spent()
        if why:
            raise UndecidedError(f"it dies eagerly too: {why}")

    @contextmanager
    def watched(self, state: State) -> Iterator[None]:
        """Learn which memory is written by what runs eagerly inside."""
        with self.eager(), self.backend.eagerly(), state.watching():
            yield

    @contextmanager
    def failing(self, words: str) -> Iterator[None]:
        """Stop the attempt if what is inside raises or cannot be run faithfully. `words`: for that."""
        try:
            yield
        except ArgumentVariesError as error:
            raise UndecidedError(f"{VARIES}{error}") from error
        except Exception as error:
            self.stop_if_unsupported()
            raise UndecidedError(cannot_tell(error) or f"{words}: {first_line(error)}") from error
        self.stop_if_unsupported()

    def stop_if_unsupported(self) -> None:
        """Stop the attempt if something could not be run faithfully since this was last asked."""
        unfit = self.stand_ins.unfit
        reasons = (*self.backend.unsupported(), *([unfit] if unfit else []))
        if reasons:
            raise UndecidedError("; ".join(reasons))
