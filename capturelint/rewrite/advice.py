"""What to do by hand about what goes stale: no rewrite, as others see what would change."""

from __future__ import annotations

from capturelint.verdict import Culprit, Frozen

STALE = "what goes stale has to be mended where it is changed"
_RANDOM = (
    "draw on the device, as `torch.rand((), device=x.device) < p`, and choose with `torch.where`: other"
    " numbers than before, so no run could prove it the same"
)
_POSITION = (
    "hold the position in a tensor of one element on the device, write with"
    " `index_copy_(dim, position, rows)`, and mask what lies behind it"
)
_GROWN = "make it as large as it may become, in `__init__`, and take the part that is needed"
_COUNTED = (
    "make it a buffer of one element, `torch.zeros((), dtype=torch.long)`, that `add_(1)` counts up;"
    " whatever else reads it then reads a tensor"
)


def on_stale(culprit: Culprit) -> str:
    """Return why a line that goes stale stays, with what to do by hand where that is known."""
    if any(one.startswith("random: ") for one in culprit.evidence.changes):
        return f"{STALE}; {_RANDOM}"
    return "; ".join([STALE, *(_on(one) for one in culprit.evidence.frozen[:1] if _on(one))])


def _on(frozen: Frozen) -> str:
    before, after = (one.removeprefix("another ") for one in (frozen.before, frozen.after))
    if " at offset " in before and " at offset " in after:
        return _POSITION
    if before.startswith("tensor of shape ") and after.startswith("tensor of shape "):
        return _GROWN if before != after else ""
    is_counted = frozen.cause is not None and "+=" in frozen.cause.source
    return _COUNTED if frozen.name.startswith("self.") and is_counted else ""
