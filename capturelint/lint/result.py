"""What a run found, apart from the engine so that it can be told without one."""

from __future__ import annotations

from dataclasses import dataclass

from capturelint.config import Scope
from capturelint.finding import Finding, Step


@dataclass(frozen=True, slots=True)
class CheckResult:
    """What a run found. `findings` are filtered and in order, unreadable files among them.

    `errors` are patterns of the settings that match nothing, a line each; `warnings` the same where
    only a part of the project was looked at. `baselined` counts the findings
    that a baseline holds, `older` those that no change asked about brought; neither are among
    `findings`.
    """

    findings: tuple[Finding, ...]
    roots: int
    captured_functions: int
    files: int
    presets: tuple[str, ...]
    errors: tuple[str, ...]
    step_functions: int = 0
    baselined: int = 0
    older: int = 0
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Reached:
    """A captured function and the way to it from a root. `cell`: as in a finding."""

    function: str
    path: str
    line: int
    chain: tuple[Step, ...]
    cell: int | None = None


@dataclass(frozen=True, slots=True)
class RootReport:
    """A root, why it is one, and the functions first reached from it. `cell`: as in a finding.

    `scope` is STEP where it is no captured region but runs each step around one.
    """

    function: str
    path: str
    line: int
    why: str
    reached: tuple[Reached, ...]
    cell: int | None = None
    scope: Scope = Scope.CAPTURED


@dataclass(frozen=True, slots=True)
class Listing:
    """All roots of a run. `errors` and `warnings`: as in `CheckResult`."""

    roots: tuple[RootReport, ...]
    errors: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
