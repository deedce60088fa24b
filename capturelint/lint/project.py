"""The files of one run, linked: modules, symbols, class hierarchy."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from capturelint.kind import Ref, Role, Value
from capturelint.lint.symbols import Class, Function, Symbol, is_outside_module, reached
from capturelint.names import FileFacts

_DEPTH = 12


_NOTHING = Symbol()


class Project:
    """All files, and what names in them mean. `load` brings a module that was not asked for.

    Modules brought by `load` take part in the link but are not reported.
    """

    def __init__(self, load: Callable[[str], FileFacts | None] | None = None) -> None:
        self.files: dict[str, FileFacts] = {}
        self.functions: list[Function] = []
        self.classes: list[Class] = []
        self.first_function: dict[str, int] = {}
        self.first_class: dict[str, int] = {}
        self.packages: set[str] = set()
        # Attributes that some code sets from outside: what a class itself says of them is not all.
        self.foreign: set[str] = set()
        # What annotations mean, by module and name; kept here since it lives as long.
        self.hints: dict[tuple[str, str], Value] = {}
        # The names that are being worked out; whether one of them rests on another that rests on it,
        # so that what they mean depends on which of them is asked for first.
        self.aliases: list[tuple[str, str]] = []
        self.is_circular = False
        self._load = load
        self._symbols: dict[tuple[str, str], Symbol] = {}
        self._orders: dict[int, tuple[int, ...]] = {}
        self._bases: dict[int, tuple[tuple[int, ...], tuple[str, ...]]] = {}
        self._subclasses: dict[int, list[int]] | None = None
        self._families: dict[int, tuple[int, ...]] = {}
        self._missing: set[str] = set()
        self._folders: set[str] = set()
        self._is_module: dict[int, bool] = {}

    def add(self, facts: FileFacts) -> None:
        """Add a file. The second of two files of one module name is known by its path instead."""
        if facts.module in self.files:
            facts = replace(facts, module=facts.path.replace("/", ".").removesuffix(".py"))
        self.files[facts.module] = facts
        self.foreign.update(facts.foreign)
        self.packages.add(facts.module.partition(".")[0])
        folder = facts.module.rpartition(".")[0]
        while folder and folder not in self._folders:
            self._folders.add(folder)
            folder = folder.rpartition(".")[0]
        base, class_base = len(self.functions), len(self.classes)
        self.first_function[facts.module] = base
        self.first_class[facts.module] = class_base
        for offset, function in enumerate(facts.functions):
            owner = class_base + function.owner if function.owner >= 0 else -1
            parent = base + function.parent if function.parent >= 0 else -1
            self.functions.append(Function(base + offset, offset, facts, function, owner, parent))
        for offset, one in enumerate(facts.classes):
            methods = {name: base + index for name, index in one.methods.items()}
            self.classes.append(Class(class_base + offset, facts, one, methods))
        self._subclasses = None

    def file(self, module: str) -> FileFacts | None:
        """Return the facts of a module, reading it if it belongs to a package of the project."""
        found = self.files.get(module)
        if found is not None or self._load is None or module in self._missing:
            return found
        is_ours = module.partition(".")[0] in self.packages
        facts = self._load(module) if is_ours else None
        if facts is None:
            self._missing.add(module)
            return None
        self.add(facts)
        return facts

    def resolve(self, module: str, name: str) -> Symbol:
        """Return what the dotted `name` means at the top level of `module`."""
        key = (module, name)
        if key not in self._symbols:
            self._symbols[key] = _NOTHING
            self._symbols[key] = self._resolve(module, name, 0)
        return self._symbols[key]

    def imported(self, module: str, name: str | None) -> Symbol:
        """Return what `from module import name` (or `import module`, name None) binds."""
        if name is None:
            return self._package(module)
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
            found = self.classes[ancestor].methods.get(name)
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
        methods = (self.classes[below].methods.get(name) for below in self.subclasses(index))
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
            # `try: import x` with a stand-in in the handler: the import is what runs.
            return self._imported(file, name, depth)
        return self._defined(file, name) or self._imported(file, name, depth)

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
            source, member = file.imports[name]
            if member is None:
                return self._package(source)
            if source == module:
                return self._package(f"{module}.{member}")
            return self._member(source, member, depth + 1)
        for star in file.stars:
            if star != module and self.file(star) is not None:
                symbol = self._member(star, name, depth + 1)
                if symbol is not _NOTHING:
                    return symbol
        if self.file(f"{module}.{name}") is not None or f"{module}.{name}" in self._folders:
            return self._package(f"{module}.{name}")
        return _NOTHING

    def _package(self, module: str) -> Symbol:
        if self.file(module) is not None or module in self._folders:
            return Symbol(Ref(Role.PACKAGE, 0), module)
        return Symbol(name=module)
