"""Load rule files and look rules up by code or name."""

from __future__ import annotations

import functools
import importlib.util
import inspect
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from capturelint.bundle import bundled
from capturelint.errors import (
    BadRuleFileError,
    EmptyRuleFolderError,
    MissingRuleFolderError,
    UnknownRuleError,
)
from capturelint.lint.failing import line_in, one_line
from capturelint.rule import About, Rule, Triggers


@dataclass(frozen=True, slots=True)
class RuleEntry:
    """A rule, the page that explains it and the fixture that proves it."""

    rule: type[Rule]
    page: str
    path: Path
    fixture: Path

    @property
    def code(self) -> str:
        """Return the code of the rule, such as `CL101`."""
        return self.rule.about.code

    @property
    def fixed(self) -> Path:
        """Return what `check --fix` makes of the fixture. It exists only if the rule has a fix."""
        return self.fixture.with_suffix(".fixed.py")


def names_of(rules: Iterable[RuleEntry]) -> dict[str, str]:
    """Return the names of rules by their codes."""
    return {entry.code: entry.rule.about.name for entry in rules}


@functools.cache
def builtin_rules() -> tuple[RuleEntry, ...]:
    """Return the rules that ship with capturelint, in order of code."""
    return load_rules(bundled("rules"))


def all_rules(folders: Iterable[Path]) -> tuple[RuleEntry, ...]:
    """Return the built-in rules and those of `folders`, in order of code.

    Raises `BadRuleFileError` if two rules have one code.
    """
    loaded = {entry.code: entry for entry in builtin_rules()}
    for folder in folders:
        for entry in load_rules(folder):
            other = loaded.setdefault(entry.code, entry)
            if other is not entry:
                raise BadRuleFileError(entry.path, f"has the code {entry.code} of {other.path}")
    return tuple(sorted(loaded.values(), key=lambda entry: entry.code))


def load_rules(folder: Path) -> tuple[RuleEntry, ...]:
    """Load every `cl*.py` file in `folder`. Its fixtures are in the `fixtures` folder beside it.

    Raises `MissingRuleFolderError`, `EmptyRuleFolderError` or `BadRuleFileError`.
    """
    if not folder.is_dir():
        raise MissingRuleFolderError(folder)
    paths = sorted(folder.glob("cl*.py"))
    if not paths:
        raise EmptyRuleFolderError(folder)
    return tuple(map(_load, paths))


def find_rule(word: str, entries: Sequence[RuleEntry]) -> RuleEntry:
    """Return the rule whose code or name is `word`, in any case. Raises `UnknownRuleError`."""
    names = {entry.rule.about.name: entry for entry in entries}
    known = {**names, **{entry.code: entry for entry in entries}}
    for spelling in (word.upper(), word.lower()):
        if spelling in known:
            return known[spelling]
    raise UnknownRuleError(word, known)


def _load(path: Path) -> RuleEntry:
    module = _import_file(path)
    rules = [value for value in vars(module).values() if _is_rule_of(value, module)]
    if len(rules) != 1:
        raise BadRuleFileError(path, f"defines {len(rules)} rules, not one")
    if not module.__doc__:
        raise BadRuleFileError(path, "has no docstring to explain the rule with")
    for needed in ("about", "triggers"):
        if not hasattr(rules[0], needed):
            raise BadRuleFileError(path, f"has a rule without `{needed}`")
    if not isinstance(rules[0].about, About) or not isinstance(rules[0].triggers, Triggers):
        raise BadRuleFileError(path, "needs `about = About(...)` and `triggers = Triggers(...)`")
    page = inspect.cleandoc(module.__doc__)
    return RuleEntry(rules[0], page, path, path.parent.parent / "fixtures" / path.name)


def _is_rule_of(value: object, module: ModuleType) -> bool:
    return (
        inspect.isclass(value)
        and issubclass(value, Rule)
        and value.__module__ == module.__name__  # not one it imported
    )


def _import_file(path: Path) -> ModuleType:
    name = f"capturelint.rules.{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None, f"{path} is not a Python file"
    module = importlib.util.module_from_spec(spec)
    # Dataclasses and pickling look the module up by its name.
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        line = line_in(error, {str(path)})
        where = f" (line {line[1]})" if line else ""
        raise BadRuleFileError(path, f"cannot be imported: {one_line(error)}{where}") from error
    return module
