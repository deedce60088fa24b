"""Presets: what a known engine captures, what it runs eagerly, and which of its flags decide that.

A preset is one TOML file in `presets/`; the comments in it give the reason for each entry.

Patterns (`roots`, `eager`, `step`) are `fnmatch` globs over dotted names `package.module.Class.method`,
case-sensitive, where `*` also crosses dots. A pattern that matches a module, class or function
covers all inside it. `subclasses:package.module.Class` covers that class and all derived from it;
with a method's name behind it, only that method of them. What `step` names runs each step around
the captured region, with all it calls but what `rare` names.

An engine that tells decode steps from prefill and from the verification of drafts by a *mode* says in
`[modes]` in which of them it captures (`captured`), what a value that stands for the mode is called
(`values`, as in `forward_mode`), in which captured modes each method of such a value is true, or a
function that is given one, and in which an attribute is None, so that nothing that uses it runs:

    [modes]
    captured = ["decode", "verify"]
    values = ["forward_mode"]

    [[modes.tests]]
    name = "is_decode"
    true_in = ["decode"]     # `unsure_in`: true in some calls of that mode

    [[modes.attributes]]
    name = "batch.prefix_lens"
    none_in = ["verify"]

    [[modes.functions]]
    patterns = ["package.*.forward_extend"]
    modes = ["verify"]
    why = "decode steps go through forward_decode"

Each way through captured code keeps the modes that its tests leave, and hands them to what it calls; one
that leaves none is never captured. Functions under `[[modes.functions]]` run in these modes at most,
whoever calls them. A test that is not listed narrows nothing.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from pathlib import Path

from capturelint.errors import BrokenInstallError, CapturelintError, ConfigError
from capturelint.modes import Modes, read_modes
from capturelint.preset_table import check_keys, tables_of, text_of, texts_of

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_NO_MODES = Modes()
DEVICES = ("cuda", "cpu")

_TEXTS = ("name", "summary", "default_device")
_LISTS = (
    "packages",
    "roots",
    "eager",
    "rare",
    "step",
    "host_names",
    "decorators",
    "contexts",
    "comments",
)
_PATTERNS = ("roots", "eager", "rare", "step")
_KEYS = (*_TEXTS, *_LISTS, "guards", "modes")
_GUARD_KEYS = ("name", "value", "why", "asks_capture")

_PATTERN = re.compile(r"(subclasses:)?[A-Za-z_*?\[][\w.*?\[\]!-]*")
_DOTTED = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*")


class UnknownPresetError(CapturelintError):
    """A preset was asked for that is not there."""

    def __init__(self, name: str, known: Iterable[str]) -> None:
        known = tuple(known)
        near = get_close_matches(name, known, n=1)
        hint = f"did you mean {near[0]}?" if near else f"known are {', '.join(known)}"
        super().__init__(f"no preset {name!r}; {hint}")


@dataclass(frozen=True, slots=True)
class Guard:
    """A call or attribute whose value is fixed while a stream is being captured.

    `name` is a whole dotted name or, bare, the last part of one: `is_cpu` is also the name of
    `vllm.platforms.current_platform.is_cpu`. `value` False also stands for 0. `asks_capture`: it
    asks whether a graph is being captured, so that the answer is another around captured regions.
    """

    name: str
    value: bool | None
    why: str
    asks_capture: bool = False


@dataclass(frozen=True, slots=True)
class Preset:
    """What is known of one engine.

    `packages` are the top-level names that choose the preset. `default_device` is where a tensor
    made in a constructor without `device=` ends up: "cuda" or "cpu". `eager` and `rare` are never
    captured; `rare` does not run each step either. `host_names` are globs over
    names of parameters and attributes that hold host data. `decorators` and `contexts` name what
    takes a function or a block out of the capture; `comments` are texts that accept their line.
    """

    name: str
    summary: str
    packages: tuple[str, ...]
    default_device: str
    roots: tuple[str, ...]
    eager: tuple[str, ...]
    rare: tuple[str, ...]
    step: tuple[str, ...]
    host_names: tuple[str, ...]
    guards: tuple[Guard, ...]
    decorators: tuple[str, ...]
    contexts: tuple[str, ...]
    comments: tuple[str, ...]
    modes: Modes = _NO_MODES

    @property
    def uncaptured(self) -> tuple[str, ...]:
        """The patterns of what is never captured, whether it runs each step or rarely."""
        return (*self.eager, *self.rare)


def preset_names() -> tuple[str, ...]:
    """Return the names of all presets, sorted."""
    return tuple(sorted(path.stem for path in _folder().glob("*.toml")))


@cache
def load_preset(name: str) -> Preset:
    """Return the preset `name`. Raises `UnknownPresetError`, or `ConfigError` for a broken file."""
    if name not in preset_names():
        raise UnknownPresetError(name, preset_names())
    return read_preset(_folder() / f"{name}.toml")


def presets_for(packages: Iterable[str]) -> tuple[Preset, ...]:
    """Return the presets of top-level package names a project is or imports, sorted by name."""
    wanted = frozenset(packages)
    every = (load_preset(name) for name in preset_names())
    return tuple(preset for preset in every if not wanted.isdisjoint(preset.packages))


def read_preset(path: Path) -> Preset:
    """Return the preset in a TOML file. Raises `ConfigError` naming the key and the next step."""
    table = _read(path)
    check_keys(path, table, _KEYS)
    texts = {key: text_of(path, table, key) for key in _TEXTS}
    lists = {key: texts_of(path, table, key) for key in _LISTS}
    if texts["name"] != path.stem:
        raise ConfigError(path, f"name is {texts['name']!r}; name it {path.stem!r} like the file")
    if texts["default_device"] not in DEVICES:
        seen = texts["default_device"]
        raise ConfigError(path, f"default_device is {seen!r}; write one of {', '.join(DEVICES)}")
    for key in _PATTERNS:
        _check_patterns(path, key, lists[key])
    modes = read_modes(path, table.get("modes", {}))
    for one in modes.functions:
        _check_patterns(path, "modes.functions", one.patterns)
    return Preset(
        name=texts["name"],
        summary=texts["summary"],
        packages=lists["packages"],
        default_device=texts["default_device"],
        roots=lists["roots"],
        eager=lists["eager"],
        rare=lists["rare"],
        step=lists["step"],
        host_names=lists["host_names"],
        guards=_guards(path, table.get("guards", [])),
        decorators=lists["decorators"],
        contexts=lists["contexts"],
        comments=lists["comments"],
        modes=modes,
    )


def _folder() -> Path:
    """Return the folder of the presets that come with the package."""
    folder = Path(__file__).parent / "presets"
    if not folder.is_dir():
        raise BrokenInstallError("presets", [folder])
    return folder


def _read(path: Path) -> Mapping[str, object]:
    """Return a TOML file as a table."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(path, f"cannot be read: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(path, f"is not valid TOML: {error}") from error


