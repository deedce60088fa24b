"""Which module of the project a file imports by a name: that which Python would find from there."""

# ruff: noqa: PTH100, PTH109, PTH118, PTH119, PTH120 - done for each file of a tree, and Path objects are slow

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from pathlib import Path

from capturelint.lint.notebook import is_notebook
from capturelint.names import FileFacts

# What code that works gets from the standard library or from torch and numpy, whatever files of the
# same name lie about: with such a file in the way it would not run.
CLAIMED = frozenset(sys.stdlib_module_names) | {"torch", "numpy"}
# Packages that projects name folders for what they do with them after, such as `tests/transformers`.
_WIDESPREAD = frozenset(
    "accelerate apex bitsandbytes cupy cutlass datasets deepspeed diffusers einops flash_attn"
    " flashinfer huggingface_hub jax keras lightning megatron numba onnx onnxruntime pandas peft"
    " pytorch_lightning ray safetensors scipy sglang sklearn tensorflow tensorrt timm tokenizers"
    " torchaudio torchvision tqdm transformer_engine transformers triton vllm xformers yaml".split()
)
_SOURCES = frozenset({"src", "lib", "python", "site-packages", "dist-packages"})


def roots_of(folder: Path) -> tuple[str, ...]:
    """Return the folders that Python is run from in a project, the deepest first."""
    top = os.path.abspath(folder)
    return tuple(dict.fromkeys((os.path.join(top, "src"), top, os.getcwd())))


class Homes:
    """The folders that names of modules start from, of which several may hold a module of a name.

    `roots` are folders that Python is run from, absolute. A file that is in no package can be
    imported from its own folder and from the roots alone.
    """

    def __init__(self, roots: Iterable[str] = ()) -> None:
        self._roots = tuple(roots)
        # Of each first part of a name, what modules are called that are below a home.
        self._prefixes: dict[str, dict[str, str]] = {}
        self._packages: dict[str, list[str]] = {}
        self._home_of: dict[str, str] = {}
        self._prefix_of: dict[str, str] = {}
        self._absolute: dict[str, str] = {}
        self._second: dict[str, str] = {}

    def begin(self, files: Iterable[FileFacts]) -> None:
        """Let modules at the roots have the plain names, whatever is added first."""
        for facts in files:
            if "." not in facts.module and not facts.is_package:
                home = self._home(os.path.dirname(facts.path), 0)[0]
                if home in self._roots:
                    self.name(facts)

    def name(self, facts: FileFacts) -> str:
        """Return what to call a module that is added: its own name, the first of each name."""
        top, _, rest = facts.module.partition(".")
        ups = facts.module.count(".") + facts.is_package
        home, shown = self._home(os.path.dirname(facts.path), ups)
        self._home_of[facts.path] = home
        if not is_notebook(facts.path):
            if rest or facts.is_package:
                packages = self._packages.setdefault(top, [])
                if home not in packages:
                    packages.append(home)
            self._prefixes.setdefault(top, {})
        homes = self._prefixes.get(top)
        if homes is None:
            return facts.module
        prefix = homes.get(home)
        if prefix is None:
            prefix = f"{shown.replace('/', '.') or './'}." if homes else ""
            homes[home] = prefix
            if prefix:
                self._second[prefix] = home
        self._prefix_of[facts.path] = prefix
        return prefix + facts.module

    def plain_name(self, file: FileFacts) -> str:
        """Return the name of a file's module from its home, as it would be imported from there."""
        return file.module.removeprefix(self._prefix_of.get(file.path, ""))

    def meant(self, file: FileFacts, source: str) -> str | None:
        """Return what a module of the project is called that a file imports; None if it is outside.

        It need not be there.
        """
        top = source.partition(".")[0]
        homes = self._prefixes.get(top)
        if homes is None:
            return None
        home = self._home_of[file.path]
        prefix = homes.get(home)
        if prefix is None and top not in CLAIMED:
            prefix = next((homes[root] for root in self._roots if root in homes), None)
            if prefix is None:
                prefix = next(
                    (homes[one] for one in self._packages.get(top, ()) if _is_found(top, one)), None
                )
        return None if prefix is None else prefix + source

    def place(self, module: str) -> tuple[str, str] | None:
        """Return the home of a package's module, and its name from there; None if none is known."""
        for prefix, home in self._second.items():
            if module.startswith(prefix):
                rest = module[len(prefix) :]
                if home in self._packages.get(rest.partition(".")[0], ()):
                    return home, rest
        top = module.partition(".")[0]
        homes = self._prefixes.get(top, {})
        for home in self._packages.get(top, ()):
            if not homes[home]:
                return home, module
        return None

    def _home(self, folder: str, ups: int) -> tuple[str, str]:
        """Return the folder `ups` above one, absolute and as it was given."""
        absolute = self._absolute.get(folder)
        if absolute is None:
            absolute = self._absolute[folder] = os.path.abspath(folder)
        for _ in range(ups):
            absolute, folder = os.path.dirname(absolute), os.path.dirname(folder)
        return absolute, folder


def _is_found(top: str, home: str) -> bool:
    """Return whether a package is likely to be what all code that names it imports."""
    return top not in _WIDESPREAD or os.path.basename(home) in _SOURCES
