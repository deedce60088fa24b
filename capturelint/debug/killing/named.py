"""Put the module, line and operation that kill in the place of what was only seen to die."""

from __future__ import annotations

from collections.abc import Iterable

from capturelint.debug.killing.killer import Killing
from capturelint.debug.modules import Modules
from capturelint.debug.search import Found, How
from capturelint.verdict import Certainty


def killers_named(found: Iterable[Found], modules: Modules, killing: Killing) -> list[Found]:
    """Return what was found, with what kills named in each module that died.

    What it comes to is then in `apart` of `modules`. Where it is not told, a note says why.
    """
    return [_named(one, modules, killing) for one in found]


def _named(found: Found, modules: Modules, killing: Killing) -> Found:
    path = found.path
    outcome = modules.apart.get(path) or modules.outcomes[path]
    if not outcome.died or outcome.certainty is Certainty.SHOWN:
        return found  # what a capture raised tells its line
    replaced = [modules.parts[one] for one in sorted(modules.replaced.get(path, ()))]
    killer = killing.killer(modules.parts[path], replaced, outcome)
    if isinstance(killer, str):
        modules.notes.append(killer)
        return found
    # Only what was recorded can be told of.
    module = killer.module if modules.reach(killer.module, path) else path
    modules.apart[module] = killer.outcome
    return Found(module, outcome.verdict, How.OWN if module == path else How.WHOLE)
