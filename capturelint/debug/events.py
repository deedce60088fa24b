"""What the child process that runs a case tells its parent, one line of JSON for each event."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import TypeAlias

from capturelint.debug.outcome import Outcome
from capturelint.debug.wire import WireError, decode, encode
from capturelint.verdict import LOADING, Report


class Fault(Enum):
    """Whose mistake stopped a run."""

    USERS = "the user's"
    OURS = "ours"


@dataclass(frozen=True, slots=True)
class Started:
    """User code is about to run for `step`, such as `load`, `warm up` or `judge layers.3`.

    A step lasts until its outcome or the next start: steps do not nest.
    """

    step: str


@dataclass(frozen=True, slots=True)
class Reached:
    """A step came to a stage: it is about to be `capturing`, `replaying` or `running eagerly`."""

    stage: str


@dataclass(frozen=True, slots=True)
class Judged:
    """A step came to an outcome, which need not be found again."""

    step: str
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class Said:
    """Progress in words, with counts: `judging layers.3 (4 of 31)`."""

    text: str


@dataclass(frozen=True, slots=True)
class Ready:
    """The backend is chosen and its session entered."""

    backend: str
    environment: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Loaded:
    """The case is loaded. `files`: what its outcomes rest on, size and time of change by path."""

    files: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Stopped:
    """User code ended the step in a way that ends programs. `why`: `raised SystemExit: 3`."""

    why: str


@dataclass(frozen=True, slots=True)
class Finished:
    """All is judged."""

    report: Report


@dataclass(frozen=True, slots=True)
class Failed:
    """The run cannot go on. `message`: one line for the user, or the traceback of our bug."""

    fault: Fault
    message: str


Event: TypeAlias = Started | Reached | Judged | Said | Ready | Loaded | Stopped | Finished | Failed

_KINDS: tuple[type[Event], ...] = (
    Started,
    Reached,
    Judged,
    Said,
    Ready,
    Loaded,
    Stopped,
    Finished,
    Failed,
)


def to_line(event: Event) -> bytes:
    """Return `event` as one line, the line end included."""
    return json.dumps([type(event).__name__, encode(event)]).encode() + b"\n"


def from_line(line: bytes) -> Event:
    """Return the event that `line` holds. Raises `WireError` if it holds none."""
    try:
        name, content = json.loads(line)
    except (ValueError, TypeError, RecursionError):
        raise WireError(Event, line) from None
    for kind in _KINDS:
        if kind.__name__ == name:
            return decode(kind, content)
    raise WireError(Event, name)


def doing(step: str) -> str:
    """Return in words what is done in `step`: `judging layers.3`."""
    if step == "":
        return "starting"
    if step.startswith("after "):
        return f"after {doing(step.removeprefix('after '))}"
    for verb, form in _FORMS.items():
        if step == verb or step.startswith(f"{verb} "):
            # What follows the path names modules that are replaced meanwhile.
            path = step[len(verb) + 1 :].partition(" ")[0]
            return form.format(path or "the root")  # which has no path of its own
    return f"at step {step!r}"


_FORMS: Mapping[str, str] = {
    "load": LOADING,
    "warm up": "warming up",
    "dry pass": "running {} as if capturing",
    "eager pass": "running all callables eagerly",
    "cold": "judging {} without warm-up",
    "cold-with-gradients": "judging {} without warm-up, with gradients",
    "cold-dry": "running {} as if capturing, without warm-up",
    "judge": "judging {}",
    "record": "recording what {} calls",
    "own": "judging the own lines of {}",
    "soak": "replaying {} on more inputs",
    "beginning": "replaying the beginning of {}",
    "contents": "listing what runs in {}",
    "memory": "looking which memory {} is given",
    "pad": "judging what pad rows do in {}",
    "pad-own": "judging what pad rows do in the own lines of {}",
    "pad-record": "recording what {} calls with pad rows",
    "pad-line": "looking for the line of {} that lets pad rows in",
}
