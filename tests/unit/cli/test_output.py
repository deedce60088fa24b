"""Where a report goes, and the progress line."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from pathlib import Path

import pytest

from capturelint.cli import output
from capturelint.cli.progress import progress_line


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_new_file_gets_the_text_and_ordinary_permissions(tmp_path: Path) -> None:
    path = tmp_path / "report.txt"
    ordinary = tmp_path / "ordinary.txt"
    ordinary.touch()

    output.write("é", path)

    assert path.read_bytes() == "é\n".encode()
    assert path.stat().st_mode == ordinary.stat().st_mode
    assert sorted(tmp_path.iterdir()) == [ordinary, path]


def test_an_existing_file_is_replaced_and_keeps_its_permissions(tmp_path: Path) -> None:
    path = tmp_path / "report.txt"
    path.write_text("a longer old report", encoding="utf-8")
    path.chmod(0o640)

    output.write("new", path)

    assert path.read_text(encoding="utf-8") == "new\n"
    assert path.stat().st_mode & 0o777 == 0o640


def test_a_link_to_a_file_stays_a_link(tmp_path: Path) -> None:
    path = tmp_path / "report.txt"
    path.symlink_to("real.txt")

    output.write("new", path)

    assert path.is_symlink()
    assert (tmp_path / "real.txt").read_text(encoding="utf-8") == "new\n"


def test_a_device_is_written_to_not_replaced() -> None:
    output.write("new", Path(os.devnull))

    assert not Path(os.devnull).is_file()


def test_a_failed_write_leaves_the_old_file_and_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "report.txt"
    path.write_text("old", encoding="utf-8")

    def fail(*_: object) -> Path:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(output.OutputError, match=r"report\.txt: No space left on device"):
        output.write("new", path)

    assert path.read_text(encoding="utf-8") == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_what_utf8_cannot_say_is_escaped(tmp_path: Path) -> None:
    output.write("\udce9.py", tmp_path / "report.txt")

    assert (tmp_path / "report.txt").read_bytes() == b"\\udce9.py\n"


def test_a_reader_that_goes_away_is_no_error() -> None:
    program = "from capturelint.cli.output import write; write('x' * 10**6, None); print(end='x')"
    with subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        errors = process.stderr.read()

    assert (process.returncode, errors) == (0, b"")


def test_a_folder_and_a_missing_folder_are_refused(tmp_path: Path) -> None:
    with pytest.raises(output.OutputError) as folder:
        output.check_writable(tmp_path)
    with pytest.raises(output.OutputError) as missing:
        output.check_writable(tmp_path / "gone" / "report.txt")

    assert str(folder.value) == f"cannot write {tmp_path}: it is a folder; name a file in it"
    assert str(missing.value) == (
        f"cannot write {tmp_path}/gone/report.txt: there is no folder {tmp_path}/gone;"
        " create it first"
    )


@pytest.mark.parametrize(
    ("variables", "no_color", "expected"),
    [
        ({}, False, True),
        ({}, True, False),
        ({"NO_COLOR": "1"}, False, False),
        ({"NO_COLOR": ""}, False, True),
        ({"TERM": "dumb"}, False, False),
    ],
)
def test_colours_are_only_for_terminals_that_want_them(
    monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], no_color: bool, expected: bool
) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    for name, value in variables.items():
        monkeypatch.setenv(name, value)

    assert output.use_color(_Terminal(), no_color=no_color) is expected
    assert not output.use_color(io.StringIO(), no_color=no_color)


def test_progress_is_silent_for_a_second_then_drawn_and_removed() -> None:
    times = iter([0.0, 0.5, 1.5, 1.55, 1.65])
    stream = _Terminal()

    with progress_line(stream, clock=lambda: next(times)) as show:
        assert show is not None
        for text in ("one", "two", "three", "four"):
            show(text)

    assert stream.getvalue() == "\r\x1b[Ktwo\r\x1b[Kfour\r\x1b[K"


def test_progress_is_removed_when_the_work_fails() -> None:
    times = iter([0.0, 2.0])
    stream = _Terminal()

    def interrupted() -> None:
        with progress_line(stream, clock=lambda: next(times)) as show:
            assert show is not None
            show("x" * 1000)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()

    drawn, cleared = stream.getvalue().split("\r\x1b[K")[1:]
    assert 0 < len(drawn) < 1000
    assert cleared == ""


def test_progress_is_nothing_without_a_terminal() -> None:
    stream = io.StringIO()

    with progress_line(stream) as show:
        assert show is None

    assert stream.getvalue() == ""


def test_progress_goes_to_stderr(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = _Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    times = iter([0.0, 2.0])

    with progress_line(clock=lambda: next(times)) as show:
        assert show is not None
        show("one")

    assert stream.getvalue() == "\r\x1b[Kone\r\x1b[K"
