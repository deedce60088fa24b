"""Work on streams that are no part of a capture that is under way: refused, or frozen."""

from __future__ import annotations

from capturelint.debug.dispatched.refusal import NOT_PERMITTED, Refusal
from capturelint.debug.dispatched.schema import Schema
from capturelint.finding import Effect

UNSEEN = "runs once while capturing and is no part of the graph"
_OUTSIDE = (
    *(" in another thread", " on the default stream", " on a stream outside the capture"),
    " on another device",
)
# They only tell the allocator something, and have nothing run.
_TELLS = "record_stream"


def is_outside(operation: str) -> bool:
    """Return whether a refusal of this operation says that a capture does not see it."""
    return operation.endswith(_OUTSIDE)


def refusal_outside(
    schema: Schema,
    *,
    capture_error_mode: str,
    is_elsewhere: bool,
    is_on_default: bool,
    takes_memory: bool,
) -> Refusal | None:
    """Return what a capture does about work that it does not see, as the H200 showed it.

    Work on the default stream, which is that of other threads too, runs once and is no part of the
    graph, without an error. On another stream that did not join it fails if it takes memory, unless
    the mode is `relaxed`, and so does memory of its own in another thread if the mode is `global`.
    `is_elsewhere`: it is done by another thread than captures.
    """
    if schema.is_view or schema.short == _TELLS:
        return None
    label = schema.label
    if is_elsewhere and takes_memory and capture_error_mode == "global":
        return Refusal(NOT_PERMITTED, "thread", f"{label}{_OUTSIDE[0]}")
    if is_on_default:
        if schema.allocates or schema.reshapes:
            return None
        return _unseen(f"{label}{_OUTSIDE[0 if is_elsewhere else 1]}")
    if not is_elsewhere and not schema.writes:
        outside = f"{label}{_OUTSIDE[2]}"
        if capture_error_mode == "relaxed":
            return _unseen(outside)
        return Refusal(NOT_PERMITTED, "stream", outside)
    return None


def refusal_elsewhere(schema: Schema) -> Refusal | None:
    """Return what a capture does about work on a device that is no part of it: it does not see it."""
    if schema.is_view or schema.allocates or schema.reshapes or schema.short == _TELLS:
        return None
    return _unseen(f"{schema.label}{_OUTSIDE[3]}")


def _unseen(operation: str) -> Refusal:
    return Refusal(UNSEEN, "stream", operation, effect=Effect.STALE, sticky=False)
