"""Errors a user can cause. Each message says what is wrong, where, and what to do next."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher, get_close_matches
from pathlib import Path


class CapturelintError(Exception):
    """Base of every error the command line shows without a traceback."""


class UnknownCommandError(CapturelintError):
    """A word was given where a command stands, and no command has it."""

    def __init__(self, word: str, known: Iterable[str]) -> None:
        hint = _nearest(word, known) or "`capturelint --help` lists them"
        super().__init__(f"no command {word!r}; {hint}")


class UnknownOptionError(CapturelintError):
    """An option was given to a command that has no such option."""

    def __init__(self, command: str, option: str, known: Iterable[str]) -> None:
        hint = _nearest(option, known) or f"`capturelint {command} --help` lists them"
        super().__init__(f"{command} has no option {option}; {hint}")


class UnknownRuleError(CapturelintError):
    """A rule was asked for by a code or name that no loaded rule has."""

    def __init__(self, code: str, known: Iterable[str]) -> None:
        hint = (
            _nearest(code.upper(), known)
            or _nearest(code.lower(), known)
            or "`capturelint rule --all` lists them"
        )
        super().__init__(f"no rule {code!r}; {hint}")


class BadRuleFileError(CapturelintError):
    """A file in a rules folder does not hold exactly one documented rule."""

    def __init__(self, path: Path, problem: str) -> None:
        super().__init__(f"{path} {problem}; `rules/__init__.py` says what a rule file holds")


class FailingRuleError(CapturelintError):
    """A rule of the user's own raised while it looked at code."""

    def __init__(self, path: str, line: int, problem: str) -> None:
        super().__init__(
            f"{path}:{line}: the rule fails with {problem}; mend it, or leave it out with `ignore`"
        )


class EmptyRuleFolderError(CapturelintError):
    """A rule folder named in the configuration holds no rule file."""

    def __init__(self, folder: Path) -> None:
        super().__init__(
            f"no rule file (`cl*.py`) in {folder}; name one such as `cl991_poke.py`, or correct"
            " `rule-folders` in the configuration"
        )


class MissingRuleFolderError(CapturelintError):
    """A rule folder named in the configuration is not there."""

    def __init__(self, folder: Path) -> None:
        super().__init__(f"no rule folder {folder}; correct `rule-folders` in the configuration")


class ConfigError(CapturelintError):
    """A configuration file cannot be used as it is. `problem` names the key and the next step."""

    def __init__(self, path: Path, problem: str) -> None:
        super().__init__(f"{path}: {problem}")


class BrokenInstallError(CapturelintError):
    """The folder of built-in rules or fixtures is missing."""

    def __init__(self, folder: str, tried: Sequence[Path]) -> None:
        places = " or ".join(str(path) for path in tried)
        super().__init__(f"no {folder!r} folder at {places}; reinstall capturelint")


def _nearest(word: str, known: Iterable[str]) -> str:
    """Return a question that names the closest known word, or "" when none is close."""
    near = sorted(get_close_matches(word, known, n=10))
    if not near:
        return ""

    def closeness(candidate: str) -> tuple[float, bool]:
        # Swapped digits are the likeliest slip: CL110 is CL101 rather than CL106.
        ratio = SequenceMatcher(None, word, candidate).ratio()
        return ratio, sorted(candidate) == sorted(word)

    return f"did you mean {max(near, key=closeness)}?"


def shown_path(path: str | Path) -> str:
    """Return a path as printed: relative to the working directory, absolute when outside it."""
    # Text, not Path: this is done for each finding, and links must stay as they were given.
    absolute = os.path.abspath(path)  # noqa: PTH100
    here = f"{Path.cwd()}{os.sep}"
    relative = absolute[len(here) :] if absolute.startswith(here) else absolute
    return relative.replace(os.sep, "/")


def shown(value: object) -> str:
    """Return a value from the file as one short piece of text, in the words of TOML."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, dict):
        return "a table"
    text = " ".join(repr(value).split())
    return text if len(text) <= 60 else f"{text[:57]}..."
