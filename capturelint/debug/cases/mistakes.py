"""What is wrong with a user's case, in one line: what, where, and the next step."""

from __future__ import annotations

from capturelint.debug.frames import raised_at
from capturelint.errors import CapturelintError, shown_path

_INSTALLED = ("site-packages", "dist-packages")
_LONGEST = 200  # characters of an exception's text


class CaseError(CapturelintError):
    """A case, or what loads one, cannot be used as it is."""


def raised(what: str, error: BaseException) -> CaseError:
    """Return what to say when the user's code, named by `what`, raised `error`."""
    where = place_of(error)
    return CaseError(f"{what} raised {summary(error)}{' at ' if where else ''}{where}")


def summary(error: BaseException) -> str:
    """Return the type of `error` and the first line of its text."""
    text = _first_line(str(error))
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def place_of(error: BaseException) -> str:
    """Return the user's line that `error` comes from, as `file:line`, or "" if none is known."""
    places = raised_at(error)
    own = (place for place in places if not any(name in place.path for name in _INSTALLED))
    place = next(own, places[0] if places else None)
    return f"{shown_path(place.path)}:{place.line}" if place else ""


def kind_of(value: object) -> str:
    """Return what `value` is, with its article: `an int`, `a Tensor`, `None`."""
    if value is None:
        return "None"
    name = value.__name__ if isinstance(value, type) else type(value).__name__
    article = "an" if name[0] in "aeiouAEIO" else "a"
    return f"the class {name}" if isinstance(value, type) else f"{article} {name}"


def _first_line(text: str) -> str:
    lines = text.strip().splitlines() or [""]
    line = lines[0].rstrip()
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]}..."
