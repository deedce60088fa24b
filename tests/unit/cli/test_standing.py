"""`bisect --from` as a user meets it."""

from __future__ import annotations

import json
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from capturelint.cli.main import main

_SCHEMA = Path(__file__).parents[3] / "fixtures" / "sarif" / "sarif-schema-2.1.0.json"
needs_torch = pytest.mark.skipif(
    find_spec("torch") is None or sys.version_info < (3, 11),
    reason="torch is not installed, or Python does not tell positions of instructions",
)

MODEL = """\
import torch
from torch import Tensor, nn


class Model(nn.Module):
    def forward(self, x: Tensor, n: Tensor, flag: Tensor | None = None) -> Tensor:
        if flag is not None and flag.item():
            return x
        if n > 3:
            x = x * 2
        return x * x.max().item()


def inputs(seed):
    return torch.randn(2, 3), 4
"""
CASE = ["bisect", "m.py:Model", "--inputs", "inputs", "--backend", "simulated"]


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    monkeypatch.chdir(tmp_path)
    Path("m.py").write_text(MODEL, encoding="utf-8")
    main(["check", "--no-cache", "--format", "json", "--output", "found.json", "m.py"])
    capsys.readouterr()


@needs_torch
def test_each_finding_is_proved_refuted_or_not_reached(capsys: pytest.CaptureFixture[str]) -> None:
    import jsonschema  # the tests for a GPU take names from this file, and do without

    assert main([*CASE, "--from", "found.json", "--format=sarif", "--write-baseline=b.json"]) == 1

    out, err = capsys.readouterr()
    log = json.loads(out)
    jsonschema.Draft4Validator(json.loads(_SCHEMA.read_text("utf-8"))).validate(log)
    results = log["runs"][0]["results"]
    why = "it ran once as if capturing, in <root>, and neither waited nor copied"
    assert [(one["ruleId"], one["properties"]["standing"]) for one in results] == [
        ("CL101", "not reached"),
        ("CL401", "refuted"),
        ("CL101", "proved"),
    ]
    assert [one["suppressions"] for one in results] == [
        [],
        [{"kind": "external", "status": "accepted", "justification": f"refuted: {why}"}],
        [],
    ]
    assert err == "capturelint: baseline b.json: 1 refuted finding in it\n"
    [entry] = json.loads(Path("b.json").read_text(encoding="utf-8"))["findings"]
    assert (entry["code"], entry["line"], entry["evidence"]) == ("CL401", "if n > 3:", why)
    main(["check", "--no-cache", "--baseline", "b.json", "--format", "concise", "m.py"])
    assert [line.split()[1] for line in capsys.readouterr().out.splitlines()[:2]] == ["CL101"] * 2


@needs_torch
def test_a_read_of_a_host_tensor_is_not_proved_by_another_read_on_its_line(
    capsys: pytest.CaptureFixture[str],
) -> None:
    outer = """

class Outer(nn.Module):
    def __init__(self):
        super().__init__()
        self.model = Model()

    def forward(self, x):
        return self.model(x, torch.ones(()))


def case():
    return Outer(), lambda seed: torch.randn(2, 3)
"""
    source = MODEL.replace("x * x.max().item()", "x * (x.max().item() + n.max().item())")
    Path("m.py").write_text(source + outer, encoding="utf-8")
    main(["check", "--no-cache", "--format", "json", "--output", "found.json", "m.py"])

    assert main(["bisect", "m.py:case", *CASE[4:], "--from=found.json", "--format=json"]) == 1

    *_, on_device, on_host = json.loads(capsys.readouterr().out)["findings"]
    assert (on_device["column"], on_device["standing"]) == (21, "proved")
    assert (on_host["column"], on_host["standing"]) == (38, "cannot tell")
    assert on_host["why"].startswith("another expression on its line did ")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--from", "no.json"], "findings no.json is not there; "),
        (
            ["--format", "sarif"],
            "`--format sarif` speaks of findings of `check`; give `--from FILE`",
        ),
        (["--write-baseline", "b.json"], "`--write-baseline` speaks of findings of `check`; give"),
        (["--from", "found.json", "--write-baseline", "m.py"], "baseline m.py is not valid JSON"),
        (
            ["--from", "found.json", "--write-baseline", "no/b.json"],
            "cannot write no/b.json: there",
        ),
    ],
)
def test_what_cannot_be_used_is_a_mistake_before_the_run(
    options: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*CASE, *options]) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert err.startswith(f"capturelint: {said}")
