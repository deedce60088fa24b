"""Outcomes in a file: what is kept, what is believed, and what is left behind."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from capturelint.debug.cases.loaded_files import stamp
from capturelint.debug.events import Event, Judged, Loaded, Said, Started
from capturelint.debug.outcome import Outcome
from capturelint.debug.processes import journal
from capturelint.debug.processes.journal import Journal, digest, found_before
from capturelint.debug.processes.request import Request
from capturelint.debug.settings import Settings
from capturelint.verdict import Verdict

REQUEST = Request("pkg.mod:make")
EQUAL = Outcome(Verdict.EQUAL)
REFUSES = Outcome(Verdict.REFUSES, message="not permitted")
BOTH = {"judge a": EQUAL, "judge b": REFUSES}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / ".capturelint_cache"


def kept(folder: Path, *events: Event, is_resumed: bool = False) -> Path:
    """Keep `events` as a run does that is killed then, and return the file."""
    journal = Journal(REQUEST, is_resumed=is_resumed, folder=folder)
    for event in (Loaded({}), *events):
        journal.keep(event)
    journal.close(is_done=False)
    assert journal.problem == ""
    (path,) = (folder / "bisect").iterdir()
    return path


def judged(outcomes: dict[str, Outcome]) -> list[Event]:
    return [Judged(step, outcome) for step, outcome in outcomes.items()]


def test_what_a_killed_run_found_is_found_again(folder: Path) -> None:
    kept(folder, Said("a"), Started("judge a"), *judged(BOTH))

    assert found_before(REQUEST, folder) == BOTH


def test_without_an_earlier_run_nothing_is_known_and_nothing_is_made(folder: Path) -> None:
    assert found_before(REQUEST, folder) == {}
    assert not folder.exists()


def test_a_resumed_run_adds_to_the_file(folder: Path) -> None:
    kept(folder, Judged("judge a", EQUAL))
    kept(folder, Judged("judge b", REFUSES), is_resumed=True)

    assert found_before(REQUEST, folder) == BOTH


def test_a_run_that_is_not_resumed_starts_anew(folder: Path) -> None:
    kept(folder, Judged("judge a", EQUAL))
    Journal(REQUEST, is_resumed=False, folder=folder)

    assert found_before(REQUEST, folder) == {}


def test_a_run_that_came_to_its_end_leaves_no_file(folder: Path) -> None:
    kept(folder, *judged(BOTH))
    Journal(REQUEST, is_resumed=True, folder=folder).close(is_done=True)

    assert list((folder / "bisect").iterdir()) == []


def test_the_folder_tells_git_and_backups_to_leave_it_out(folder: Path) -> None:
    kept(folder, *judged(BOTH))

    assert (folder / ".gitignore").read_text() == "*\n"
    tag = (folder / "CACHEDIR.TAG").read_text()
    assert tag.startswith("Signature: 8a477f597d28d172789f06886806bc55\n")


@pytest.mark.parametrize("cut", range(1, 60, 7))
def test_a_line_that_was_cut_off_is_left_out_and_the_next_one_is_whole(
    cut: int, folder: Path
) -> None:
    path = kept(folder, *judged(BOTH))
    path.write_bytes(path.read_bytes()[:-cut])
    kept(folder, Judged("judge c", EQUAL), is_resumed=True)

    assert found_before(REQUEST, folder) == {
        name: outcome
        for name, outcome in {**BOTH, "judge c": EQUAL}.items()
        if name != "judge b" or cut == 1  # only the line end was lost
    }


HOSTILE = [
    b"__import__('os').abort()",
    b'["Judged", {"step": "judge c", "outcome": null}]',
    b'["Judged", {"step": 3, "outcome": {}}]',
    b'["Finished", {}]',
    b"\xff\xfe\x00",
    b"[" * 100_000,
    b"1" * 100_000,
    b"",
]


@pytest.mark.parametrize("line", HOSTILE, ids=range(len(HOSTILE)))
def test_a_line_that_holds_no_outcome_is_left_out(line: bytes, folder: Path) -> None:
    path = kept(folder, *judged(BOTH))
    path.write_bytes(line + b"\n" + path.read_bytes() + line + b"\n")

    assert found_before(REQUEST, folder) == BOTH


def test_outcomes_of_files_that_nobody_knows_are_not_believed(folder: Path) -> None:
    path = kept(folder, *judged(BOTH))
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(line for line in lines if b"Loaded" not in line))

    assert found_before(REQUEST, folder) == {}


def test_outcomes_of_a_file_that_changed_since_are_not_believed(
    folder: Path, tmp_path: Path
) -> None:
    model = tmp_path / "model.py"
    model.write_text("old")
    kept(folder, Loaded({str(model): stamp(str(model))}), *judged(BOTH))
    assert found_before(REQUEST, folder) == BOTH

    model.write_text("edited")

    assert found_before(REQUEST, folder) == {}


def test_what_the_same_files_are_is_written_once(folder: Path) -> None:
    path = kept(folder, Loaded({}), Judged("judge a", EQUAL), Loaded({}))

    assert path.read_bytes().count(b"Loaded") == 1


def test_a_folder_that_cannot_be_made_is_a_problem_and_no_error(folder: Path) -> None:
    folder.write_text("a file")
    journal = Journal(REQUEST, is_resumed=False, folder=folder)
    for event in judged(BOTH):
        journal.keep(event)
    journal.close(is_done=True)

    assert journal.problem == f"{folder} cannot be written: Not a directory"
    assert found_before(REQUEST, folder) == {}


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
def test_a_link_in_place_of_the_file_is_neither_read_nor_followed(
    folder: Path, tmp_path: Path
) -> None:
    path = kept(folder, *judged(BOTH))
    precious = tmp_path / "precious"
    path.rename(precious)
    before = precious.read_bytes()
    path.symlink_to(precious)
    resumed = Journal(REQUEST, is_resumed=True, folder=folder)
    resumed.keep(Judged("judge c", EQUAL))

    assert found_before(REQUEST, folder) == {}
    assert resumed.problem != ""
    kept(folder, Judged("judge c", EQUAL))
    assert precious.read_bytes() == before


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_a_pipe_in_place_of_the_file_does_not_block(folder: Path) -> None:
    path = kept(folder, *judged(BOTH))
    path.unlink()
    os.mkfifo(path)

    assert found_before(REQUEST, folder) == {}


CHANGES = [
    {"target": "pkg.mod:other"},
    {"inputs": "inputs.py:make"},
    {"call": "generate"},
    {"settings": Settings(train=True)},
    {"settings": Settings(replays=7)},
    {"settings": Settings(skip=("a",))},
    {"settings": Settings(dtype="bfloat16")},
    {"settings": Settings(seed=1)},
]


@pytest.mark.parametrize("change", CHANGES, ids=str)
def test_another_request_has_another_file(change: dict[str, object]) -> None:
    assert digest(replace(REQUEST, **change)) != digest(REQUEST)  # type: ignore[arg-type]


@pytest.mark.parametrize("settings", [Settings(timeout=5), Settings(first=True)])
def test_what_changes_no_outcome_changes_no_file(settings: Settings) -> None:
    assert digest(replace(REQUEST, settings=settings, known=BOTH)) == digest(REQUEST)


@pytest.mark.parametrize("which", ["target", "inputs"])
def test_another_content_of_the_case_file_means_another_file(which: str, tmp_path: Path) -> None:
    path = tmp_path / "case.py"
    request = replace(REQUEST, **{which: f"{path}:make"})  # type: ignore[arg-type]
    digests = [digest(request)]
    for text in ("a = 1", "a = 2"):
        path.write_text(text)
        digests.append(digest(request))

    assert len(set(digests)) == 3


def test_other_devices_mean_another_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal, "_DRIVER", tmp_path / "nvidiactl")
    digests = [digest(REQUEST)]
    (tmp_path / "nvidiactl").touch()
    digests.append(digest(REQUEST))
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "1")
    digests.append(digest(REQUEST))

    assert len(set(digests)) == 3
