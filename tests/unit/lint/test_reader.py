"""Files read once and found again by module name."""

from __future__ import annotations

import ast
from pathlib import Path

from capturelint.lint.discovery import Problem
from capturelint.lint.index import facts_of
from capturelint.lint.indexing import index_one
from capturelint.lint.linking import link
from capturelint.lint.project import Project
from capturelint.lint.reader import Reader
from tests.unit.lint.probe import config_for, written


def test_files_give_facts_and_the_unreadable_ones_problems(tmp_path: Path) -> None:
    written(tmp_path, {"a.py": "x = 1\n", "b.py": "x = (\n", "c.py": "y = 2\n"})
    (tmp_path / "d.py").write_bytes(b"\x00")
    paths = [tmp_path / name for name in ("a.py", "b.py", "c.py", "d.py", "e.py")]

    facts, problems = Reader(tmp_path).index(paths, jobs=1, progress=None)

    assert [one.module for one in facts] == ["a", "c"]
    assert [(p.path.name, p.line) for p in problems] == [("b.py", 1), ("d.py", 1), ("e.py", 1)]


def test_deep_nesting_is_a_problem_and_not_a_crash(tmp_path: Path) -> None:
    path = tmp_path / "deep.py"
    path.write_text("x = " + "+".join(["1"] * 60_000) + "\n", encoding="utf-8")

    assert isinstance(index_one((path, "deep", False)).result, Problem)


def test_stdin_stands_for_its_path(tmp_path: Path) -> None:
    path = written(tmp_path, {"pkg/__init__.py": "", "pkg/a.py": "old = 1\n"}) / "pkg" / "a.py"
    reader = Reader(tmp_path, (path, "new = 2\n"))

    [facts], problems = reader.index([path], jobs=1, progress=None)

    assert (facts.module, facts.assigns, problems) == ("pkg.a", {"new": "2"}, [])
    assert reader.source(str(path)).lines == ("new = 2", "")


def test_modules_beside_those_that_were_read_can_be_loaded(tmp_path: Path) -> None:
    written(
        tmp_path,
        {
            "pkg/__init__.py": "",
            "pkg/a.py": "",
            "pkg/b.py": "x = 1\n",
            "pkg/sub/__init__.py": "y = 2\n",
            "pkg/broken.py": "x = (\n",
        },
    )
    reader = Reader(tmp_path)
    reader.index([tmp_path / "pkg" / "a.py"], jobs=1, progress=None)

    loaded = {
        name: reader.load(str(tmp_path), name)
        for name in ("pkg", "pkg.b", "pkg.sub", "pkg.broken", "pkg.none", "torch")
    }
    assert {name: facts.assigns for name, facts in loaded.items() if facts is not None} == {
        "pkg": {},
        "pkg.b": {"x": "1"},
        "pkg.sub": {"y": "2"},
    }


def test_a_module_that_is_not_there_is_looked_for_once() -> None:
    asked: list[tuple[str, str]] = []

    def load(home: str, module: str) -> None:
        asked.append((home, module))

    project = Project(load)
    project.add(
        facts_of(ast.parse(""), "", path="/here/pkg/m.py", module="pkg.m", is_package=False)
    )

    assert [project.file(name) for name in ("pkg.a", "pkg.a", "torch")] == [None, None, None]
    assert asked == [("/here", "pkg.a")]


def test_a_function_is_read_again_by_its_lines(tmp_path: Path) -> None:
    text = "x = 1\n\nclass A:\n    def f(self):\n        return 2\n"
    path = written(tmp_path, {"a.py": text}) / "a.py"
    reader = Reader(tmp_path)
    [facts], _ = reader.index([path], jobs=1, progress=None)
    project = Project()
    project.add(facts)

    body = reader.body_of(project.functions[0])
    assert body is not None
    assert ast.unparse(body) == "def f(self):\n    return 2"
    assert reader.body_of(project.functions[0]) is body


def test_trees_of_many_lines_do_not_stay(tmp_path: Path) -> None:
    long = "".join(f"def f{n}():\n" + "    x = 1\n" * 1499 for n in range(3))
    path = written(tmp_path, {"a.py": long}) / "a.py"
    reader = Reader(tmp_path)
    [facts], _ = reader.index([path], jobs=1, progress=None)
    project = Project()
    project.add(facts)
    first, second, third = project.functions

    body, other = reader.body_of(first), reader.body_of(second)
    assert reader.body_of(first) is body
    reader.body_of(third)
    assert reader.body_of(first) is body
    assert reader.body_of(second) is not other


def test_a_file_that_vanishes_while_it_is_checked_gives_no_body(tmp_path: Path) -> None:
    path = written(tmp_path, {"a.py": "def f():\n    return 2\n"}) / "a.py"
    reader = Reader(tmp_path)
    [facts], _ = reader.index([path], jobs=1, progress=None)
    project = Project()
    project.add(facts)
    path.unlink()

    assert reader.body_of(project.functions[0]) is None


def test_several_processes_read_what_one_does(tmp_path: Path) -> None:
    count = 401
    written(tmp_path, {f"m{n:03}.py": f"def f{n}(x): return {n}\n" for n in range(count)})
    paths = sorted(tmp_path.glob("*.py"))

    alone, _ = Reader(tmp_path).index(paths, jobs=1, progress=None)
    together, _ = Reader(tmp_path).index(paths, jobs=2, progress=None)

    assert len(alone) == count
    assert together == alone


def test_progress_is_told_now_and_then(tmp_path: Path) -> None:
    written(tmp_path, {f"m{n}.py": "" for n in range(60)})
    said: list[str] = []

    link(
        sorted(tmp_path.glob("*.py")),
        [],
        config_for(tmp_path),
        lambda _n, _t: True,
        stdin=None,
        progress=said.append,
    )

    assert said[0] == "reading 50 of 60 files"
    assert said[-1].startswith("following ")


def test_the_head_of_a_function_is_its_tree_where_that_is_at_hand(tmp_path: Path) -> None:
    text = "def f(a):\n    return 2\n"
    path = written(tmp_path, {"a.py": text}) / "a.py"
    reader = Reader(tmp_path)
    [facts], _ = reader.index([path], jobs=1, progress=None)
    project = Project()
    project.add(facts)
    [function] = project.functions

    head = reader.head_of(function)

    assert head is not None
    assert ast.unparse(head) == "def f(a):\n    pass"
    assert reader.body_of(function) is reader.head_of(function)
    path.unlink()
    assert Reader(tmp_path).head_of(function) is None
