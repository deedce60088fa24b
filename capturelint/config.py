"""Settings: the `[tool.capturelint]` table of the nearest pyproject.toml."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from enum import Enum
from pathlib import Path

from capturelint.errors import ConfigError, shown
from capturelint.release import ALLOWED, Release, release_of

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


class Scope(Enum):
    """Which code is checked: what is captured, also what runs around it each step, or all code."""

    CAPTURED = "captured"
    STEP = "step"
    ALL = "all"


@dataclass(frozen=True, slots=True)
class Config:
    """The settings of one run.

    `root` is the folder that `exclude` and `per_file_ignores` patterns start from. `select`,
    `extend_select`, `ignore` and the values of `per_file_ignores` hold prefixes of rule codes; an
    empty `select` means every rule. `step` names what runs each step around a
    captured region. `preset` is None to choose by what the project imports, and
    empty for no preset. `jobs` is a number of processes, 0 for as many as there are processors.
    `target_torch` is None for every release.
    """

    root: Path
    select: tuple[str, ...] = ()
    extend_select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    roots: tuple[str, ...] = ()
    eager: tuple[str, ...] = ()
    step: tuple[str, ...] = ()
    preset: tuple[str, ...] | None = None
    scope: Scope = Scope.CAPTURED
    per_file_ignores: tuple[tuple[str, tuple[str, ...]], ...] = ()
    require_reason: bool = False
    rule_folders: tuple[Path, ...] = ()
    jobs: int = 0
    target_torch: Release | None = None

    def selects(self, code: str) -> bool:
        """Return whether rule `code` is on. Of two prefixes that match it the longer one decides."""
        on = max(_matched(code, [*(self.select or ("",)), *self.extend_select]), default=-1)
        off = max(_matched(code, self.ignore), default=-1)
        return on > off


def load_config(start: Path, *, explicit: Path | None) -> Config:
    """Return the settings for `start`, a file or folder, or those in the file `explicit`.

    Without `explicit` the nearest pyproject.toml upwards that has a `[tool.capturelint]` table
    counts; `root` is its folder, else that of the nearest pyproject.toml, else the working
    directory. Raises `ConfigError` for a file that cannot be read, an unknown key or a bad value.
    """
    if explicit is not None:
        return _from_file(explicit)
    nearest: Path | None = None
    for path in _pyproject_files(start):
        table = _tool_table(path, _read(path))
        if table is not None:
            return _from_table(path, table)
        nearest = nearest or path.parent
    return Config(root=nearest or Path(os.path.realpath(".")))


def _from_file(path: Path) -> Config:
    """Return the settings in a file named by the user: a pyproject.toml or a file of only ours."""
    document = _read(path)
    table = _tool_table(path, document)
    if table is None and (path.name == "pyproject.toml" or "tool" in document):
        raise ConfigError(path, "no [tool.capturelint] table; add one or name another file")
    return _from_table(Path(os.path.realpath(path)), document if table is None else table)


def _pyproject_files(start: Path) -> Iterable[Path]:
    here = Path(os.path.realpath(start))
    for folder in (here, *here.parents):
        path = folder / "pyproject.toml"
        if path.is_file():
            yield path


def _read(path: Path) -> Mapping[str, object]:
    try:
        return tomllib.loads(path.read_bytes().decode("utf-8-sig"))
    except OSError as error:
        raise ConfigError(path, f"cannot be read: {error.strerror}") from error
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ConfigError(path, f"not valid TOML: {error}") from error
    except RecursionError as error:
        raise ConfigError(path, "not valid TOML: it is nested too deeply") from error


def _tool_table(path: Path, document: Mapping[str, object]) -> Mapping[str, object] | None:
    tool = document.get("tool")
    table = tool.get("capturelint") if isinstance(tool, dict) else None
    if table is None or isinstance(table, dict):
        return table
    raise ConfigError(path, f"`tool.capturelint` is {shown(table)}; it must be a table")


_KEYS = (
    "select",
    "extend-select",
    "ignore",
    "exclude",
    "roots",
    "eager",
    "step",
    "preset",
    "scope",
    "per-file-ignores",
    "require-reason",
    "rule-folders",
    "jobs",
    "target-torch",
)


def _from_table(path: Path, values: Mapping[str, object]) -> Config:
    for key in values:
        if key not in _KEYS:
            raise ConfigError(path, f"no key `{key}`; {_suggestion(key)}")
    table = _Table(path, values)
    return Config(
        root=path.parent,
        select=table.codes("select"),
        extend_select=table.codes("extend-select"),
        ignore=table.codes("ignore"),
        exclude=table.texts("exclude"),
        roots=table.texts("roots"),
        eager=table.texts("eager"),
        step=table.texts("step"),
        preset=table.preset(),
        scope=table.scope(),
        per_file_ignores=table.per_file_ignores(),
        require_reason=table.flag("require-reason"),
        rule_folders=tuple(path.parent / folder for folder in table.texts("rule-folders")),
        jobs=table.count("jobs"),
        target_torch=table.release("target-torch"),
    )


@dataclass(frozen=True, slots=True)
class _Table:
    """The table of settings while it is read. Each method checks the type of one kind of value."""

    path: Path
    values: Mapping[str, object]

    def texts(self, key: str) -> tuple[str, ...]:
        return self._texts(key, self.values.get(key, []))

    def codes(self, key: str) -> tuple[str, ...]:
        return tuple(code.upper() for code in self.texts(key))

    def flag(self, key: str) -> bool:
        value = self.values.get(key, False)
        if not isinstance(value, bool):
            raise self._wrong(key, value, "true or false")
        return value

    def count(self, key: str) -> int:
        value = self.values.get(key, 0)
        # A bool is an int to Python, but not to whoever reads the file.
        if not isinstance(value, int) or isinstance(value, bool) or value < 0:
            raise self._wrong(key, value, "a whole number, 0 for one per processor")
        return value

    def scope(self) -> Scope:
        value = self.values.get("scope", Scope.CAPTURED.value)
        allowed = [scope.value for scope in Scope]
        if not isinstance(value, str) or value not in allowed:
            raise self._wrong("scope", value, f"one of {', '.join(allowed)}", known=allowed)
        return Scope(value)

    def release(self, key: str) -> Release | None:
        value = self.values.get(key)
        found = release_of(value) if isinstance(value, str) else None
        if found is None and value is not None:
            raise self._wrong(key, value, ALLOWED)
        return found

    def preset(self) -> tuple[str, ...] | None:
        value = self.values.get("preset")
        if value is None or value == "auto":
            return None
        if value == "none":
            return ()
        if isinstance(value, str):
            return (value,)
        return self._texts("preset", value, allowed='a name, a list of names, "auto" or "none"')

    def per_file_ignores(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        value = self.values.get("per-file-ignores", {})
        if not isinstance(value, dict):
            raise self._wrong("per-file-ignores", value, "a table of file pattern = list of codes")
        return tuple(
            (pattern, tuple(c.upper() for c in self._texts(f"per-file-ignores.{pattern}", codes)))
            for pattern, codes in value.items()
        )

    def _texts(
        self, key: str, value: object, *, allowed: str = "a list of strings"
    ) -> tuple[str, ...]:
        if not isinstance(value, list):
            raise self._wrong(key, value, allowed)
        texts = tuple(item for item in value if isinstance(item, str))
        if len(texts) != len(value):
            raise self._wrong(key, value, allowed)
        return texts

    def _wrong(
        self, key: str, value: object, allowed: str, *, known: Iterable[str] = ()
    ) -> ConfigError:
        near = get_close_matches(str(value), list(known), n=1)
        hint = f"; did you mean {near[0]}?" if near else ""
        return ConfigError(self.path, f"`{key}` is {shown(value)}; it must be {allowed}{hint}")


def _suggestion(key: str) -> str:
    near = get_close_matches(key.replace("_", "-").lower(), _KEYS, n=1)
    return f"did you mean `{near[0]}`?" if near else f"the keys are {', '.join(_KEYS)}"


def _matched(code: str, prefixes: Iterable[str]) -> list[int]:
    return [len(prefix) for prefix in prefixes if code.startswith(prefix)]
