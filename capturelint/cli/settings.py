"""The settings of a run: the configuration file, changed by the command line."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from capturelint.cli import output
from capturelint.config import Config, Scope, load_config
from capturelint.errors import CapturelintError, ConfigError
from capturelint.lint.codes import OWN, nearest_code
from capturelint.preset import UnknownPresetError, load_preset
from capturelint.release import Release

if TYPE_CHECKING:
    from capturelint.lint.result import CheckResult, Listing


class UnknownCodeError(CapturelintError):
    """A code or prefix of codes matches no rule. `file` holds it; None for the command line."""

    def __init__(
        self, code: str, where: str, known: Sequence[str], *, file: Path | None = None
    ) -> None:
        near = nearest_code(code, known)
        hint = f"did you mean {near}?" if near else "`capturelint rule --all` lists them"
        place = "" if file is None else f"{file}: "
        super().__init__(f"{place}no rule begins with {code!r} ({where}); {hint}")


class MixedPresetError(CapturelintError):
    """`none` was asked for together with presets."""

    def __init__(self) -> None:
        super().__init__("preset none excludes every other; give either")


def settings(options: argparse.Namespace, start: Path) -> Config:
    """Return the settings for `start`. Raises a `CapturelintError` for what the user must mend."""
    explicit: Path | None = options.config
    config = load_config(start, explicit=explicit)
    config = replace(config, exclude=(*config.exclude, *words(options.exclude)))
    scope: str | None = options.scope
    if scope is not None:
        config = replace(config, scope=Scope(scope))
    if options.preset:
        config = replace(config, preset=_preset(words(options.preset)))
    try:
        for name in config.preset or ():
            load_preset(name)
    except UnknownPresetError as error:
        if options.preset:
            raise
        raise ConfigError(file_of(config, options), str(error)) from error
    return config


def file_of(config: Config, options: argparse.Namespace) -> Path:
    """Return the file that the settings in `config` are from, if it has any."""
    explicit: Path | None = options.config
    return config.root / "pyproject.toml" if explicit is None else explicit


def with_selection(config: Config, options: argparse.Namespace) -> Config:
    """Return the settings with the options that only `check` has.

    `--select` stands in for the file's `select`, `extend-select` and `ignore`; the others add.
    """
    select, extend, ignore = (
        tuple(code.upper() for code in words(given))
        for given in (options.select, options.extend_select, options.ignore)
    )
    if select:
        config = replace(config, select=select, extend_select=(), ignore=())
    jobs: int | None = options.jobs
    target: Release | None = options.target_torch
    return replace(
        config,
        extend_select=(*config.extend_select, *extend),
        ignore=(*config.ignore, *ignore),
        jobs=config.jobs if jobs is None else jobs,
        target_torch=config.target_torch if target is None else target,
    )


def check_codes(config: Config, rules: Iterable[str], *, file: Path | None = None) -> None:
    """Raise `UnknownCodeError` for a selection that matches no rule. `rules` are their codes.

    `file` is where the selection is from; None for the command line.
    """
    known = (*rules, *(own.code for own in OWN))
    selections = [
        ("select", config.select),
        ("extend-select", config.extend_select),
        ("ignore", config.ignore),
        *((f"per-file-ignores {pattern}", codes) for pattern, codes in config.per_file_ignores),
    ]
    for where, codes in selections:
        for code in codes:
            if not any(rule.startswith(code) for rule in known):
                raise UnknownCodeError(code, where, known, file=file)


def complain_of_patterns(
    result: CheckResult | Listing, config: Config, options: argparse.Namespace
) -> bool:
    """Print a line about each pattern that matches nothing; return whether that is a mistake.

    `--exclude` may have left out what a pattern is for.
    """
    file = file_of(config, options)
    for line in result.errors:
        output.complain(f"{'warning: ' if options.exclude else ''}{file}: {line}")
    for line in result.warnings:
        output.complain(f"warning: {file}: {line}")
    return bool(result.errors) and not options.exclude


def words(given: Iterable[str] | None) -> tuple[str, ...]:
    """Return the values of an option that may be given often, each with several between commas."""
    return tuple(word.strip() for text in given or () for word in text.split(",") if word.strip())


def _preset(names: tuple[str, ...]) -> tuple[str, ...] | None:
    if names == ("auto",):
        return None
    if names == ("none",):
        return ()
    if "none" in names:
        raise MixedPresetError
    return names
