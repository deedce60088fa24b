"""Findings held against runs on a device, and modules that run eagerly between captured pieces there."""

from __future__ import annotations

import json
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import pytest

from capturelint.cli.main import main
from capturelint.debug.processes.request import Request
from capturelint.debug.settings import Settings
from capturelint.rewrite.allowed import Allowed
from capturelint.rewrite.prove import bisect_and_rewrite
from capturelint.verdict import Report
from tests.unit.cli.test_standing import CASE, MODEL
from tests.unit.rewrite.test_exclusions import SOURCE


@pytest.mark.skipif(sys.version_info < (3, 11), reason="Python tells positions from 3.11 on")
@pytest.mark.parametrize(
    ("text", "standings"),
    [
        (MODEL, ["not reached", "cannot tell", "proved"]),  # the module is not captured whole
        (MODEL.replace("x.max().item()", "x.max()"), ["not reached", "refuted"]),
    ],
)
def test_a_finding_is_refuted_only_where_its_module_was_captured(
    text: str,
    standings: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("m.py").write_text(text, encoding="utf-8")
    main(["check", "--no-cache", "--format", "json", "--output", "found.json", "m.py"])
    capsys.readouterr()
    main([*CASE[:-1], "cuda", "--from", "found.json", "--format", "json"])

    told = json.loads(capsys.readouterr().out)["findings"]
    assert [one["standing"] for one in told] == standings, told


def test_a_module_runs_eagerly_between_pieces(tmp_path: Path) -> None:
    report = _excluded(tmp_path / "m.py")

    (rewrite,) = report.rewrites
    assert report.kept == ()
    assert rewrite.notes[0].endswith("6 replays on fresh inputs were equal")


def test_the_patch_replays_in_pieces_with_the_package_it_imports(tmp_path: Path) -> None:
    package: Any = pytest.importorskip(
        "breakable_cuda_graphs", reason="breakable-cuda-graphs is not installed"
    )
    import torch

    report = _excluded(tmp_path / "m.py")
    (rewrite,) = report.rewrites
    old, new = _modules(tmp_path, SOURCE, rewrite.text)
    torch.manual_seed(0)
    eager = old.Model().cuda()
    model = new.Model().cuda()
    model.load_state_dict(eager.state_dict())

    with torch.no_grad():
        x = old.inputs(0).cuda()
        for _ in range(3):
            model(x), eager(x)
        graph = package.BreakableCUDAGraph()
        with package.breakable_graph(graph):
            y = model(x)
        for seed in range(1, 9):
            x.copy_(old.inputs(seed))
            graph.replay()
            assert torch.equal(y, eager(x)), seed
    assert model.inner.count == eager.inner.count == 11  # the eager part ran in each replay


def _excluded(path: Path) -> Report:
    """Return the report on a model of which a module runs eagerly between captured pieces."""
    path.write_text(SOURCE, encoding="utf-8")
    request = Request(f"{path}:Model", Settings(backend="cuda"), f"{path}:inputs")
    allowed = Allowed(exclude_as="torch")
    return bisect_and_rewrite(request, resume=False, progress=None, allowed=allowed)


def _modules(folder: Path, *texts: str) -> list[Any]:
    """Return a module for each text."""
    found = []
    for number, text in enumerate(texts):
        path = folder / f"module_{number}.py"
        path.write_text(text, encoding="utf-8")
        spec = spec_from_file_location(path.stem, path)
        assert spec is not None and spec.loader is not None
        module = module_from_spec(spec)
        spec.loader.exec_module(module)
        found.append(module)
    return found
