"""Whole runs: read back when nothing that they rest on has changed, and only then."""

from __future__ import annotations

import ast
import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from capturelint.config import Scope
from capturelint.lint.cache import content
from capturelint.lint.cache import run as run_module
from capturelint.lint.cache.folder import CacheFolder
from capturelint.lint.cache.run import Run
from capturelint.lint.engine import check
from capturelint.lint.index import facts_of
from capturelint.lint.registry import builtin_rules
from capturelint.lint.result import CheckResult
from capturelint.names import FileFacts
from tests.unit.lint.probe import config_for, written

_FILES = {
    "pkg/__init__.py": "",
    "pkg/model.py": """\
        import torch
        from torch import nn
        from pkg.ops import total
        from .sub import late

        class Model(nn.Module):
            def __init__(self):
                self.scale = 2

            def forward(self, x: torch.Tensor):
                n = x.sum().item()
                return total(x) + late.scaled(self.norm(x))

            def norm(self, x):
                return x if self.scale else x.cpu()

            def load(self, x):
                return x.cpu()
        """,
    "pkg/ops.py": """\
        import torch

        def total(x: torch.Tensor):
            return x.max().item()  # capturelint: ignore[CL101] known

        def unused(x):
            return x.tolist()
        """,
    "pkg/sub/__init__.py": "",
    "pkg/sub/late.py": """\
        import torch

        def scaled(x: torch.Tensor):
            return x.cpu()

        def offline(x):
            return x.tolist()
        """,
    "pkg/tools.py": """\
        def main():
            print("nothing to do with it")
        """,
}


class _Project:
    """A small project on disk, checked with and without a cache."""

    def __init__(self, folder: Path, *named: str, **settings: object) -> None:
        self.folder = written(folder / "project", _FILES)
        self.config = config_for(self.folder, **settings)
        self.named = [self.folder / name for name in named] or [self.folder]

    def _run(self) -> Run:
        folder = CacheFolder.opened(self.folder / ".capturelint_cache", is_named=False)
        assert folder is not None
        return Run(folder, self.named, self.config)

    def path(self, name: str) -> Path:
        return self.folder / name

    def cached(self) -> tuple[CheckResult, bool]:
        """Return what a run finds, and whether it was read back."""
        run = self._run()
        found = run.found()
        if found is not None:
            return found, True
        found = check(self.named, self.config, builtin_rules(), store=run.store(), seen=run.seen)
        run.keep(found)
        return found, False

    def forge(self) -> None:
        """Make the cache say that there is nothing to find."""
        run = self._run()
        found = run.found()
        assert found is not None
        run.keep(replace(found, findings=()))

    def plain(self) -> CheckResult:
        return check(self.named, self.config, builtin_rules())


@pytest.fixture
def project(tmp_path: Path) -> _Project:
    return _Project(tmp_path)


def test_what_has_not_changed_is_read_back(project: _Project) -> None:
    first, was_kept = project.cached()
    second, is_kept = project.cached()

    assert [finding.code for finding in first.findings] == ["CL101", "CL102"]
    assert (was_kept, is_kept) == (False, True)
    assert second == first == project.plain()


def _replace(old: str, new: str) -> Callable[[Path], None]:
    def change(path: Path) -> None:
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new))

    return change


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("pkg/model.py", _replace(".item()", "")),
        ("pkg/ops.py", _replace("ignore[CL101] known", "none")),
        ("pkg/ops.py", _replace("max()", "max() ")),
        ("pkg/sub/late.py", _replace("cpu", "cuda")),
        ("pkg/sub/late.py", Path.unlink),
        ("pkg/sub/late.py", _replace("def offline(x):", "def offline(x):  # noqa")),
        (
            "pkg/sub/late.py",
            _replace("def offline(x):", "def offline(x):  # capturelint: captured"),
        ),
        ("pkg/sub/late.py", _replace("tolist()", "tolist(")),
        ("pkg/sub/late.py", _replace("def offline", "x = 1\ndef offline")),
        ("pkg/sub/late.py", _replace("return x.tolist()", "x.late = 1")),
        ("pkg/sub/late.py", _replace("\ndef offline", "\f\ndef offline")),
        ("pkg/ops.py", _replace("tolist", "numpy")),
        ("pkg/tools.py", _replace("print(", "print((")),
        ("pkg/tools.py", _replace("def main", "def other")),
        ("pkg/tools.py", Path.unlink),
    ],
)
def test_what_may_matter_is_checked_anew(
    name: str, change: Callable[[Path], None], project: _Project
) -> None:
    project.cached()
    change(project.path(name))

    found, is_kept = project.cached()

    assert not is_kept
    assert found == project.plain()


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("pkg/tools.py", _replace("print(", "\n        print(1 + ")),
        ("pkg/tools.py", lambda path: path.write_text("# moved\n" + path.read_text())),
        ("pkg/model.py", lambda path: path.write_text("# moved\n\n" + path.read_text())),
        ("pkg/model.py", _replace("class Model", "# moved\nclass Model")),
        ("pkg/sub/late.py", _replace("import torch\n\n", "import torch\n")),
        ("pkg/sub/late.py", _replace("return x.tolist()", "y = x\n    return y.numpy()")),
        ("pkg/model.py", lambda path: path.write_text(path.read_text())),
        ("pkg/model.py", lambda path: path.chmod(0o600)),
    ],
)
def test_what_cannot_matter_is_not(
    name: str, change: Callable[[Path], object], project: _Project
) -> None:
    project.cached()
    change(project.path(name))

    found, is_kept = project.cached()

    assert is_kept
    assert found == project.plain()


