"""The command line as a user meets it: finding the command, exit codes, errors, import cost."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from capturelint import __version__
from capturelint.cli import rule
from capturelint.cli.main import main
from capturelint.errors import CapturelintError

ROOT = Path(__file__).parents[3]


def environment(**changes: str) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT), **changes}


def test_version_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["--version"])

    assert caught.value.code == 0
    assert capsys.readouterr().out == f"capturelint {__version__}\n"


def test_help_lists_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["--help"])

    words = capsys.readouterr().out.split()
    assert caught.value.code == 0
    assert {"bisect", "check", "doctor", "roots", "rule"} <= set(words)


def test_no_command_is_the_users_mistake(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main([])

    assert caught.value.code == 2
    assert "required: command" in capsys.readouterr().err


def test_of_an_unknown_command_the_nearest_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["chekc"]) == 2
    assert capsys.readouterr().err == "capturelint: no command 'chekc'; did you mean check?\n"


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (["rule", "--al0"], "capturelint: rule has no option --al0; did you mean --all?"),
        (
            ["check", "a.py", "--statistcs=1"],
            "check has no option --statistcs; did you mean --statistics?",
        ),
        (
            ["bisect", "m.py:make", "--formt", "json"],
            "has no option --formt; did you mean --format?",
        ),
        (["roots", "--zzz"], "roots has no option --zzz; `capturelint roots --help` lists them"),
    ],
)
def test_of_an_unknown_option_the_nearest_is_named(
    argv: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(argv) == 2
    assert capsys.readouterr().err.endswith(f"{said}\n")


def test_a_users_error_is_one_line_and_exit_code_2(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(_: object) -> int:
        raise CapturelintError("no such thing; look again")

    monkeypatch.setattr(rule, "run", fail)

    assert main(["rule", "--all"]) == 2
    assert capsys.readouterr() == ("", "capturelint: no such thing; look again\n")


def test_our_bug_is_a_traceback_and_exit_code_3(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(_: object) -> int:
        raise ZeroDivisionError("on line one")

    monkeypatch.setattr(rule, "run", fail)

    assert main(["rule", "--all"]) == 3
    error = capsys.readouterr().err
    assert error.startswith("Traceback")
    assert "ZeroDivisionError: on line one" in error
    assert error.endswith("this is a bug in capturelint; please report the lines above\n")


def test_an_interrupt_ends_quietly(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupt(_: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(rule, "run", interrupt)

    assert main(["rule", "--all"]) == 130
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("command", [["rule", "--all"], ["rule", "--all", "--format", "json"]])
def test_a_reader_that_leaves_early_makes_no_noise(command: list[str]) -> None:
    script = (
        "import sys; from capturelint.cli.main import main\n"
        f"sys.stdin.read(); sys.exit(main({command!r}))"
    )
    child = subprocess.Popen(
        [sys.executable, "-c", script],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(PYTHONUNBUFFERED=""),
    )
    assert child.stdout is not None
    child.stdout.close()

    # The child starts to print when its standard input ends, after the reader has left.
    _, error = child.communicate()

    assert (child.returncode, error) == (0, "")


def test_text_that_the_terminal_cannot_show_is_escaped() -> None:
    script = (
        "import sys; from capturelint.cli import rule; from capturelint.cli.main import main\n"
        "rule.run = lambda options: print('caf\\u00e9') or 0\n"
        "sys.exit(main(['rule', '--all']))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        check=False,
        env=environment(PYTHONIOENCODING="ascii"),
    )

    assert (done.returncode, done.stdout, done.stderr) == (0, "caf\\xe9\n", "")


def test_the_command_line_loads_nothing_heavy() -> None:
    script = (
        "import sys, capturelint.cli.main; print(*{'libcst', 'rich', 'torch'} & {*sys.modules})"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )

    assert done.stdout == "\n"


def test_the_package_runs_as_a_module() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "capturelint", "--version"],
        capture_output=True,
        text=True,
        check=True,
    )

    assert done.stdout == f"capturelint {__version__}\n"


def test_only_a_process_of_our_own_is_left_without_a_collector(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = 1\n", "utf-8")
    code = "import gc, sys; from capturelint.cli.main import main; main({}); print(gc.isenabled())"
    printed = [
        subprocess.run(
            [sys.executable, "-c", code.format(given), *words],
            cwd=tmp_path,
            env=environment(),
            capture_output=True,
            text=True,
            check=True,
        ).stdout.splitlines()[-1]
        for given, words in (
            ("", ["check", "--no-cache"]),
            ("['check', '--no-cache']", []),
            ("", ["rule", "--all"]),
        )
    ]

    assert printed == ["False", "True", "True"]
