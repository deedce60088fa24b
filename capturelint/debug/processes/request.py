"""What a parent asks its child process to judge."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from capturelint.debug.outcome import Outcome
from capturelint.debug.settings import Settings


@dataclass(frozen=True, slots=True)
class Request:
    """One case by name. `inputs`, `call`: as in `bisect`. `known`: outcomes of steps to skip."""

    target: str
    settings: Settings = field(default_factory=Settings)
    inputs: str | None = None
    call: str | None = None
    known: Mapping[str, Outcome] = field(default_factory=dict)
