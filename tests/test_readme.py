"""The README: its examples are what the tool prints, its commands work, its options and settings exist."""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import textwrap
from dataclasses import fields
from importlib.util import find_spec
from pathlib import Path

import pytest

from capturelint.cli import bench, bisect, ladder
from capturelint.cli.main import main
from capturelint.cli.settings import check_codes
from capturelint.config import Config, load_config
from capturelint.lint.registry import builtin_rules
from capturelint.verdict import Verdict

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")

needs_torch = pytest.mark.skipif(find_spec("torch") is None, reason="torch is not installed")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", README, flags=re.DOTALL | re.MULTILINE)


def table(heading: str) -> dict[str, list[str]]:
    """Return the rows of the table under `heading`, by the text of their first cell."""
    section = README.partition(f"### {heading}\n")[2].partition("\n#")[0]
    rows = [re.split(r"(?<!\\)\|", line)[1:-1] for line in section.splitlines() if line[:1] == "|"]
    return {first.strip(): [cell.strip() for cell in rest] for first, *rest in rows[2:]}


def masked(text: str) -> str:
    """Return a report of bisect without what changes from run to run and from machine to machine."""
    return re.sub(r"[\d.]+ s, backend (\w+), torch \S+", r"T s, backend \1, torch V", text)


def test_the_first_example_is_what_check_prints(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    example = blocks("console")[0]
    command, _, wanted = example.partition("\n")
    monkeypatch.chdir(ROOT)

    assert command == "$ capturelint check fixtures/models"
    assert main(command.split()[2:]) == 1
    assert capsys.readouterr().out == wanted


@needs_torch
def test_the_second_example_is_what_bisect_prints() -> None:
    command, _, wanted = blocks("console")[1].partition("\n")
    assert command == "$ capturelint bisect fixtures/models/decoder.py:make"
    done = subprocess.run(
        [sys.executable, "-m", "capturelint", *command.split()[2:]],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )

    assert (masked(done.stdout), done.stderr, done.returncode) == (masked(wanted), "", 1)


@needs_torch
def test_the_training_step_is_judged_with_its_backward(tmp_path: Path) -> None:
    (example,) = re.findall(r"^  ```python\n(.*?)^  ```$", README, re.DOTALL | re.MULTILINE)
    case = tmp_path / "step.py"
    case.write_text(textwrap.dedent(example), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "capturelint", "bisect", "--replays=3", f"{case}:make"],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )

    assert done.stdout.startswith("replays-equal (simulated)"), done.stdout + done.stderr
    assert "no backward" not in done.stdout


@needs_torch
def test_the_case_of_several_callables_passes(tmp_path: Path) -> None:
    (example,) = [one for one in blocks("python") if "several" not in one and "Target" in one]
    case = tmp_path / "several.py"
    case.write_text(example, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "capturelint", "bisect", "--replays=3", f"{case}:make"],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )

    assert done.stdout.startswith("replays-equal (simulated)"), done.stdout + done.stderr
    assert "prepare" not in done.stdout


@needs_torch
def test_what_doctor_prints_has_the_lines_of_the_example() -> None:
    (example,) = blocks("text")
    # In a process of its own: it runs a backward, after which no fork of this one could.
    command = [sys.executable, "-m", "capturelint", "doctor"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)

    assert pieces(example) == pieces(done.stdout)


def pieces(text: str) -> list[str]:
    """Return how the lines begin that are not the rest of another."""
    return [line.partition(" ")[0] for line in text.splitlines() if line[:1].strip()]


