"""The modes that an engine captures, what asks for them, and which functions run in few of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from capturelint.errors import ConfigError
from capturelint.preset_table import check_keys, tables_of, text_of, texts_of

_KEYS = ("captured", "values", "tests", "attributes", "functions")
_TEST_KEYS = ("name", "true_in", "unsure_in")
_ATTRIBUTE_KEYS = ("name", "none_in")
_FUNCTION_KEYS = ("patterns", "modes", "why")


@dataclass(frozen=True, slots=True)
class ModeTest:
    """A method of a value that stands for the mode, or a function that is given one, by its last name.

    It is true in the modes `true_in`, and false in the others but for `unsure_in`, where that
    depends on more than the mode.
    """

    name: str
    true_in: tuple[str, ...]
    unsure_in: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ModeAttribute:
    """An attribute, as `owner.attribute`, that is None in the captured modes `none_in`."""

    name: str
    none_in: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ModesOf:
    """Functions, named by patterns as in `roots`, that captured code only calls in some modes."""

    patterns: tuple[str, ...]
    modes: tuple[str, ...]
    why: str


@dataclass(frozen=True, slots=True)
class Modes:
    """The modes of one engine.

    `captured` are those in which it captures; others need no name. `values` are the names, or last
    names, of what stands for the mode of a call.
    """

    captured: tuple[str, ...] = ()
    values: tuple[str, ...] = ()
    tests: tuple[ModeTest, ...] = ()
    attributes: tuple[ModeAttribute, ...] = ()
    functions: tuple[ModesOf, ...] = ()


def read_modes(path: Path, value: object) -> Modes:
    """Return what the table `[modes]` of a preset says. Raises `ConfigError`."""
    if not isinstance(value, dict):
        raise ConfigError(path, f"modes is {value!r}; write a [modes] table")
    check_keys(path, value, _KEYS)
    captured = texts_of(path, value, "captured")
    tests: list[ModeTest] = []
    for table in tables_of(path, value.get("tests", []), "modes.tests"):
        check_keys(path, table, _TEST_KEYS)
        name = text_of(path, table, "name")
        if any(name == other.name for other in tests):
            raise ConfigError(path, f"two tests of modes are named {name!r}; remove one")
        true_in, unsure_in = (_known(path, table, key, captured) for key in _TEST_KEYS[1:])
        if not set(true_in).isdisjoint(unsure_in):
            raise ConfigError(path, f"{name!r} is true and unsure in one mode; remove it from one")
        tests.append(ModeTest(name, true_in, unsure_in))
    attributes = []
    for table in tables_of(path, value.get("attributes", []), "modes.attributes"):
        check_keys(path, table, _ATTRIBUTE_KEYS)
        none_in = _known(path, table, "none_in", captured)
        name = text_of(path, table, "name")
        if name.count(".") != 1:
            raise ConfigError(
                path, f"attribute {name!r} of modes has no owner; write it as owner.attribute"
            )
        attributes.append(ModeAttribute(name, none_in))
    functions = []
    for table in tables_of(path, value.get("functions", []), "modes.functions"):
        check_keys(path, table, _FUNCTION_KEYS)
        modes = _known(path, table, "modes", captured)
        if not modes:
            raise ConfigError(path, "modes.functions without modes; name them, or use `eager`")
        patterns = texts_of(path, table, "patterns")
        functions.append(ModesOf(patterns, modes, text_of(path, table, "why")))
    values = texts_of(path, value, "values")
    return Modes(captured, values, tuple(tests), tuple(attributes), tuple(functions))


def _known(
    path: Path, table: Mapping[str, object], key: str, captured: tuple[str, ...]
) -> tuple[str, ...]:
    """Return a list of modes, each of which must be captured."""
    modes = texts_of(path, table, key)
    for mode in modes:
        if mode not in captured:
            raise ConfigError(
                path, f"{key} holds {mode!r}; captured modes are {', '.join(captured)}"
            )
    return modes
