"""One run of `check`: its findings are read back if nothing that they rest on has changed."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import astuple, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from capturelint.config import Config
from capturelint.lint.cache.content import digest, has_stamp
from capturelint.lint.cache.folder import CacheFolder
from capturelint.lint.cache.results import as_json, from_json
from capturelint.lint.cache.seen import Held, Seen
from capturelint.lint.cache.tool import code_in, tool_digest
from capturelint.lint.discovery import discover
from capturelint.lint.modules import Modules
from capturelint.lint.result import CheckResult

if TYPE_CHECKING:
    from capturelint.lint.cache.store import FactsStore

_FOLDER = "runs"
_MOST_RUNS = 32


class Run:
    """A run that may have been made before. `settings` are all that its answer depends on.

    `seen` is for the engine to fill, if the run has to be made after all.
    """

    def __init__(
        self, folder: CacheFolder, paths: Sequence[Path], config: Config, *settings: Config
    ) -> None:
        self._folder = folder
        self._config = config
        self._modules = Modules()
        tool = tool_digest()
        found, problems = discover(paths, exclude=config.exclude, root=config.root)
        self._files = [(path, *self._modules.name_of(path)) for path in found]
        asked = [
            tool,
            code_in(config.rule_folders),
            str(Path.cwd()),
            [repr(replace(one, jobs=0)) for one in (config, *settings)],
            [(str(path), path.is_dir(), path.is_file()) for path in paths],
            [(str(path), *name) for path, *name in self._files],
            [repr(problem) for problem in problems],
        ]
        self._key = digest(json.dumps(asked).encode())
        self._name = f"{_FOLDER}/{self._key}.json"
        self._tool = tool
        self._parts = ""
        self.seen = Seen()

    def store(self) -> FactsStore:
        """Return the facts of files that earlier runs kept."""
        from capturelint.lint.cache.store import FactsStore

        return FactsStore(self._folder, self._tool)

    def found(self) -> CheckResult | None:
        """Return what the same run found before, None if it has to be made."""
        kept: Any = self._folder.load(self._name)
        if kept is None:
            return None
        key, files, texts, absent, packages, words, parts, result = kept
        if key != self._key or not self._are_absent(absent) or not self._are_alike(packages):
            return None
        known = {
            path: Held(held, stamp and tuple(stamp), *rest) for path, held, stamp, *rest in files
        }
        if any(str(path) not in known for path, _, _ in self._files):
            return None
        self.seen = Seen(known, set(texts), set(absent), packages, words=tuple(words))
        found = self._still(result, parts)
        if found is None:
            self.seen = Seen()
        return found

    def keep(self, result: CheckResult) -> None:
        """Keep what was found, unless the run needed a file that was not seen when it was planned."""
        if any(str(path) not in self.seen.files for path, _, _ in self._files):
            return
        kept = [
            self._key,
            [(path, *astuple(one)) for path, one in self.seen.files.items()],
            sorted(self.seen.texts),
            sorted(self.seen.absent),
            self.seen.packages,
            self.seen.words,
            # Text inside of text: most runs that are read back need none of it.
            self._parts_text(),
            as_json(result),
        ]
        self._folder.save(self._name, json.dumps(kept, separators=(",", ":")))
        self._folder.prune(_FOLDER, _MOST_RUNS)

    def _parts_text(self) -> str:
        if self._parts:
            return self._parts
        from capturelint.lint.cache.parts import as_text

        return as_text(self.seen.parts)

    def _are_alike(self, packages: dict[str, str]) -> bool:
        return all(
            self._modules.listing(Path(folder))[1] == known for folder, known in packages.items()
        )

    def _are_absent(self, paths: Sequence[str]) -> bool:
        return not any(os.path.isfile(path) for path in paths)  # noqa: PTH113 - for speed

    def _still(self, result: Any, parts: str) -> CheckResult | None:
        """Return what was found, kept with files as they are now; None if one changed to matter."""
        known = self.seen.files
        touched = [path for path, held in known.items() if not has_stamp(path, held.stamp)]
        if not touched:
            return from_json(result)
        # Only here: most runs that are read back need none of it.
        from capturelint.lint.cache.edited import Edited

        edited = Edited(self.seen, parts, may_move=not self._config.rule_folders)
        for path in touched:
            now = edited.as_it_is(path, known[path])
            if now is None:
                return None
            known[path] = now
        found = edited.moved(from_json(result))
        if found is not None:
            self._parts = edited.parts_text()
            self.keep(found)
        return found