def test_the_first_command_runs_both_and_ci_runs_the_second() -> None:
    first, *_, second = blocks("sh")
    steps = (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()
    *_, check, bisected = [line.removesuffix(" &&") for line in first.strip().splitlines()]

    assert check == ".venv/bin/capturelint check --exit-zero fixtures/models"
    assert bisected == (".venv/bin/capturelint bisect --exit-zero fixtures/models/decoder.py:make")
    assert second.strip() == steps[-1]


def test_every_option_of_bisect_is_told_with_its_default() -> None:
    parser = argparse.ArgumentParser()
    bisect.add_arguments(parser)
    defaults = vars(parser.parse_args(["case.py:make"]))
    in_words = {"target", "inputs", "call", "no_color"}
    told = {
        option: row[0]
        for cell, row in table("Options").items()
        for option in re.findall(r"--[\w-]+", cell)
    }

    assert {f"--{name.replace('_', '-')}" for name in defaults.keys() - in_words} == set(told)
    for name in defaults.keys() - in_words:
        if isinstance(defaults[name], str):
            assert told[f"--{name.replace('_', '-')}"].strip("`") == defaults[name]
    assert "`--inputs FILE.py:NAME`" in README and "`--call METHOD`" in README


def test_the_third_example_is_what_ladder_prints(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    command, _, wanted = blocks("console")[2].partition("\n")
    monkeypatch.chdir(ROOT)

    assert command.startswith("$ capturelint ladder --traffic fixtures/traffic/chat.csv")
    assert main(command.split()[2:]) == 0
    assert capsys.readouterr().out == wanted


def test_every_option_of_bench_is_told_with_its_default() -> None:
    parser = argparse.ArgumentParser()
    bench.add_arguments(parser)
    defaults = vars(parser.parse_args([]))
    told = {
        option: row[0].strip("`")
        for cell, row in table("Options of `bench`").items()
        for option in re.findall(r"--[\w-]+", cell)
    }

    names = defaults.keys() - {"target", "no_color"}
    assert {f"--{name.replace('_', '-')}" for name in names} == set(told)
    for name, value in defaults.items():
        if isinstance(value, str):
            assert told[f"--{name.replace('_', '-')}"] == value


@needs_torch
def test_the_example_of_a_runner_runs_on_the_simulator(tmp_path: Path) -> None:
    (example,) = (block for block in blocks("python") if "GraphRunner(" in block)
    code = example.replace("sizes=[1, 4, 16])", 'sizes=[1, 4, 16], backend="simulated")')
    model = """
        import torch

        def Decoder():
            return torch.nn.Sequential(torch.nn.Embedding(256, 8), torch.nn.Linear(8, 2))
        """
    (tmp_path / "my_model.py").write_text(textwrap.dedent(model), encoding="utf-8")
    (tmp_path / "example.py").write_text(f"{code}    print(logits.shape)\n", encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "example.py"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *filter(None, sys.path)])},
        capture_output=True,
        text=True,
        check=False,
    )

    assert code != example
    assert (done.stdout, done.returncode) == ("torch.Size([3, 1, 2])\n", 0), done.stderr


def test_every_option_of_ladder_is_told_with_its_default() -> None:
    parser = argparse.ArgumentParser()
    ladder.add_arguments(parser)
    defaults = vars(parser.parse_args(["--traffic=steps.csv"]))
    told = {
        option: row[0].strip("`")
        for cell, row in table("Options of `ladder`").items()
        for option in re.findall(r"--[\w-]+", cell)
    }

    assert {f"--{name.replace('_', '-')}" for name in defaults.keys() - {"no_color"}} == set(told)
    for name, value in defaults.items():
        if isinstance(value, str):
            assert told[f"--{name.replace('_', '-')}"] == value


def test_every_verdict_is_told_with_its_exit_code() -> None:
    told = {cell.strip("`"): row[-1] for cell, row in table("Verdicts").items()}

    assert {verdict.value: str(verdict.exit_code) for verdict in Verdict} == {
        word: code.partition(" ")[0] for word, code in told.items()
    }


def test_the_settings_are_all_there_is_and_can_be_read(tmp_path: Path) -> None:
    (example,) = blocks("toml")
    path = tmp_path / "pyproject.toml"
    path.write_text(example, encoding="utf-8")
    missing = {field.name for field in fields(Config)} - {"root"}

    for line in example.splitlines()[1:]:
        missing.remove(line.partition(" = ")[0].replace("-", "_"))

    assert missing == set()
    check_codes(load_config(path, explicit=None), [entry.code for entry in builtin_rules()])


def test_the_changelog_names_every_rule() -> None:
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")

    for entry in builtin_rules():
        assert f"{entry.code} {entry.rule.about.name}" in changelog
