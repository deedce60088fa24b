"""The child's side of the pipe to its parent, and the guard that ends the child with the parent."""

from __future__ import annotations

import os
import signal
import threading

from capturelint.debug.events import Event, from_line, to_line

_NOBODY_LISTENS = 70  # exit code; nobody is there to read it


class Channel:
    """Sends events through a descriptor, whatever user code does to standard output."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._owner = os.getpid()

    def send(self, event: Event) -> None:
        """Send one event. Ends the process if nobody listens, or if it is not ours.

        Raises `WireError` or TypeError if the event does not hold what it should.
        """
        if os.getpid() != self._owner:
            # User code forked, and the copy returned into our code, where it has no business.
            os._exit(0)
        line = to_line(event)
        from_line(line)  # what the parent could not read fails here, where it shows who said it
        rest = memoryview(line)
        try:
            while rest:
                rest = rest[os.write(self._descriptor, rest) :]
        except OSError:
            os._exit(_NOBODY_LISTENS)

    def fileno(self) -> int:
        """Return the descriptor."""
        return self._descriptor


def end_with_parent(lifeline: int, *, private: tuple[int, ...]) -> None:
    """See to it that this process and all it starts end when the parent does. Closes `lifeline`.

    The parent holds the other end of `lifeline`, which the system closes however the parent ends.
    `private`: descriptors that the guard must not keep open. A hang that holds Python's lock would
    stop a thread, so the guard is a process of the same group where there is `fork`.
    """
    if not hasattr(os, "fork"):
        threading.Thread(target=_end_after, args=(lifeline,), daemon=True).start()
        return
    between = os.fork()
    if between == 0:
        # A grandchild: user code that waits for its children does not meet it.
        if os.fork() == 0:
            for descriptor in private:
                os.close(descriptor)
            _end_after(lifeline)
        os._exit(0)
    os.waitpid(between, 0)
    os.close(lifeline)


def _end_after(lifeline: int) -> None:
    os.read(lifeline, 1)
    if hasattr(os, "killpg"):
        os.killpg(0, signal.SIGKILL)
    os._exit(_NOBODY_LISTENS)
