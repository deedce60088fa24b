"""Finding files: which are taken, which are left out, and links that lead astray."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from capturelint.lint.discovery import BadPatternError, discover


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an empty folder that is also the working directory."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def _make(*names: str) -> None:
    for name in names:
        path = Path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()


def _found(*paths: str, exclude: Sequence[str] = ()) -> list[str]:
    files, problems = discover(map(Path, paths), exclude=exclude, root=Path())
    assert problems == []
    return [file.as_posix() for file in files]


@pytest.mark.usefixtures("tree")
def test_python_files_come_sorted_by_folder() -> None:
    _make("b.py", "a/z.py", "a/b/c.py", "a-b/x.py", "a/notes.txt", "a/model.pyc")

    assert _found(".") == ["a/b/c.py", "a/z.py", "a-b/x.py", "b.py"]


@pytest.mark.usefixtures("tree")
def test_a_file_given_twice_or_inside_a_given_folder_comes_once() -> None:
    _make("a/b.py")

    assert _found("a/b.py", "a", "./a/../a/b.py") == ["a/b.py"]


@pytest.mark.usefixtures("tree")
def test_a_named_file_is_taken_whatever_its_name() -> None:
    _make("script", ".hidden/a.py")

    assert _found("script", ".hidden") == [".hidden/a.py", "script"]


@pytest.mark.usefixtures("tree")
def test_hidden_folders_environments_and_build_results_are_left_out() -> None:
    _make(".git/a.py", "venv/a.py", "build/lib/a.py", "dist/a.py", "node_modules/x/a.py")
    _make("my-env/pyvenv.cfg", "my-env/lib/a.py", "__pycache__/a.py", "kept.py")

    assert _found(".") == ["kept.py"]


@pytest.mark.usefixtures("tree")
def test_a_package_called_build_is_no_build_result() -> None:
    _make("pkg/build/__init__.py", "pkg/build/graph.py", "pkg/.config.py")

    assert _found(".") == ["pkg/.config.py", "pkg/build/__init__.py", "pkg/build/graph.py"]


@pytest.mark.usefixtures("tree")
def test_a_folder_whose_name_ends_in_py_is_walked() -> None:
    _make("x.py/inner.py")

    assert _found(".") == ["x.py/inner.py"]


@pytest.mark.usefixtures("tree")
@pytest.mark.parametrize(
    ("pattern", "left"),
    [
        ("tests/", ["a/model.py", "b/tests.py"]),
        ("/b", ["a/model.py", "a/tests/x.py"]),
        ("*.py", []),
        ("a/**/x.py", ["a/model.py", "b/tests.py"]),
        ("model.py", ["a/tests/x.py", "b/tests.py"]),
    ],
)
def test_exclude_reads_as_gitignore_does(pattern: str, left: list[str]) -> None:
    _make("a/model.py", "a/tests/x.py", "b/tests.py")

    assert _found(".", exclude=[pattern]) == left


@pytest.mark.usefixtures("tree")
def test_exclude_also_holds_for_named_files_and_folders() -> None:
    _make("a/model.py", "b/tests.py")

    assert _found("a/model.py", "b", exclude=["a/model.py", "b/"]) == []


@pytest.mark.usefixtures("tree")
def test_exclude_starts_at_the_root_not_where_the_walk_starts() -> None:
    _make("a/b/x.py", "b/y.py")

    assert _found("a", exclude=["/b"]) == ["a/b/x.py"]


@pytest.mark.usefixtures("tree")
def test_a_bad_pattern_is_the_users_mistake() -> None:
    with pytest.raises(BadPatternError, match=r"bad `exclude` '!': "):
        discover([Path()], exclude=["!"], root=Path())


@pytest.mark.usefixtures("tree")
def test_a_missing_path_is_a_problem_and_the_rest_is_found() -> None:
    _make("a.py")

    files, problems = discover([Path("gone"), Path("a.py")], exclude=(), root=Path())

    assert files == [Path("a.py")]
    assert [(p.path, p.line, p.column, p.message) for p in problems] == [
        (Path("gone"), 1, 0, "no such file or folder")
    ]


def test_a_link_back_to_its_own_folder_is_one_problem(tree: Path) -> None:
    _make("a/b/c.py")
    Path("a/b/up").symlink_to(tree / "a", target_is_directory=True)

    files, problems = discover([Path()], exclude=(), root=Path())

    assert files == [Path("a/b/c.py")]
    assert [(p.path, p.message) for p in problems] == [
        (Path("a/b/up"), f"symbolic link loops back to {tree / 'a'}; not followed")
    ]


@pytest.mark.usefixtures("tree")
def test_a_linked_folder_is_walked_once_under_its_own_name() -> None:
    _make("z/model.py")
    Path("a").symlink_to("z", target_is_directory=True)

    assert _found(".") == ["z/model.py"]


def test_a_linked_folder_outside_is_walked_under_the_name_of_the_link(tree: Path) -> None:
    _make("in/a.py", "out/b.py")
    Path("in/more").symlink_to(tree / "out", target_is_directory=True)

    assert _found("in") == ["in/a.py", "in/more/b.py"]


def test_folders_outside_that_link_to_each_other_end(tree: Path) -> None:
    _make("in/a.py", "one/b.py", "two/c.py")
    Path("in/more").symlink_to(tree / "one", target_is_directory=True)
    Path("one/two").symlink_to(tree / "two", target_is_directory=True)
    Path("two/one").symlink_to(tree / "one", target_is_directory=True)

    assert _found("in") == ["in/a.py", "in/more/b.py", "in/more/two/c.py"]


@pytest.mark.usefixtures("tree")
def test_links_that_lead_nowhere_are_files_to_complain_about() -> None:
    Path("gone1.py").symlink_to("nothing")
    Path("gone2.py").symlink_to("nothing")
    Path("loop.py").symlink_to("loop.py")
    Path(".#open.py").symlink_to("user@host")

    assert _found(".") == ["gone1.py", "gone2.py", "loop.py"]
