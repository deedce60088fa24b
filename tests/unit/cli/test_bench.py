"""`capturelint bench`: the user's mistakes, what needs a device, and tables of files."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from capturelint.cli.main import main
from capturelint.report import bench_json
from tests.unit.measure.bench.made import bench, size


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("case.py").write_text("def make():\n    return abs, (1,)\n", encoding="utf-8")
    Path("a.json").write_text(bench_json.render(bench(size(1, 8, 2))), encoding="utf-8")
    Path("b.json").write_text(bench_json.render(bench(size(1, 8, 4))), encoding="utf-8")
    served = {"request_rate": 4, "median_tpot_ms": 20, "median_itl_ms": 4}
    Path("eager.json").write_text(json.dumps(served), encoding="utf-8")
    Path("graph.json").write_text(json.dumps({**served, "median_tpot_ms": 10}), encoding="utf-8")
    Path("shapes.txt").write_text("4x512 3\n1x100\n", encoding="utf-8")


@pytest.mark.parametrize(
    ("options", "line"),
    [
        ("", "bench takes a case (FILE.py:make), or one of --compare"),
        ("case.py:make --shapes shapes.txt", "bench takes a case (FILE.py:make), or one of"),
        ("none.py:make", "no file none.py; correct the path"),
        ("case.py:mak", "case.py has no 'mak'; did you mean make?"),
        (
            "case.py:make --batch-sizes 1,x",
            "`--batch-sizes` is 'x'; it must be a whole number, 1 to",
        ),
        ("case.py:make --batch-sizes 0", "`--batch-sizes` is '0'; it must be a whole number"),
        ("case.py:make --batch-sizes 4,4", "`--batch-sizes` is '4,4'; it must be each size once"),
        ("case.py:make --repeats 0", "`--repeats` is '0'; it must be a whole number, 1 to"),
        ("case.py:make --dtype half", "`--dtype` is 'half'; it must be one of float16"),
        ("case.py:make --call a-b", "`--call` is 'a-b'; it must be the name of a method"),
        ("case.py:make --times a.json", "`--times` goes with --shapes; leave it out, or give"),
        ("--compare a.json b.json --svg x.svg", "`--svg` goes with a case; leave it out, or"),
        ("--shapes shapes.txt --batch-sizes 1,2", "`--batch-sizes` goes with a case; leave"),
        ("case.py:make --svg x --output x", "`--svg` is 'x'; it must be another file than that"),
        ("case.py:make --format yaml", "`--format` is 'yaml'; it must be one of text, json, csv"),
        ("case.py:make --output none/x", "cannot write none/x: there is no folder none"),
        ("case.py:make --svg none/x", "cannot write none/x: there is no folder none"),
        ("--compare a.json none.json", "none.json: cannot be read"),
        ("--from-serve a.json b.json", "a.json: has neither median_tpot_ms nor median_itl_ms"),
        ("--shapes shapes.txt --format json", "`--format` is 'json'; it must be text"),
    ],
)
def test_a_mistake_is_one_line_and_exit_code_2(
    capsys: pytest.CaptureFixture[str], options: str, line: str
) -> None:
    assert main(["bench", *options.split()]) == 2
    printed = capsys.readouterr()

    assert printed.out == ""
    assert printed.err.startswith(f"capturelint: {line}")
    assert printed.err.count("\n") == 1


@pytest.mark.skipif(find_spec("torch") is None, reason="torch is not installed")
def test_without_a_device_it_is_one_line_and_exit_code_2(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["bench", "case.py:make"]) == 2
    error = capsys.readouterr().err

    assert error.startswith("capturelint: bench needs a CUDA device: torch ")
    assert error.count("\n") == 1


def test_without_torch_it_is_one_line_and_exit_code_2(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("capturelint.debug.cases.requirements.find_spec", lambda _name: None)
    assert main(["bench", "case.py:make"]) == 2
    expected = "capturelint: bench needs torch; pip install 'capturelint[dynamic]'\n"
    assert capsys.readouterr().err == expected


def test_a_torch_that_cannot_be_imported_is_one_line_and_exit_code_2(tmp_path: Path) -> None:
    broken = tmp_path / "broken" / "torch"
    broken.mkdir(parents=True)
    (broken / "__init__.py").write_text("raise OSError('libcudart.so.12: no such file')\n")
    command = [sys.executable, "-m", "capturelint", "bench", "case.py:make"]
    paths = os.pathsep.join([str(broken.parent), *filter(None, sys.path)])
    done = subprocess.run(
        command,
        env={**os.environ, "PYTHONPATH": paths},
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 2
    assert done.stderr.startswith(
        "capturelint: importing torch fails: libcudart.so.12: no such file"
    )
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("options", "line"),
    [
        ("--compare a.json b.json", "   1       8.4  8.4   1.00x       2.1  4.2   0.50x     4.00  2.00"),
        ("--from-serve eager.json graph.json", "         4          any       20     10     2.00       4      4     1.00"),
        ("--shapes shapes.txt", "shapes.txt: 4 calls of 2 distinct shapes"),
        ("--shapes shapes.txt --times a.json", "a.json: `sizes` must hold two sizes or more"),
    ],
)  # fmt: skip
def test_files_need_no_device(capsys: pytest.CaptureFixture[str], options: str, line: str) -> None:
    code = main(["bench", *options.split()])
    printed = capsys.readouterr()

    assert line in (printed.out if code == 0 else printed.err)
