"""The files of one run, linked: modules, symbols, class hierarchy."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from capturelint.kind import Ref, Role, Value
from capturelint.lint.gathered import Gathered
from capturelint.lint.homes import CLAIMED
from capturelint.lint.symbols import Function, Symbol, is_outside_module, reached
from capturelint.names import FileFacts

_DEPTH = 12
_NOTHING = Symbol()


class Project(Gathered):
    """The files of one run, and what names in them mean."""

    def __init__(
        self,
        load: Callable[[str, str], FileFacts | None] | None = None,
        *,
        roots: Iterable[str] = (),
    ) -> None:
        super().__init__(load, roots=roots)
        # What annotations mean, by module and name; kept here since it lives as long.
        self.hints: dict[tuple[str, str], Value] = {}
        # The names that are being worked out; whether one of them rests on another that rests on it,
        # so that what they mean depends on which of them is asked for first.
        self.aliases: list[tuple[str, str]] = []
        self.is_circular = False
        self._symbols: dict[tuple[str, str], Symbol] = {}
        self._orders: dict[int, tuple[int, ...]] = {}
        self._bases: dict[int, tuple[tuple[int, ...], tuple[str, ...]]] = {}
        self._subclasses: dict[int, list[int]] | None = None
        self._families: dict[int, tuple[int, ...]] = {}
        self._is_module: dict[int, bool] = {}

    def add(self, facts: FileFacts) -> None:
        """Add a file. The second of two files of one module name is known by its path as well."""
        super().add(facts)
        self._subclasses = None

    def resolve(self, module: str, name: str) -> Symbol:
        """Return what the dotted `name` means at the top level of `module`."""
        key = (module, name)
        if key not in self._symbols:
            self._symbols[key] = _NOTHING
            self._symbols[key] = self._resolve(module, name, 0)
        return self._symbols[key]

    def imported(self, file: FileFacts, module: str, name: str | None) -> Symbol:
        """Return what `from module import name` (or `import module`, name None) binds in a file."""
        return self._brought(file, module, name, 0)

    def member(self, module: str, name: str) -> Symbol:
        """Return what `name` is in a module of the project."""
        return self._member(module, name, 0)

    def bases(self, index: int) -> tuple[tuple[int, ...], tuple[str, ...]]:
        """Return the direct bases of a class: project classes, and dotted names from outside."""
        found = self._bases.get(index)
        if found is None:
            self._bases[index] = ((), ())
            inside: list[int] = []
            outside: list[str] = []
            one = self.classes[index]
            for name in one.facts.bases:
                symbol = self.resolve(one.file.module, name)
                if symbol.ref is not None and symbol.ref.role is Role.CLASS:
                    if symbol.ref.at != index:
                        inside.append(symbol.ref.at)
                elif symbol.name:
                    outside.append(symbol.name)
            found = self._bases[index] = (tuple(inside), tuple(outside))
        return found

    def order(self, index: int) -> tuple[int, ...]:
        """Return the class and its project ancestors, nearest first (depth first, each once)."""
        found = self._orders.get(index)
        if found is None:
            found = reached(index, lambda one: self.bases(one)[0][::-1])
            self._orders[index] = found
        return found

    def outside_bases(self, index: int) -> Iterator[str]:
        """Yield the dotted names of bases, direct or not, that are not in the project."""
        for ancestor in self.order(index):
            yield from self.bases(ancestor)[1]

    def is_module(self, index: int) -> bool:
        """Return whether a class of the project is an `nn.Module`."""
        found = self._is_module.get(index)
        if found is None:
            found = any(is_outside_module(name) for name in self.outside_bases(index))
            self._is_module[index] = found
        return found

    def subclasses(self, index: int) -> tuple[int, ...]:
        """Return every class below a class, not the class itself."""
        below = self._below()
        found = self._families.get(index)
        if found is None:
            family = reached(index, lambda one: below.get(one, ()))
            found = self._families[index] = family[1:]
        return found

    def method(self, index: int, name: str) -> int:
        """Return the function that `name` is on an instance of a class, or -1."""
        for ancestor in self.order(index):
            found = self.classes[ancestor].method(name)
            if found is not None:
                return found
        return -1

    def owner_of(self, function: Function) -> int:
        """Return the class that a function, or the one it is defined in, is a method of; or -1."""
        while function.owner < 0 and function.parent >= 0:
            function = self.functions[function.parent]
        return function.owner

    def overrides(self, index: int, name: str) -> list[int]:
        """Return the functions that subclasses of a class put in place of method `name`."""
        methods = (self.classes[below].method(name) for below in self.subclasses(index))
        return [method for method in methods if method is not None]

    def _below(self) -> dict[int, list[int]]:
        if self._subclasses is None:
            below: dict[int, list[int]] = {}
            for one in list(self.classes):
                for base in self.bases(one.index)[0]:
                    below.setdefault(base, []).append(one.index)
            self._subclasses = below
            self._families.clear()
        return self._subclasses

    def _resolve(self, module: str, name: str, depth: int) -> Symbol:
        head, _, rest = name.partition(".")
        symbol = self._member(module, head, depth)
        while rest and symbol is not _NOTHING:
            head, _, rest = rest.partition(".")
            symbol = self.attribute(symbol, head, depth)
        return symbol

    def attribute(self, symbol: Symbol, name: str, depth: int = 0) -> Symbol:
        """Return what `symbol.name` means, of a package, module or class."""
        ref = symbol.ref
        if ref is None:
            return Symbol(name=f"{symbol.name}.{name}") if symbol.name else _NOTHING
        if ref.role is Role.PACKAGE:
            return self._member(symbol.name, name, depth + 1)
        if ref.role is Role.CLASS:
            function = self.method(ref.at, name)
            if function >= 0:
                return Symbol(Ref(Role.FUNCTION, function))
            one = self.classes[ref.at]
            inner = one.file.top_classes.get(f"{one.facts.qualname}.{name}")
            if inner is not None:
                return Symbol(Ref(Role.CLASS, self.first_class[one.file.module] + inner))
        return _NOTHING

    def _member(self, module: str, name: str, depth: int) -> Symbol:
        """Return what `name` is inside `module`, following imports."""
        if depth > _DEPTH:
            return _NOTHING
        file = self.file(module)
        if file is None:
            inner = f"{module}.{name}"
            if module in self._folders and (self.file(inner) or inner in self._folders):
                return self._package(inner)
            return Symbol(name=inner)
        if name in file.imports:
            return self._or_stand_in(file, name, self._imported(file, name, depth))
        return self._defined(file, name) or self._imported(file, name, depth)

    def _or_stand_in(self, file: FileFacts, name: str, found: Symbol) -> Symbol:
        """Return what `try: from x import name` brings, and what a file defines where it brings none.

        What is of the project, or of a package that is taken to be there, is what runs.
        """
        if found.ref is not None or found.name.partition(".")[0] in ("", *CLAIMED):
            return found
        own = self._defined(file, name) if name in file.top_functions else None
        return found if own is None else replace(found, stand_in=own.ref)

    def _defined(self, file: FileFacts, name: str) -> Symbol | None:
        """Return what a file itself defines under a name."""
        module = file.module
        if name in file.top_functions:
            at = self.first_function[module] + file.top_functions[name]
            return Symbol(Ref(Role.FUNCTION, at))
        if name in file.top_classes:
            return Symbol(Ref(Role.CLASS, self.first_class[module] + file.top_classes[name]))
        return Symbol(constant_of=(file, name)) if name in file.assigns else None

    def _imported(self, file: FileFacts, name: str, depth: int) -> Symbol:
        """Return what a file's imports, or its submodules, bring under a name."""
        module = file.module
        if name in file.imports:
            return self._brought(file, *file.imports[name], depth)
        for source in file.stars:
            star = self.homes.meant(file, source)
            if star is not None and star != module and self.file(star) is not None:
                symbol = self._member(star, name, depth + 1)
                if symbol is not _NOTHING:
                    return symbol
        if self.file(f"{module}.{name}") is not None or f"{module}.{name}" in self._folders:
            return self._package(f"{module}.{name}")
        return _NOTHING

    def _brought(self, file: FileFacts, source: str, member: str | None, depth: int) -> Symbol:
        """Return what an import in a file binds; `member` is None for a module."""
        module = self._beside(file, source) or self.homes.meant(file, source)
        if module is not None and source.partition(".")[0] in CLAIMED:
            module = module if self._has(module, source, member) else None
        if module is None:
            return Symbol(name=source if member is None else f"{source}.{member}")
        if member is None:
            return self._package(module)
        if module == file.module:
            return self._package(f"{module}.{member}")
        return self._member(module, member, depth + 1)

    def _beside(self, file: FileFacts, source: str) -> str | None:
        """Return the module that a script imports from its own folder, which has a longer name."""
        folder = file.module.rpartition(".")[0]
        if not folder or source.partition(".")[0] in CLAIMED:
            return None
        if file.module.partition(".")[0] in self.files:
            return None  # in a package with an `__init__.py`, no script
        inner = f"{folder}.{source}"
        return inner if self.file(inner) is not None else None

    def _has(self, module: str, source: str, member: str | None) -> bool:
        """Return whether a module named as one from outside holds what is imported of it."""
        file = self.file(module)
        if member is None:
            return file is not None and "." in source
        if self.file(f"{module}.{member}") is not None:
            return True
        return file is not None and (
            member in file.imports or self._defined(file, member) is not None
        )

    def _package(self, module: str) -> Symbol:
        if self.file(module) is not None or module in self._folders:
            return Symbol(Ref(Role.PACKAGE, 0), module)
        return Symbol(name=module)
