"""`capturelint ladder`: both formats, limits, where the report goes, and the user's mistakes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from capturelint.cli.main import main

_TIMES = {
    "version": 1,
    "environment": {"device": "made up"},
    "sizes": [
        {"size": 1, "eager_ms": 9, "graph_ms": 3, "capture_ms": 60, "mib": 2, "pool_mib": 5},
        {"size": 64, "eager_ms": 9, "graph_ms": 7, "capture_ms": 90, "mib": 3, "pool_mib": 60},
    ],
}


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("steps.json").write_text('{"1": 120, "3": 40, "4": 33, "9": 2}', encoding="utf-8")
    Path("bench.json").write_text(json.dumps(_TIMES), encoding="utf-8")
    partly = {**_TIMES, "sizes": [{"size": n, "eager_ms": 9, "graph_ms": n} for n in (1, 64)]}
    Path("partly.json").write_text(json.dumps(partly), encoding="utf-8")


def ladder(*options: str) -> int:
    return main(["ladder", "--traffic", "steps.json", *options])


def test_the_sizes_are_told_as_options_to_paste(capsys: pytest.CaptureFixture[str]) -> None:
    assert ladder("--rungs", "2") == 0
    lines = capsys.readouterr().out.splitlines()

    assert lines[0] == "steps.json: 195 steps of 1 to 9 rows; sizes up to 9"
    assert "vLLM:   --cudagraph-capture-sizes 4 9" in lines
    assert "SGLang: --cuda-graph-bs-decode 4 9" in lines


def test_assumed_times_are_never_in_ms(capsys: pytest.CaptureFixture[str]) -> None:
    assert ladder() == 0
    text = capsys.readouterr().out

    assert "times are assumed, not measured, and relative" in text
    assert " ms" not in text
    assert "MiB" not in text


def test_measured_times_are_in_ms_and_say_where(capsys: pytest.CaptureFixture[str]) -> None:
    assert ladder("--times", "bench.json") == 0
    text = capsys.readouterr().out

    assert "times are measured, linear between measured sizes (device made up)" in text
    assert "step ms" in text


def test_memory_of_sizes_that_lack_it_is_predicted_and_said(
    capsys: pytest.CaptureFixture[str],
) -> None:
    lacking = {"size": 8, "eager_ms": 9, "graph_ms": 4, "capture_ms": 70}
    document = json.loads(Path("bench.json").read_text(encoding="utf-8"))
    document["sizes"].append(lacking)
    Path("some.json").write_text(json.dumps(document), encoding="utf-8")
    assert ladder("--times", "some.json", "--memory-limit", "30") == 0
    lines = capsys.readouterr().out.splitlines()

    assert "note: `mib` of 8 is predicted from the sizes that it was measured at" in lines
    assert "note: `pool_mib` of 8 is predicted from the sizes that it was measured at" in lines


def test_json_holds_the_same_for_programs(capsys: pytest.CaptureFixture[str]) -> None:
    options = ("--times", "bench.json", "--startup-limit", "0.2", "--memory-limit", "30")
    assert ladder(*options, "--max", "8", "--multiple-of", "2", "--format", "json") == 0
    document = json.loads(capsys.readouterr().out)
    best = document["recommended"]

    assert list(document) == [
        "version", "traffic", "measured", "unit", "environment", "max", "multiple_of", "limits",
        "recommended", "customary", "every_size", "by_count", "drops", "flags", "notes",
    ]  # fmt: skip
    assert document["limits"] == {"rungs": None, "startup_seconds": 0.2, "mib": 30.0}
    assert (document["measured"], document["unit"]) == (True, "ms")
    assert best["sizes"] == [2, 4]
    assert best["startup_seconds"] <= 0.2
    assert best["mib"] <= 30
    assert best["gap"] == 0
    assert document["flags"] == {
        "vllm": "--cudagraph-capture-sizes 2 4",
        "sglang": "--cuda-graph-bs-decode 1 2",
    }
    assert document["traffic"]["above"] == pytest.approx(2 / 195)


def test_a_report_may_go_into_a_file(capsys: pytest.CaptureFixture[str]) -> None:
    assert ladder("--format", "json", "--output", "report.json") == 0

    assert capsys.readouterr().out == ""
    assert json.loads(Path("report.json").read_text(encoding="utf-8"))["version"] == 1


def test_where_eager_steps_are_as_fast_nothing_is_captured(
    capsys: pytest.CaptureFixture[str],
) -> None:
    Path("steps.json").write_text("[4000]", encoding="utf-8")

    assert ladder() == 0
    text = capsys.readouterr().out
    assert "capture no size: eager steps are as fast" in text
    assert "--cudagraph-capture-sizes" not in text


def test_where_nothing_fits_that_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    assert ladder("--times", "bench.json", "--memory-limit", "1") == 0
    assert "capture no size: none fits into the limits" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--max", "0"], "`--max` is '0'; it must be a whole number, 1 to 1048576"),
        (["--max", "x"], "`--max` is 'x'; it must be a whole number, 1 to 1048576"),
        (
            ["--max", "3", "--multiple-of", "4"],
            "`--max` is '3'; it must be a whole number, 4 to 1048576",
        ),
        (["--rungs", "0"], "`--rungs` is '0'; it must be a whole number, 1 to 512"),
        (
            ["--memory-limit", "-1"],
            "`--memory-limit` is '-1'; it must be a number of MiB, more than 0",
        ),
        (
            ["--startup-limit", "3"],
            "`--startup-limit` needs `--times` with `capture_ms` for each size; none is assumed",
        ),
        (
            ["--memory-limit", "3", "--times", "partly.json"],
            "`--memory-limit` needs `--times` with `mib` for each size; partly.json lacks it",
        ),
        (["--times", "none.json"], "none.json: cannot be read: No such file or directory"),
        (["--format", "sarif"], "`--format` is 'sarif'; it must be one of text, json"),
        (
            ["--output", "no/report"],
            "cannot write no/report: there is no folder no; create it first",
        ),
        (["--limit", "3"], "ladder has no option --limit; did you mean --memory-limit?"),
    ],
)
def test_a_mistake_is_one_line_and_exit_code_2(
    options: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ladder(*options) == 2

    assert capsys.readouterr() == ("", f"capturelint: {message}\n")


@pytest.mark.parametrize(
    ("figure", "option"), [("capture_ms", "--startup-limit"), ("mib", "--memory-limit")]
)
def test_a_limit_needs_only_the_figures_that_it_is_on(figure: str, option: str) -> None:
    sizes = [{"size": n, "eager_ms": 9, "graph_ms": n, figure: 1} for n in (1, 64)]
    Path("one.json").write_text(json.dumps({"version": 1, "sizes": sizes}), encoding="utf-8")
    codes = {
        o: ladder("--times", "one.json", o, "9") for o in ("--startup-limit", "--memory-limit")
    }

    assert {o for o, code in codes.items() if code == 0} == {option}


def test_a_bad_traffic_file_is_one_line_with_its_place(capsys: pytest.CaptureFixture[str]) -> None:
    Path("steps.json").write_text('{"1": 2,\n"x": 3}', encoding="utf-8")

    assert ladder() == 2
    assert capsys.readouterr().err == (
        "capturelint: steps.json:2: the size 'x' is not a whole number of rows, 1 to 1048576\n"
    )


def test_neither_torch_nor_libcst_is_loaded() -> None:
    script = (
        "import sys; from capturelint.cli.main import main;"
        "main(['ladder', '--traffic', 'steps.json']);"
        "print(sorted({'torch', 'libcst', 'rich', 'numpy'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )

    assert done.stdout.splitlines()[-1] == "[]"