def test_lines_that_move_are_found_where_they_are_now(project: _Project) -> None:
    first, _ = project.cached()
    path = project.path("pkg/model.py")
    path.write_text("# one\n# two\n" + path.read_text())
    second, was_kept = project.cached()
    _replace("# two\n", "")(path)
    third, is_kept = project.cached()

    lines = [[f.span.line for f in found.findings] for found in (first, second, third)]
    assert lines == [[11, 4], [13, 4], [12, 4]]
    assert [step.line for step in third.findings[1].chain] == [13, 4]
    assert was_kept
    assert is_kept


def test_a_rule_of_the_users_own_may_speak_of_lines_that_move(tmp_path: Path) -> None:
    project = _Project(tmp_path, rule_folders=(tmp_path / "rules",))
    project.cached()
    path = project.path("pkg/model.py")
    path.write_text(path.read_text() + "# at the end\n")
    was_kept = project.cached()[1]
    path.write_text("# moved\n" + path.read_text())
    is_kept = project.cached()[1]

    assert was_kept
    assert not is_kept


def test_a_file_that_comes_counts(project: _Project) -> None:
    project.cached()
    project.path("pkg/new.py").write_text(project.path("pkg/model.py").read_text())

    found, is_kept = project.cached()

    assert not is_kept
    assert found == project.plain()


def test_the_place_of_an_error_counts(project: _Project) -> None:
    project.path("pkg/tools.py").write_text("def broken(:\n")
    project.cached()
    project.path("pkg/tools.py").write_text("\ndef broken(:\n")

    assert project.cached() == (project.plain(), False)


def test_a_package_that_is_none_any_more_gives_its_files_other_names(project: _Project) -> None:
    project.cached()
    project.path("pkg/__init__.py").unlink()

    assert project.cached() == (project.plain(), False)


def test_other_settings_are_another_run(tmp_path: Path) -> None:
    first = _Project(tmp_path)
    first.cached()
    other = _Project(tmp_path, ignore=("CL101",))

    assert other.cached() == (other.plain(), False)
    assert other.cached()[1]
    assert first.cached()[1]


def test_the_number_of_processes_is_no_setting_of_the_answer(tmp_path: Path) -> None:
    first = _Project(tmp_path).cached()[0]

    assert _Project(tmp_path, jobs=7).cached() == (first, True)


def test_a_named_file_rests_on_the_files_that_import_it(tmp_path: Path) -> None:
    project = _Project(tmp_path, "pkg/ops.py")
    assert project.cached()[1] is False
    assert project.cached()[1] is True

    _replace("total(x) +", "x +")(project.path("pkg/model.py"))
    found, is_kept = project.cached()

    assert not is_kept
    assert found == project.plain()


def test_a_named_file_rests_on_files_that_come_to_import_it(tmp_path: Path) -> None:
    project = _Project(tmp_path, "pkg/ops.py")
    project.cached()
    text = project.path("pkg/model.py").read_text().replace("total", "unused")
    project.path("pkg/new.py").write_text(text)

    found, is_kept = project.cached()

    assert not is_kept
    assert len(found.findings) == 1
    assert found == project.plain()


def test_a_module_that_was_looked_for_in_vain_counts_when_it_comes(tmp_path: Path) -> None:
    project = _Project(tmp_path, "pkg/model.py", scope=Scope.ALL)
    project.path("pkg/sub/late.py").rename(tmp_path / "late.py")
    project.cached()
    (tmp_path / "late.py").rename(project.path("pkg/sub/late.py"))

    found, is_kept = project.cached()

    assert not is_kept
    assert found == project.plain()


def test_another_tool_finds_anew(project: _Project, monkeypatch: pytest.MonkeyPatch) -> None:
    project.cached()
    monkeypatch.setattr(run_module, "tool_digest", lambda: "another")

    assert project.cached()[1] is False


