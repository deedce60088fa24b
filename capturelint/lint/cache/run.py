"""One run of `check`: its findings are read back if nothing that they rest on has changed."""

from __future__ import annotations

import gc
import json
import os
import secrets
from collections.abc import Callable, Sequence
from dataclasses import astuple, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from capturelint.config import Config
from capturelint.lint.cache.content import digest, has_stamp
from capturelint.lint.cache.folder import CacheFolder
from capturelint.lint.cache.results import as_json, from_json, said_as_text, said_from_text
from capturelint.lint.cache.seen import Held, Seen
from capturelint.lint.cache.tool import all_in, tool_digest
from capturelint.lint.discovery import discover
from capturelint.lint.modules import Modules
from capturelint.lint.result import CheckResult

if TYPE_CHECKING:
    from capturelint.lint.cache.edited import Edited
    from capturelint.lint.cache.store import FactsStore
    from capturelint.lint.registry import RuleEntry
    from capturelint.lint.subjects import Mender

# Gives all rules, and what gives their reports fixes.
Judges: TypeAlias = "Callable[[], tuple[Sequence[RuleEntry], Mender | None]]"

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
        self._paths = paths
        self._config = config
        self._modules = Modules(config.root)
        tool = tool_digest()
        found, problems = discover(paths, exclude=config.exclude, root=config.root)
        self._files = [(path, *self._modules.name_of(path)) for path in found]
        asked = [
            tool,
            all_in(config.rule_folders),
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
        self._said = ""
        self._token = ""
        self.seen = Seen()

    def store(self) -> FactsStore:
        """Return the facts of files that earlier runs kept."""
        from capturelint.lint.cache.store import FactsStore

        return FactsStore(self._folder, self._tool)

    def found(self, judges: Judges | None = None) -> CheckResult | None:
        """Return what the same run finds, if not all of it has to be made; else None.

        `judges` are asked where functions have changed; without them, all is to be made then.
        """
        kept: Any = self._folder.load(self._name)
        if kept is None:
            return None
        key, files, texts, absent, packages, words, parts, said, token, result = kept
        if key != self._key or not self._are_absent(absent) or not self._are_alike(packages):
            return None
        known = {
            path: Held(held, stamp and tuple(stamp), *rest) for path, held, stamp, *rest in files
        }
        if any(str(path) not in known for path, _, _ in self._files):
            return None
        self.seen = Seen(known, set(texts), set(absent), packages, words=tuple(words))
        self._parts, self._said, self._token = parts, said, token
        found = self._still(result, judges)
        if found is None:
            self.seen = Seen()
            self._parts = self._said = self._token = ""
        return found

    def keep(self, result: CheckResult) -> None:
        """Keep what was found, unless the run needed a file that was not seen when it was planned.

        Nor what rests on a file that changed meanwhile.
        """
        if self.seen.is_torn or any(str(path) not in self.seen.files for path, _, _ in self._files):
            return
        if self.seen.evaluated is not None:
            from capturelint.lint.cache import evaluations

            self._token = secrets.token_hex(16)
            evaluations.save(self._folder, self._key, self._token, self.seen.evaluated)
            self._said = said_as_text(self.seen.said)
        kept = [
            self._key,
            [(path, *astuple(one)) for path, one in self.seen.files.items()],
            sorted(self.seen.texts),
            sorted(self.seen.absent),
            self.seen.packages,
            self.seen.words,
            # Text inside of text: most runs that are read back need none of it.
            self._parts_text(),
            self._said,
            self._token,
            as_json(result),
        ]
        self._folder.save(self._name, [json.dumps(kept, separators=(",", ":"))])
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

    def _still(self, result: Any, judges: Judges | None) -> CheckResult | None:
        """Return what is found, kept with files as they are now; None if too much changed."""
        known = self.seen.files
        touched = [path for path, held in known.items() if not has_stamp(path, held.stamp)]
        if not touched:
            return from_json(result)
        # Only here: most runs that are read back need none of it.
        from capturelint.lint.cache.edited import Edited

        edited = Edited(self.seen, self._parts)
        for path in touched:
            now = edited.as_it_is(path, known[path])
            if now is None:
                return None
            known[path] = now
        if edited.has_moved and self._config.rule_folders:
            # A rule of the user's own may speak of lines.
            return None
        if edited.changed or edited.judged:
            found = self._rechecked(edited, from_json(result), judges)
        else:
            found = self._moved(edited, from_json(result))
        if found is not None:
            self._parts = edited.parts_text()
            self.keep(found)
        return found

    def _moved(self, edited: Edited, result: CheckResult) -> CheckResult | None:
        """Return what was found with its lines as they are now, None if one cannot be told."""
        from capturelint.lint.cache.edited import UnplacedError

        if not edited.has_moved:
            return result
        try:
            if self._said:
                said = said_from_text(self._said)
                moved = [replace(one, finding=edited.finding(one.finding)) for one in said]
                self._said = said_as_text(moved)
            return replace(result, findings=tuple(map(edited.finding, result.findings)))
        except UnplacedError:
            return None

    def _rechecked(
        self,
        edited: Edited,
        result: CheckResult,
        judges: Judges | None,
    ) -> CheckResult | None:
        """Return what is found where only functions and comments changed; None if in doubt."""
        from capturelint.lint.cache import evaluations

        if judges is None or not self._token:
            return None
        evaluated = evaluations.load(self._folder, self._key, self._token)
        if evaluated is None:
            return None
        from capturelint.lint.recheck import Before, recheck

        before = Before(result, said_from_text(self._said), evaluated)
        rules, mend = judges()
        now = recheck(
            self._paths,
            self._config,
            rules,
            edited,
            before,
            store=self.store(),
            seen=self.seen,
            mend=mend,
        )
        if now is None:
            # What was linked holds cycles, and all is made anew now; the collector may be off.
            del before, evaluated
            gc.collect()
            return None
        self.seen.said, self.seen.evaluated = now.said, now.evaluated
        return now.result
