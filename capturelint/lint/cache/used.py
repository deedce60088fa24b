"""What a run that checked only changed functions used, noted with what the run before it used."""

from __future__ import annotations

from capturelint.lint.cache.edited import Edited
from capturelint.lint.cache.parts import Parts
from capturelint.lint.cache.seen import Seen


def note(now: Seen, before: Seen, edited: Edited) -> None:
    """Add to `before` what was seen `now`. The comments of files that were `edited` count anew."""
    before.is_torn = now.is_torn
    before.absent |= now.absent
    before.texts |= now.texts
    before.words = now.words or before.words
    for path in (*edited.changed, *edited.judged):
        known = edited.parts[path]
        known.is_judged = known.is_silent = False
    for path, found in now.parts.items():
        known = edited.parts.setdefault(path, Parts())
        for place, part in found.functions.items():
            known.functions.setdefault(place, part)
        if found.is_judged:
            known.is_judged, known.is_silent = True, found.is_silent