def test_facts_of_untouched_files_are_not_made_again(
    project: _Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.cached()
    _replace(".item()", "")(project.path("pkg/model.py"))
    made: list[str] = []

    def noted(
        tree: ast.Module, text: str, *, path: str, module: str, is_package: bool
    ) -> FileFacts:
        made.append(module)
        return facts_of(tree, text, path=path, module=module, is_package=is_package)

    monkeypatch.setattr("capturelint.lint.indexing.facts_of", noted)

    project.cached()

    assert set(made) == {"pkg.model"}


def test_a_cache_that_cannot_be_written_changes_nothing(project: _Project) -> None:
    project.path(".capturelint_cache").write_text("in the way")

    assert project.cached() == (project.plain(), False)
    assert project.cached() == (project.plain(), False)


def test_a_cache_from_elsewhere_hides_nothing(
    project: _Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    truth = project.plain()
    with monkeypatch.context() as patch:
        # Whoever ships the cache has a secret of their own, and our files.
        patch.setenv("XDG_CACHE_HOME", str(tmp_path / "theirs"))
        project.cached()
        project.forge()
        assert project.cached() == (replace(truth, findings=()), True)

    assert project.cached() == (truth, False)


_TEXTS = (
    "import torch\ndef total(x: torch.Tensor):\n    return x.max().item()\n",
    "import torch\ndef total(x: torch.Tensor):\n    # noqa\n\n    return x.max().tolist()\n",
    "def total(x):\n    return x\n",
    "from pkg.ops import total\nfrom pkg.sub.late import *\n",
    "from .model import *\nclass A(Model):\n    def forward(self, x): return x.item()  # noqa\n",
    "import torch\ndef scaled(x: torch.Tensor):\n    return x.numpy()\n",
    "def broken(:\n",
    "",
    # What other files are found to do rests on these: a root, an override, what a caller passes,
    # what a constructor keeps, what is set on a class from elsewhere.
    "import torch\nfrom .model import *\nclass Other(Model):\n    def norm(self, x): return x.cpu()\n",
    "from pkg.model import Model\nModel.scale = None\ndef total(x):\n    x.scale = 1\n    return x\n",
    "import torch\ndef total(x: torch.Tensor): return scaled(x.sum(), x)\n\n\ndef scaled(x, y): return y.cpu()\n",
)
_LINES = (
    "x = x.sum()",
    "x.item()",
    "n = len(x)",
    "self.scale = x",
    "self.scale = 1",
    "Model.scale = x",
    "x = self.norm(x)",
    "total(3)",
    "return total(x)",
    "return x.numpy()",
    "def forward(self, x: torch.Tensor):",
    "def __init__(self, x):",
    "class Late(Model):",
    "@torch.compile(mode='reduce-overhead')",
    "# capturelint: captured",
    "# noqa",
    "# a comment",
    "",
)
_WORDS = ("item", "tolist", "sum", "cpu", "total", "scaled", "offline", "norm", "scale", "forward")


def _edit(project: _Project, draw: random.Random) -> None:
    """Change one thing in a project."""
    paths = sorted(project.folder.rglob("*.py"))
    path = draw.choice(paths)
    kind = draw.randrange(11)
    if kind == 0:
        path.write_text(draw.choice(_TEXTS))
    elif kind == 1:
        path.write_text("# a line\n" + path.read_text())
    elif kind == 2 and len(paths) > 2:
        path.unlink()
    elif kind == 3:
        target = project.folder / draw.choice(sorted(_FILES))
        path.rename(target)
    elif kind == 4:
        (project.folder / draw.choice(sorted(_FILES))).write_text(draw.choice(_TEXTS))
    elif kind == 5:
        name = draw.choice(sorted(_FILES))
        written(project.folder, {name: _FILES[name]})
    elif kind == 6:
        path.touch()
    else:
        _edit_line(path, kind, draw)


def _edit_line(path: Path, kind: int, draw: random.Random) -> None:
    """Add a line to a file, take one away, or change a word in it."""
    lines = path.read_text().split("\n")
    at = draw.randrange(len(lines))
    indent = lines[at][: len(lines[at]) - len(lines[at].lstrip())]
    if kind <= 8:
        lines.insert(at, indent + draw.choice(_LINES))
    elif kind == 9:
        del lines[at]
    else:
        lines[at] = lines[at].replace(draw.choice(_WORDS), draw.choice(_WORDS))
    path.write_text("\n".join(lines))


@pytest.mark.sweep(6)
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("named", [(), ("pkg/ops.py", "pkg/sub")])
def test_cached_and_uncached_runs_agree_whatever_is_edited(
    seed: int, named: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(content, "_FRESH", 0 if seed % 2 else content._FRESH)  # noqa: SLF001
    project = _Project(tmp_path, *named)
    draw = random.Random(seed)
    kept = 0
    for _ in range(40):
        found, is_kept = project.cached()

        assert found == project.plain()
        kept += is_kept
        _edit(project, draw)
    assert 0 < kept < 40


@pytest.mark.sweep(6)
@pytest.mark.parametrize("seed", [0, 3, 5])
def test_one_edited_line_gives_what_a_run_without_a_cache_gives(seed: int, tmp_path: Path) -> None:
    project = _Project(tmp_path)
    draw = random.Random(seed)
    kept = 0
    for _ in range(20):
        written(project.folder, _FILES)
        project.cached()
        path = draw.choice(sorted(project.folder.rglob("*.py")))
        for _ in range(draw.randrange(1, 3)):
            _edit_line(path, draw.randrange(7, 11), draw)
        found, is_kept = project.cached()

        assert found == project.plain()
        kept += is_kept
    assert 0 < kept < 20
