"""What a run leaves of its evaluation, so that a function that changes can be checked alone."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from capturelint.lint.linked import Linked
from capturelint.lint.values.accounts import Accounts, Record, first_line
from capturelint.lint.values.analysis import Analysis

Chain = tuple[int, int]

_dumps = json.JSONEncoder(separators=(",", ":")).encode


@dataclass(slots=True)
class Evaluated:
    """The records of functions by path, and what is known of all functions. All are JSON values.

    `names` and `values` are what records count. `chains` say, for what is captured and for what runs
    each step, who first called a function, and on which line, counted from the caller's first.
    `captured` are the functions that are, `looked_at` those in which something was looked for.
    Records and chains are JSON as text, since of most nothing is needed later.
    """

    names: list[str]
    values: list[str]
    records: dict[str, str]
    chains: list[str]
    captured: list[int]
    looked_at: list[int]

    def records_of(self, path: str) -> dict[int, Record]:
        """Return the records of a file, by the place of a function in it."""
        rows = json.loads(self.records.get(path, "[]"))
        return {place: Record(*record) for place, record in rows}

    def keep(self, path: str, records: Mapping[int, Record]) -> None:
        """Put records of a file in place of those that were kept."""
        self.records[path] = _dumps(list(records.items()))

    def chains_of(self, phase: int) -> dict[int, Chain]:
        """Return who first called each function, in one phase."""
        return {at: (caller, line) for at, caller, line in json.loads(self.chains[phase])}

    def keep_chains(self, phase: int, chains: Mapping[int, Chain]) -> None:
        """Put chains of a phase in place of those that were kept."""
        self.chains[phase] = _dumps([(at, *one) for at, one in chains.items()])


def evaluated(linked: Linked, accounts: Accounts) -> Evaluated:
    """Return what the finished evaluation of a run leaves."""
    analyses = {0: linked.analysis}
    if linked.around is not None:
        analyses[1] = linked.around.analysis
    failed = {index for one in analyses.values() for index in one.failures}
    used = {index for one in analyses.values() for index in one.entrance.signed()}
    records: dict[str, list[str]] = {}
    for index in sorted((used | accounts.closed.keys()) - failed):
        function = linked.project.functions[index]
        record = accounts.record_of(function, analyses)
        if record is not None:
            rows = records.setdefault(function.file.path, [])
            rows.append(f"[{function.place},{record}]")
        accounts.forget(index)
    return Evaluated(
        accounts.coding.names,
        accounts.coding.values,
        {path: f"[{','.join(rows)}]" for path, rows in records.items()},
        [_chains(analyses, phase) for phase in (0, 1)],
        list(linked.captured),
        sorted(linked.looked_at()),
    )


def _chains(analyses: Mapping[int, Analysis], phase: int) -> str:
    found: list[tuple[int, int, int]] = []
    if phase in analyses:
        functions = analyses[phase].project.functions
        for index, state in analyses[phase].states.items():
            if state.chain is not None:
                caller, line = state.chain
                found.append((index, caller, line - first_line(functions[caller])))
    return _dumps(found)
