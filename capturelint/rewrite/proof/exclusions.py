"""The modules of a case that are to run eagerly, since their lines to blame stay: proven, or in words."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace

from capturelint.debug.attempts.part import Part
from capturelint.debug.events import Event, Said
from capturelint.debug.ledger import Ledger
from capturelint.debug.paths import is_below
from capturelint.debug.warmup import Warm
from capturelint.finding import Effect
from capturelint.rewrite.excluding.engines import suggestion
from capturelint.rewrite.proof.excluding import (
    Excluded,
    changed,
    excluded,
    notes_on,
    outermost,
    proven,
)
from capturelint.rewrite.proof.kept import KeptError
from capturelint.rewrite.proof.trial import Bench
from capturelint.verdict import Culprit, Kept, Place

_PIECES = "capture in pieces"


@dataclass(slots=True)
class Exclusions:
    """What becomes of modules whose lines stay. Ask for `classes`, then for what is `kept`.

    `part`: what a module receives. `bench`: what runs one. `rewritten`: a context with all other new
    code. Then `texts` are new texts of files, `places` the lines that no longer matter, `notes` what to
    know about that; `suggestions` are words and code.
    """

    warm: Warm
    ledger: Ledger
    emit: Callable[[Event], None]
    part: Callable[[str], Part | None]
    bench: Callable[[Part, str], Bench]
    rewritten: Callable[[], AbstractContextManager[object]]
    texts: dict[str, str] = field(default_factory=dict)
    places: tuple[Place, ...] = ()
    notes: tuple[str, ...] = ()
    suggestions: list[str] = field(default_factory=list)
    _kept: list[Kept] = field(default_factory=list)
    _stays: list[Culprit] = field(default_factory=list)
    _those: dict[str, Excluded] = field(default_factory=dict)

    def classes(self, culprits: Sequence[Culprit], kept: Sequence[Kept]) -> list[Excluded]:
        """Return the modules to blame for lines that are `kept`, one for each class."""
        places = {one.place for one in kept}
        self._kept = list(kept)
        # What pad rows leak, they leak eagerly too.
        self._stays = [
            one for one in culprits if one.place in places and one.effect is not Effect.LEAKS
        ]
        roots = self.warm.instance.parts
        paths = list(dict.fromkeys(one.module for one in self._stays))
        inner = outermost(path for path in paths if path not in roots)
        for path in [*inner, *(path for path in paths if path in roots)]:
            try:
                self._those[path] = excluded(path, self.warm, self.part(path))
            except KeptError as error:
                is_root = path in roots
                self._keep(
                    [
                        one
                        for one in self._stays
                        if one.module == path or (not is_root and is_below(one.module, path))
                    ],
                    str(error),
                )
        return list({one.cls: one for one in self._those.values()}.values())

    def kept(self, texts: Mapping[str, str], form: str) -> list[Kept]:
        """Return the lines that stay after all. `texts`: of the files of the classes."""
        classes = list({one.cls: one for one in self._those.values()}.values())
        if form != "torch":
            self.suggestions += [suggestion(form, one.told) for one in classes]
        elif classes:
            inside = [one for one in self._stays if self._is_excluded(one.module)]
            try:
                self._break(texts, classes)
            except KeptError as error:
                self._keep(inside, str(error))
            else:
                self.places = tuple(dict.fromkeys(one.place for one in inside if one.place))
        return [one for one in self._kept if one.place not in self.places]

    def _is_excluded(self, module: str) -> bool:
        return any(is_below(module, path) for path in self._those)

    def _break(self, texts: Mapping[str, str], classes: Sequence[Excluded]) -> None:
        """Change the classes, if the case is proven to run in pieces then. Raises `KeptError`."""
        self.emit(Said("capturing in pieces"))
        died = self.ledger.died(_PIECES)
        if died is not None:
            raise KeptError(died.why)
        new: dict[str, str] = {}
        for one in classes:
            if one.path not in texts:
                raise KeptError(f"{one.path} cannot be read")
            new[one.path] = changed(new.get(one.path, texts[one.path]), [one])
        benches = [self.bench(part, _PIECES) for part in self.warm.instance.parts.values()]
        with self.rewritten():
            proof = proven(new, classes, self.warm, benches)
        self.texts, self.notes = new, tuple(notes_on(list(self._those.values()), proof))

    def _keep(self, culprits: Sequence[Culprit], why: str) -> None:
        """Add to the reason of lines that stay why their modules cannot be excluded."""
        places = {one.place for one in culprits}
        self._kept = [
            replace(one, reason=f"{one.reason}; not run eagerly: {why}")
            if one.place in places
            else one
            for one in self._kept
        ]
