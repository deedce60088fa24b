"""The files of one run as they are gathered: what they hold, by the names of their modules."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from capturelint.lint.homes import Homes
from capturelint.lint.symbols import Class, Function
from capturelint.names import FileFacts


class Gathered:
    """All files, each module once. `load` brings a module that was not asked for.

    It is given the folder that the module's name starts from, and the name. Modules brought by
    `load` take part in the link but are not reported. `roots` are folders that Python is run from.
    """

    def __init__(
        self,
        load: Callable[[str, str], FileFacts | None] | None = None,
        *,
        roots: Iterable[str] = (),
    ) -> None:
        self.homes = Homes(roots)
        self.files: dict[str, FileFacts] = {}
        self.functions: list[Function] = []
        self.classes: list[Class] = []
        self.first_function: dict[str, int] = {}
        self.first_class: dict[str, int] = {}
        self.packages: set[str] = set()
        # Attributes that some code sets from outside: what a class itself says of them is not all.
        self.foreign: set[str] = set()
        self._load = load
        self._missing: set[str] = set()
        self._folders: set[str] = set()

    def add(self, facts: FileFacts) -> None:
        """Add a file. The second of two files of one module name is known by its path as well."""
        if "." in facts.module or facts.is_package:
            self.packages.add(facts.module.partition(".")[0])
        module = self.homes.name(facts)
        if module in self.files:
            module = facts.path.replace("/", ".")
        if module != facts.module:
            facts = replace(facts, module=module)
        self.files[facts.module] = facts
        self.foreign.update(facts.foreign)
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
            self.classes.append(Class(class_base + offset, facts, one, base))

    def functions_of(self, facts: FileFacts) -> list[Function]:
        """Return the functions of one file that was added, in its order."""
        start = self.first_function[facts.module]
        return self.functions[start : start + len(facts.functions)]

    def file(self, module: str) -> FileFacts | None:
        """Return the facts of a module, reading it if it belongs to a package of the project."""
        found = self.files.get(module)
        if found is not None or self._load is None or module in self._missing:
            return found
        place = self.homes.place(module)
        facts = None if place is None else self._load(*place)
        if facts is None:
            self._missing.add(module)
            return None
        self.add(facts)
        return facts
