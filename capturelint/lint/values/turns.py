"""What the first turn of a loop knows: a tensor that later turns have moved is still on the host."""

from __future__ import annotations

from collections.abc import Mapping

from capturelint.kind import Kind, Value
from capturelint.lint.values.frame import Frame
from capturelint.lint.values.kept import RawSpan


def host_tensors(frame: Frame, before: Mapping[str, Value]) -> dict[RawSpan, Value]:
    """Return the host tensors met in the first turn, where a name of `before` may move after it.

    `before` holds the names as the loop found them.
    """
    is_moved = any(
        value.kind is Kind.HOST_TENSOR and frame.env[name].kind is Kind.UNKNOWN
        for name, value in before.items()
        if name in frame.env
    )
    if not is_moved:
        return {}
    return {span: v for span, v in frame.values.items() if v.kind is Kind.HOST_TENSOR}


def restore(frame: Frame, first: Mapping[RawSpan, Value]) -> None:
    """Put back what the first turn knew where later turns left nothing known."""
    for span, value in first.items():
        if frame.values[span].is_unknown:
            frame.values[span] = value
