"""`bisect --fix` and `--diff` as a user meets them."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

from capturelint.cli import proving
from capturelint.cli.main import main
from capturelint.rewrite.allowed import Allowed
from tests.repositories import alone, commit, git, needs_git

needs_torch = pytest.mark.skipif(find_spec("torch") is None, reason="torch is not installed")

OLD = """\
from torch import Tensor, nn, randn


class Model(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        if x.mean() > 0:
            x = x * 2
        return self.scaled(x.clone())

    def scaled(self, x: Tensor) -> Tensor:
        return x / x.max().tolist()


def inputs(seed):
    return (randn(2, 3),)
"""
NEW = OLD.replace("from torch", "import torch\nfrom torch").replace(
    "        if x.mean() > 0:\n            x = x * 2\n",
    "        x = torch.where(x.mean() > 0, x * 2, x)\n",
)
CASE = ["bisect", "m.py:Model", "--inputs", "inputs", "--backend", "simulated"]
KEPT = (
    "capturelint: m.py:11 stays: line 11: `x.max().tolist()` gives Python as many numbers as a tensor"
    " holds; hand them in as numbers beside the tensor, or leave what needs them out of the graph\n"
)


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Go to a repository of one file, committed."""
    alone(monkeypatch)
    monkeypatch.chdir(tmp_path)
    git("init", "--quiet", "--initial-branch=main")
    Path("m.py").write_text(OLD, encoding="utf-8")
    Path(".gitignore").write_text(".capturelint_cache\n__pycache__\n", encoding="utf-8")
    commit()


def _text() -> str:
    return Path("m.py").read_text(encoding="utf-8")


@needs_git
@needs_torch
def test_a_patch_is_shown_that_git_applies(capsys: pytest.CaptureFixture[str]) -> None:
    code = main([*CASE, "--diff"])

    out, err = capsys.readouterr()
    assert (code, _text()) == (1, OLD)
    assert err.startswith(
        "capturelint: m.py: the same bit for bit, gradients of finite inputs too, "
    )
    assert "m.py: Model.forward: both arms are computed: in a step of the case " in err
    assert "m.py: no time is given, as the host's would say nothing of a GPU's\n" in err
    assert err.endswith(f"{KEPT}capturelint: would rewrite 1 line to blame\n")
    Path("fix.patch").write_text(out, encoding="utf-8")
    git("apply", "fix.patch")
    assert _text() == NEW


@needs_git
@needs_torch
def test_a_clean_file_is_rewritten_and_a_dirty_one_left(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*CASE, "--fix"]) == 1
    out, err = capsys.readouterr()
    assert _text() == NEW
    assert out.startswith("refuses-capture (simulated): m.py:Model")
    assert err.endswith(f"{KEPT}capturelint: rewrote 1 line to blame\n")

    Path("m.py").write_text(OLD + "\n", encoding="utf-8")
    assert main([*CASE, "--fix"]) == 2
    assert _text() == OLD + "\n"
    assert "m.py not rewritten: it has changes that are not committed" in capsys.readouterr().err


@needs_git
@needs_torch
def test_a_case_elsewhere_is_of_the_project_there(
    monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    place = Path("m.py").resolve()
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))

    assert main([CASE[0], f"{place}:Model", *CASE[2:], "--fix"]) == 1
    assert "torch.where" in place.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--fix", "--diff"], "`--fix` writes and `--diff` shows; leave one of them out"),
        (["--allow-dirty"], "`--allow-dirty` needs `--fix` or `--diff` beside it"),
        (["--all-experts"], "`--all-experts` needs `--fix` or `--diff` beside it"),
        (["--unsafe-fixes"], "`--unsafe-fixes` needs `--fix` or `--diff` beside it"),
        (["--exclude-as", "torch"], "`--exclude-as` needs `--fix` or `--diff` beside it"),
        (
            ["--diff", "--exclude-as", "vlm"],
            "`--exclude-as` is 'vlm'; it must be one of torch, vllm, sglang; did you mean vllm?",
        ),
        (["--diff", "--format", "json"], "`--diff` prints a patch; leave out `--format`"),
    ],
)
def test_options_that_do_not_go_together_are_a_mistake(
    options: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*CASE, *options]) == 2
    assert capsys.readouterr().err == f"capturelint: {said}\n"
    assert _text() == OLD


def test_what_needs_a_package_is_not_written_without_it(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(proving, "find_spec", lambda _: None)

    assert main([*CASE, "--fix", "--exclude-as", "torch"]) == 2
    assert capsys.readouterr().err == (
        "capturelint: what `--exclude-as torch` writes imports breakable_cuda_graphs, which is not"
        " installed: `pip install breakable-cuda-graphs`, or see the patch with `--diff`\n"
    )
    assert _text() == OLD


def test_what_is_allowed_is_said_to_the_child_in_words() -> None:
    given = Allowed(partial=True, exclude_as="vllm")

    assert given.words == ("--partial", "--exclude-as=vllm")
    assert Allowed.said(["worker", *given.words, "folder"]) == given
    assert Allowed.said(["worker", "folder"]) == Allowed()


def test_the_model_of_a_library_is_not_rewritten(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bisect", "hf:llama", "--fix"]) == 2
    assert capsys.readouterr().err == (
        "capturelint: the model of a library is not yours to rewrite; name a case of your own\n"
    )