def _check_patterns(path: Path, key: str, patterns: tuple[str, ...]) -> None:
    """Raise `ConfigError` for the first pattern that could never match a dotted name."""
    for pattern in patterns:
        if not _PATTERN.fullmatch(pattern):
            hint = "write a glob such as pkg.*.forward, or subclasses:pkg.module.Class"
            raise ConfigError(path, f"{key} holds {pattern!r}; {hint}")
        if pattern.startswith("subclasses:") and not _DOTTED.fullmatch(pattern[11:]):
            raise ConfigError(path, f"{key} holds {pattern!r}; `subclasses:` takes no wildcards")


def _guards(path: Path, value: object) -> tuple[Guard, ...]:
    """Return the `[[guards]]` tables."""
    guards: list[Guard] = []
    for item in tables_of(path, value, "guards"):
        guard = _guard(path, item)
        if any(guard.name == other.name for other in guards):
            raise ConfigError(path, f"two guards are named {guard.name!r}; remove one")
        guards.append(guard)
    return tuple(guards)


def _guard(path: Path, table: Mapping[str, object]) -> Guard:
    """Return one guard."""
    check_keys(path, table, _GUARD_KEYS)
    name, why = text_of(path, table, "name"), text_of(path, table, "why")
    if not _DOTTED.fullmatch(name):
        raise ConfigError(path, f"guard {name!r} is not a dotted name; write it without () or *")
    value, asks_capture = table.get("value"), table.get("asks_capture", False)
    if not isinstance(asks_capture, bool):
        raise ConfigError(path, f"asks_capture of guard {name!r} is {asks_capture!r}; write true")
    if value == "none":
        return Guard(name, None, why, asks_capture)
    if not isinstance(value, bool):
        raise ConfigError(
            path, f'value of guard {name!r} is {value!r}; write true, false or "none"'
        )
    return Guard(name, value, why, asks_capture)
