"""Check files: index, link, evaluate what is captured, run the rules, filter what they say."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from capturelint.config import Config, Scope
from capturelint.lint.cache.seen import Seen
from capturelint.lint.cache.store import FactsStore
from capturelint.lint.evaluated import evaluated
from capturelint.lint.files import Problem, discover
from capturelint.lint.filters import kept_of
from capturelint.lint.interpreter import (
    with_arenas,
    with_room,
    without_collection,
    without_warnings,
)
from capturelint.lint.judging import said_of_all
from capturelint.lint.linked import Linked
from capturelint.lint.linking import link
from capturelint.lint.registry import RuleEntry, names_of
from capturelint.lint.result import CheckResult
from capturelint.lint.subjects import Mender
from capturelint.lint.unmatched import unmatched
from capturelint.lint.values.accounts import Accounts
from capturelint.rule import Rule, Trait

Progress = Callable[[str], None]


def check(
    paths: Sequence[Path],
    config: Config,
    rules: Sequence[RuleEntry],
    *,
    stdin: tuple[Path, str] | None = None,
    progress: Progress | None = None,
    store: FactsStore | None = None,
    seen: Seen | None = None,
    mend: Mender | None = None,
    texts: Mapping[str, str] | None = None,
) -> CheckResult:
    """Return what the selected rules find in the files under `paths`.

    `store` keeps facts from run to run; `seen` is filled with what was read. `mend` gives fixes.
    `texts` are taken for those of files with these paths.
    """
    active = active_of(rules, config)
    # Accounts do not tell the surroundings, which change on the way to all functions.
    is_kept = seen is not None and store is not None and config.scope is not Scope.ALL
    accounts = Accounts() if is_kept and not texts else None
    linked = linked_files(
        paths,
        config,
        wanted_by(active),
        stdin=stdin,
        progress=progress,
        store=store,
        seen=seen,
        texts=texts,
        accounts=accounts,
    )
    errors, warnings = unmatched(linked, config, [] if stdin is not None else paths)
    linked.reader.forget_trees()
    with without_collection(), without_warnings():
        said = said_of_all(linked, active, progress, mend)
    kept = kept_of(
        [one.finding for one in said],
        linked,
        config,
        frozenset(rule.about.code for rule in active),
        names_of(rules),
        looked_at=linked.looked_at(),
    )
    if seen is not None and accounts is not None and linked.is_settled:
        seen.said, seen.evaluated = said, evaluated(linked, accounts)
    return CheckResult(
        findings=tuple(map(linked.cells.finding, sorted(kept, key=lambda f: f.sort_key))),
        roots=len(linked.roots),
        captured_functions=len(linked.captured),
        files=linked.files,
        presets=linked.presets,
        errors=errors,
        step_functions=len(linked.step_states()),
        warnings=warnings,
    )


def active_of(rules: Sequence[RuleEntry], config: Config) -> list[type[Rule]]:
    """Return the rules that the settings select."""
    return [entry.rule for entry in rules if config.selects(entry.code)]


def wanted_by(active: Sequence[type[Rule]]) -> Callable[[set[str], set[Trait]], bool]:
    """Return what tells whether a rule may want a function, by what was noted in it."""
    names_wanted = frozenset[str]().union(*(rule.triggers.names for rule in active))
    traits_wanted = frozenset[Trait]().union(*(rule.triggers.traits for rule in active))

    def wanted(names: set[str], traits: set[Trait]) -> bool:
        # Asked of each evaluation, so not rule by rule.
        return not (names_wanted.isdisjoint(names) and traits_wanted.isdisjoint(traits))

    return wanted


def linked_files(
    paths: Sequence[Path],
    config: Config,
    wanted: Callable[[set[str], set[Trait]], bool],
    *,
    stdin: tuple[Path, str] | None,
    progress: Progress | None,
    store: FactsStore | None = None,
    seen: Seen | None = None,
    texts: Mapping[str, str] | None = None,
    accounts: Accounts | None = None,
) -> Linked:
    """Return the files under `paths`, or the text from standard input, linked and evaluated."""
    problems: list[Problem] = []
    if stdin is not None:
        found = named = [stdin[0]]
    else:
        found, problems = discover(paths, exclude=config.exclude, root=config.root)
        named = [path for path in paths if path.is_file()]
    with without_collection(), without_warnings(), with_arenas():
        return with_room(
            lambda: link(
                found,
                problems,
                config,
                wanted,
                stdin=stdin,
                progress=progress,
                named=named,
                store=store,
                seen=seen,
                texts=texts,
                accounts=accounts,
            )
        )
