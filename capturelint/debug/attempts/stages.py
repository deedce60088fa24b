"""The stages of an attempt: what user code raises in one, or a backend cannot run, ends the attempt."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass

from capturelint.debug.attempts.refused import cannot_tell, first_line
from capturelint.debug.attempts.replaced import StandIns
from capturelint.debug.backend import Backend
from capturelint.debug.states.state import State
from capturelint.debug.trees.static_inputs import ArgumentVariesError
from capturelint.verdict import VARIES


class UndecidedError(Exception):
    """An attempt cannot come to a verdict. The message says why."""


@dataclass(frozen=True, slots=True)
class Stages:
    """Contexts for what one attempt runs. They raise UndecidedError where it cannot go on."""

    backend: Backend
    stand_ins: StandIns

    def eager(self) -> AbstractContextManager[None]:
        """Return a context for what runs eagerly."""
        return self.failing("raises when run eagerly alone")

    def replaying(self) -> AbstractContextManager[None]:
        """Return a context for a replay."""
        return self.failing("its graph cannot be replayed")

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
            reason = cannot_tell(error) or f"{words}: {first_line(error)}"
            raise UndecidedError(reason) from error
        self.stop_if_unsupported()

    def stop_if_unsupported(self) -> None:
        """Stop the attempt if something could not be run faithfully since this was last asked."""
        unfit = self.stand_ins.unfit
        reasons = (*self.backend.unsupported(), *([unfit] if unfit else []))
        if reasons:
            raise UndecidedError("; ".join(reasons))
