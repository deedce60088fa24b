"""Hazards planted deep in real models: bisect names the module and the line, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import pytest

from capturelint.debug.processes.request import Request
from capturelint.debug.settings import Settings
from capturelint.verdict import Report, Verdict
from tests.forked import Answer, reports
from tests.plants import FORMS, HARMLESS, REFUSING, STALE, Plant, plant

pytest.importorskip("torch", reason="torch is not installed: no model can run")

from tests.hosts import HOSTS

BAD = {**REFUSING, **STALE}

CASE = """
def make():
    import torch
    from tests.hosts import HOSTS
    model, inputs = HOSTS[{host!r}].make()
"""

PLANT = """
    import {module}
    deep = model.get_submodule({path!r})
    deep.__class__ = {module}.planted(type(deep))
    deep.register_buffer("seen", torch.zeros(()))
"""


@dataclass(frozen=True, slots=True)
class Planting:
    """What is planted in one host. `plants`: by path of the module. `verdict`: of the whole."""

    host: str
    name: str
    plants: Mapping[str, Plant]
    verdict: Verdict

    def __str__(self) -> str:
        return f"{self.host}, {self.name}"

    def written(self, folder: Path) -> str:
        """Write the files into `folder`; return the name of the case."""
        lines = [CASE.format(host=self.host)]
        for path, one in self.plants.items():
            lines.append(PLANT.format(module=one.module, path=path))
            for name, text in one.files.items():
                (folder / name).write_text(text)
        (folder / "case.py").write_text("".join([*lines, "    return model, inputs\n"]))
        return f"{folder / 'case.py'}:make"


def one_hazard() -> Iterator[Planting]:
    """Yield every hazard in every form, spread over the hosts."""
    for at, (name, host) in enumerate(HOSTS.items()):
        for turn, form in enumerate(FORMS):
            hazard = list(BAD)[(at + turn) % len(BAD)]
            path = host.places[(at + turn) % 2]
            plants = {path: plant("one", BAD[hazard], form)}
            yield Planting(name, f"{hazard}, {form}", plants, worst_of(hazard))


def two_hazards() -> Iterator[Planting]:
    """Yield two in each host: both refused, and one stale and one refused."""
    for at, (name, host) in enumerate(HOSTS.items()):
        refused, other = (list(REFUSING)[(at + turn) % len(REFUSING)] for turn in (0, 1))
        stale = list(STALE)[at % len(STALE)]
        for first, second in ((refused, other), (stale, refused)):
            forms = FORMS[at % 5], FORMS[(at + 2) % 5]
            plants = [
                plant(file, BAD[hazard], form)
                for file, hazard, form in zip(("one", "two"), (first, second), forms, strict=True)
            ]
            label = ", ".join([first, forms[0], second, forms[1]])
            yield Planting(
                name, label, dict(zip(host.places, plants, strict=True)), worst_of(first, second)
            )


def no_hazard() -> Iterator[Planting]:
    """Yield what only looks like a hazard, in two places of each host."""
    for at, (name, host) in enumerate(HOSTS.items()):
        chosen = [list(HARMLESS)[(2 * at + turn) % len(HARMLESS)] for turn in (0, 1)]
        plants = {
            path: plant(file, HARMLESS[one], "forward")
            for path, file, one in zip(host.places, ("one", "two"), chosen, strict=True)
        }
        yield Planting(name, f"harmless {', '.join(chosen)}", plants, Verdict.EQUAL)


def worst_of(*hazards: str) -> Verdict:
    """Return what a model with `hazards` shows."""
    return Verdict.REFUSES if not REFUSING.keys().isdisjoint(hazards) else Verdict.STALE


PLANTINGS = [*one_hazard(), *two_hazards(), *no_hazard()]
AVAILABLE = [
    one for one in PLANTINGS if not HOSTS[one.host].needs or find_spec(HOSTS[one.host].needs)
]


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Answer]:
    """Judge all of them at once."""
    return judged(tmp_path_factory, Settings(backend="simulated"), workers=2)


def judged(
    folders: pytest.TempPathFactory, settings: Settings, *, workers: int
) -> dict[str, Answer]:
    """Return the report on each planting whose host is there."""
    requests = {
        str(one): Request(one.written(folders.mktemp("planted")), settings) for one in AVAILABLE
    }
    used = {HOSTS[one.host].source for one in AVAILABLE} - {""}
    return reports(requests, imported=("tests.hosts", *sorted(used)), workers=workers)


@pytest.mark.slow
@pytest.mark.parametrize("planting", PLANTINGS, ids=str)
def test_names_the_modules_and_the_lines(planting: Planting, answers: Mapping[str, Answer]) -> None:
    needs = HOSTS[planting.host].needs
    if needs and planting not in AVAILABLE:
        pytest.skip(f"{needs} is not installed")
    report = answers[str(planting)]
    places = {path: one.place for path, one in planting.plants.items() if one.place[1]}

    assert isinstance(report, Report), report
    assert blamed(report) == places
    assert report.verdict is planting.verdict


def blamed(report: Report) -> dict[str, tuple[str, int]]:
    """Return the file and line that are blamed, by module."""
    return {
        one.module: (Path(one.place.path).name, one.place.line) if one.place else ("", 0)
        for one in report.culprits
    }
