"""Which functions a list of name patterns covers."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterable, Iterator
from difflib import get_close_matches

from capturelint.kind import Role
from capturelint.lint.project import Project
from capturelint.lint.symbols import Function

_SUBCLASSES = "subclasses:"
# How much of a pattern's longest text it is found by.
_PIECE = 6
_FEW = 40
# The texts of a pattern that a name must hold, longest first, and the expression for all of it.
_Wild = tuple[list[str], re.Pattern[str]]
_NOTHING: frozenset[str] = frozenset()
_WILDCARD = re.compile(r"[*?]|\[.*")


class Patterns:
    """Patterns over dotted names, compiled once.

    `fnmatch` over `package.module.Class.method`; a match of a module, class or function covers all
    inside it. `subclasses:package.module.Class` covers a class, which may be of another package, and
    every class below it;
    `subclasses:package.module.Class.method` only that method of them.
    """

    def __init__(self, patterns: Iterable[str], project: Project) -> None:
        self._project = project
        # Direct subclasses of classes outside of the project, by the names of these.
        self._outside: dict[str, list[int]] | None = None
        given = [self._real_name(pattern) for pattern in patterns]
        plain = [p for p in given if not p.startswith(_SUBCLASSES)]
        self._names = frozenset(p for p in plain if _WILDCARD.search(p) is None)
        self._wild = [
            (_literals(one), _compiled([one], r"(?:\..*)?"))
            for one in plain
            if one not in self._names
        ]
        # By the end of the longest text, so that few of many are tried on a name.
        self._by_piece: dict[str, list[_Wild]] = {}
        for wild in self._wild if len(self._wild) > _FEW else ():
            self._by_piece.setdefault(wild[0][0][-_PIECE:] if wild[0] else "", []).append(wild)
        self._sizes = {len(piece) for piece in self._by_piece}
        # By module, whether it is named or in what is named, and what is found in its name.
        self._named: dict[str, bool] = {}
        self._found: dict[str, frozenset[str]] = {}
        self._whole = _compiled(plain, "") if plain else None
        # Of each class below one that is named, the methods that are meant; "" for all.
        self._below: dict[int, set[str]] = {}
        for family, method in self._families(given):
            for index in family:
                self._below.setdefault(index, set()).add(method)
        self._methods = frozenset().union(*self._below.values())

    def _families(self, given: Iterable[str]) -> Iterator[tuple[frozenset[int], str]]:
        for pattern in given:
            if pattern.startswith(_SUBCLASSES):
                found = self._family(pattern[len(_SUBCLASSES) :])
                if found is not None:
                    yield found

    def _real_name(self, pattern: str) -> str:
        """Return a pattern; of a name that a package re-exports, where it is defined."""
        if any(mark in pattern for mark in "*?[:") or "." not in pattern:
            return pattern
        project = self._project
        parts = pattern.split(".")
        for cut in range(len(parts) - 1, 0, -1):
            module = ".".join(parts[:cut])
            if project.file(module) is None:
                continue
            ref = project.resolve(module, ".".join(parts[cut:])).ref
            if ref is not None and ref.role is Role.FUNCTION:
                return project.functions[ref.at].full_name
            if ref is not None and ref.role is Role.CLASS:
                return project.classes[ref.at].full_name
            break
        return pattern

    def match(self, function: Function) -> bool:
        """Return whether a pattern covers a function."""
        name = function.full_name
        module = function.file.module
        if self._is_in_named(name, module):
            return True
        for texts, pattern in self._tried(name, module):
            for text in texts:
                if text not in name:
                    break
            else:
                if pattern.match(name):
                    return True
        return self._is_below(function)

    def _is_in_named(self, name: str, module: str) -> bool:
        """Return whether a name in a module is named without wildcards, or what it is in."""
        while len(name) > len(module):
            if name in self._names:
                return True
            name = name.rpartition(".")[0]
        found = self._named.get(module)
        if found is None:
            found = any(outer in self._names for outer in _with_outer(module))
            self._named[module] = found
        return found

    def _tried(self, name: str, module: str) -> Iterable[_Wild]:
        """Return the patterns with wildcards that may match a name in a module."""
        if not self._by_piece:
            return self._wild
        known = self._found.get(module)
        if known is None:
            known = self._found[module] = self._pieces_in(module) or _NOTHING
        # With the pieces that begin in the name of the module and end after it.
        found = known | self._pieces_in(name[max(len(module) - _PIECE, 0) :])
        return [wild for piece in found for wild in self._by_piece[piece]]

    def _pieces_in(self, text: str) -> frozenset[str]:
        return frozenset(
            text[at : at + size]
            for size in self._sizes
            for at in range(len(text) - size + 1)
            if text[at : at + size] in self._by_piece
        )

    def match_entry(self, function: Function) -> bool:
        """Return whether a pattern names a function, or covers one that others are meant to call.

        Of what is inside a matched module or class that leaves out names that begin with `_`.
        """
        if not self.match(function):
            return False
        name = function.facts.name
        is_private = name.startswith("_") and not name.endswith("__")
        return not is_private or self._is_named(function)

    def _is_named(self, function: Function) -> bool:
        name = function.full_name
        if self._whole is not None and self._whole.match(name) is not None:
            return True
        return function.facts.name in self._methods

    def _is_below(self, function: Function) -> bool:
        """Return whether a pattern of subclasses covers a function."""
        if not self._below:
            return False
        top = function
        while top.owner < 0 and top.parent >= 0:
            top = self._project.functions[top.parent]
        methods = self._below.get(top.owner)
        return methods is not None and ("" in methods or top.facts.name in methods)

    def _family(self, name: str) -> tuple[frozenset[int], str] | None:
        """Return the classes that `package.module.Class` or `...Class.method` names, and the method."""
        for text, method in ((name, ""), (*name.rpartition(".")[::2],)):
            wanted = [
                one.index
                for one in self._project.classes
                if one.facts.name == text.rpartition(".")[2]
                and fnmatch.fnmatchcase(one.full_name, text)
            ]
            wanted += self._derived_from_outside(text)
            if wanted:
                family = {*wanted}
                for index in wanted:
                    family.update(self._project.subclasses(index))
                return frozenset(family), method
        return None

    def _derived_from_outside(self, text: str) -> list[int]:
        """Return the classes that have a class outside of the project, with such a name, as a base."""
        if self._outside is None:
            self._outside = {}
            for one in self._project.classes:
                for name in self._project.bases(one.index)[1]:
                    self._outside.setdefault(name, []).append(one.index)
        if _WILDCARD.search(text) is None:
            return self._outside.get(text, [])
        names = [name for name in self._outside if fnmatch.fnmatchcase(name, text)]
        return [index for name in names for index in self._outside[name]]


def idle(patterns: Iterable[str], project: Project) -> Iterator[str]:
    """Yield a line about each pattern that covers no function of the project, with the nearest name."""
    for pattern in patterns:
        covers = Patterns([pattern], project)
        if any(map(covers.match, project.functions)):
            continue
        names = [function.full_name for function in project.functions]
        last = pattern.rpartition(".")[2].rpartition(":")[2]
        near = [name for name in names if name.rpartition(".")[2] == last]
        near = near or get_close_matches(pattern, names, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        yield f"{pattern!r} matches nothing in the checked files{hint}"


def _with_outer(name: str) -> Iterator[str]:
    """Yield a dotted name and those of all that it is in."""
    while name:
        yield name
        name = name.rpartition(".")[0]


def _compiled(patterns: list[str], inside: str) -> re.Pattern[str]:
    """Return one expression for whole names. `inside` is what may follow a matched name."""
    # `fnmatch.translate` ends in `\Z`.
    bodies = [
        fnmatch.translate(pattern).removesuffix(r"\Z").removesuffix(r"\z") for pattern in patterns
    ]
    return re.compile("|".join(rf"(?:{body}){inside}\Z" for body in bodies))


def _literals(pattern: str) -> list[str]:
    """Return the texts without wildcards in a pattern, longest first: a name must hold all of them."""
    return sorted(filter(None, _WILDCARD.split(pattern)), key=len, reverse=True)
