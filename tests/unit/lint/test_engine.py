"""A whole check: order, chains, filters, standard input and files that cannot be read."""

from __future__ import annotations

import textwrap
import warnings
from pathlib import Path

import pytest

from capturelint.config import Scope
from capturelint.finding import Effect, Span, Step
from capturelint.lint.engine import check
from capturelint.lint.listing import list_roots
from capturelint.lint.registry import builtin_rules
from capturelint.lint.result import CheckResult
from tests.unit.lint.probe import config_for, found, written

_MODEL = """\
from torch import Tensor, nn


class Model(nn.Module):
    def forward(self, x: Tensor):
        return x.item()
"""


def _check(folder: Path, files: dict[str, str], **settings: object) -> CheckResult:
    written(folder, files)
    return check([folder], config_for(folder, **settings), builtin_rules())


def test_a_finding_says_what_where_and_how_it_is_reached(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    files = {
        "pkg/__init__.py": "",
        "pkg/tools.py": "def read(x):\n    é = 1; return x.item()\n",
        "pkg/model.py": """\
            from torch import Tensor, nn
            from . import tools

            class Model(nn.Module):
                def forward(self, x: Tensor):
                    return self.part(x)

                def part(self, x):
                    y = x + 1
                    return tools.read(y)
        """,
    }
    result = _check(tmp_path, files)
    [finding] = result.findings

    assert (finding.code, finding.name, finding.effects) == (
        "CL101",
        "host-read",
        (Effect.REFUSES,),
    )
    assert (finding.path, finding.span) == ("pkg/tools.py", Span(2, 18, 2, 26))
    assert finding.function == "pkg.tools.read"
    assert finding.source == "    é = 1; return x.item()"
    assert finding.chain == (
        Step("pkg/model.py", 6, "Model.forward"),
        Step("pkg/model.py", 10, "Model.part"),
        Step("pkg/tools.py", 2, "read"),
    )
    assert (result.roots, result.captured_functions, result.files) == (1, 3, 3)
    assert result.errors == ()


def test_findings_come_by_file_place_and_code(tmp_path: Path) -> None:
    text = """\
        from torch import nn, Tensor
        class Model(nn.Module):
            def late(self, x): return x.item()
            def forward(self, x: Tensor):
                if x.sum() > 0: x.item()
                return self.late(x), x.tolist()
    """

    assert found(tmp_path, {"b.py": text, "a.py": _MODEL, "c/a.py": _MODEL}) == [
        "a.py:6 CL101",
        "b.py:3 CL101",
        "b.py:5 CL401",
        "b.py:5 CL101",
        "b.py:6 CL101",
        "c/a.py:6 CL101",
    ]


@pytest.mark.parametrize(
    ("settings", "wanted"),
    [
        ({}, ["CL101", "CL401"]),
        ({"select": ("CL1",)}, ["CL101"]),
        ({"select": ("CL4",), "extend_select": ("CL101",)}, ["CL101", "CL401"]),
        ({"ignore": ("CL401",)}, ["CL101"]),
        ({"ignore": ("CL",)}, []),
        ({"per_file_ignores": (("a.py", ("CL101",)),)}, ["CL401"]),
        ({"per_file_ignores": (("*.py", ("CL",)),)}, []),
        ({"per_file_ignores": (("b.py", ("CL",)),)}, ["CL101", "CL401"]),
        ({"per_file_ignores": (("sub/*", ("CL",)),)}, ["CL101", "CL401"]),
    ],
)
def test_configuration_filters_findings(
    settings: dict[str, object], wanted: list[str], tmp_path: Path
) -> None:
    text = _MODEL.replace("return x.item()", "\n        if x.any():\n            x.item()")
    result = _check(tmp_path, {"a.py": text}, **settings)

    assert sorted(f.code for f in result.findings) == wanted


def test_per_file_ignores_match_at_any_depth(tmp_path: Path) -> None:
    files = {"src/models/a.py": _MODEL, "src/b.py": _MODEL}

    ignores = (("models/*.py", ("CL1",)),)
    assert found(tmp_path, files, per_file_ignores=ignores) == ["src/b.py:6 CL101"]


@pytest.mark.parametrize(
    ("pattern", "left"),
    [
        ("./b.py", ["dir/a.py", "dir/b.py"]),
        ("/b.py", ["dir/a.py", "dir/b.py"]),
        ("b.py", ["dir/a.py"]),
        ("dir/", ["b.py"]),
        ("dir", ["b.py"]),
        ("./dir/", ["b.py"]),
        ("./dir/a.py", ["b.py", "dir/b.py"]),
        ("di", ["b.py", "dir/a.py", "dir/b.py"]),
    ],
)
def test_per_file_ignores_mean_files_and_folders(
    pattern: str, left: list[str], tmp_path: Path
) -> None:
    files = dict.fromkeys(("dir/a.py", "dir/b.py", "b.py"), _MODEL)
    places = found(tmp_path, files, per_file_ignores=((pattern, ("CL1",)),))

    assert [place.partition(":")[0] for place in places] == left


@pytest.mark.parametrize(
    ("comment", "codes"),
    [
        ("# capturelint: ignore[CL101] measured once", []),
        ("# noqa: CL101", []),
        ("# noqa", []),
        ("# capturelint: ignore[CL401]", ["CL101", "CL002"]),
        ("# type: ignore", ["CL101"]),
    ],
)
def test_a_comment_accepts_a_finding(comment: str, codes: list[str], tmp_path: Path) -> None:
    text = _MODEL.replace("x.item()", f"x.item()  {comment}")
    result = _check(tmp_path, {"a.py": text})

    assert [f.code for f in result.findings] == codes


def test_an_idle_comment_is_reported_where_nothing_else_is(tmp_path: Path) -> None:
    text = "x = 1  # capturelint: ignore[CL101]\n"

    assert found(tmp_path, {"a.py": text}) == ["a.py:1 CL002"]
    assert found(tmp_path, {"a.py": text}, select=("CL4",)) == []
    assert found(tmp_path, {"a.py": "x = 1  # noqa: CL101\n"}) == ["a.py:1 CL002"]
    assert found(tmp_path, {"a.py": "x = 1  # noqa: E501\n"}) == []


def test_an_engine_accepts_by_its_own_comment(tmp_path: Path) -> None:
    text = _MODEL.replace("x.item()", "x.item()  # gpu-sync-ok: metadata")

    assert found(tmp_path, {"a.py": text}, preset=("vllm",)) == []
    assert found(tmp_path, {"a.py": text}) == ["a.py:6 CL101"]


def test_standard_input_is_checked_in_place_of_its_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    base = """\
        from torch import nn

        class Base(nn.Module):
            def read(self, x): return x.item()
    """
    written(tmp_path, {"pkg/__init__.py": "", "pkg/base.py": base, "pkg/m.py": "x = 1\n"})
    text = textwrap.dedent(
        """\
        from .base import Base
        class Model(Base):
            def forward(self, x):
                y = x.tolist()
                return self.read(x)
        """
    )
    path = tmp_path / "pkg" / "m.py"
    result = check([], config_for(tmp_path), builtin_rules(), stdin=(path, text))

    assert [(f.path, f.span.line) for f in result.findings] == [("pkg/m.py", 4)]
    assert (result.files, result.captured_functions) == (1, 1)


def test_a_file_read_for_the_link_is_not_reported(tmp_path: Path) -> None:
    base = """\
        from torch import nn

        class Base(nn.Module):
            def forward(self, x): return x.item()
            def read(self, x): return x.item()
    """
    model = """\
        from .base import Base
        class Model(Base):
            def forward(self, x): return self.read(x), x.tolist()
    """
    files = {"pkg/__init__.py": "", "pkg/base.py": base, "pkg/m.py": model}

    for scope in (Scope.CAPTURED, Scope.ALL):
        alone = found(tmp_path, files, exclude=("base.py",), scope=scope)
        assert alone == ["pkg/m.py:3 CL101"]
    assert len(found(tmp_path, files)) == 3


def test_a_file_that_cannot_be_read_is_a_finding_that_nothing_hides(tmp_path: Path) -> None:
    files = {"a.py": "x = (  # noqa\n", "b.py": _MODEL}
    ignores = (("*", ("CL",)),)

    assert found(tmp_path, files) == ["a.py:1 CL000", "b.py:6 CL101"]
    assert found(tmp_path, files, select=("CL4",), per_file_ignores=ignores) == ["a.py:1 CL000"]


def test_scope_all_reports_what_no_root_reaches_and_gives_it_no_chain(tmp_path: Path) -> None:
    text = _MODEL + "\n\ndef alone(x: Tensor):\n    return x.item()\n"
    result = _check(tmp_path, {"a.py": text}, scope=Scope.ALL)

    assert [(f.span.line, len(f.chain)) for f in result.findings] == [(6, 1), (10, 0)]
    assert result.captured_functions == 1
    assert found(tmp_path, {"a.py": text}) == ["a.py:6 CL101"]


def test_a_function_with_two_callers_is_reported_once(tmp_path: Path) -> None:
    text = """\
        from torch import nn, Tensor
        def read(x): return x.item()
        class A(nn.Module):
            def forward(self, x: Tensor): return read(x), read(x + 1)
        class B(nn.Module):
            def forward(self, x: Tensor): return read(x)
    """

    assert found(tmp_path, {"a.py": text}) == ["a.py:2 CL101"]


def test_a_finding_in_a_loop_is_reported_once(tmp_path: Path) -> None:
    text = _MODEL.replace("return x", "\n        while True:\n            x = x + 1\n            x")

    assert found(tmp_path, {"a.py": text}) == ["a.py:9 CL101"]


def test_chains_of_recursive_functions_end(tmp_path: Path) -> None:
    text = """\
        from torch import nn, Tensor
        def left(x): return right(x)
        def right(x): return left(x), x.item()
        class A(nn.Module):
            def forward(self, x: Tensor): return left(x)
    """
    [finding] = _check(tmp_path, {"a.py": text}).findings

    assert [step.function for step in finding.chain] == ["A.forward", "left", "right"]


def test_roots_are_listed_with_what_is_first_reached_from_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    text = """\
        from torch import nn, Tensor
        def read(x): return x
        class A(nn.Module):
            def forward(self, x: Tensor): return read(x)
        class B(nn.Module):
            def forward(self, x: Tensor): return x
    """
    written(tmp_path, {"a.py": text})
    listed = list_roots([tmp_path], config_for(tmp_path)).roots

    assert {(r.function, r.path, r.line, r.why) for r in listed} == {
        ("a.A.forward", "a.py", 4, "forward of an nn.Module"),
        ("a.B.forward", "a.py", 6, "forward of an nn.Module"),
    }
    [reached] = [r.reached for r in listed if r.function == "a.A.forward"]
    assert [(one.function, one.line) for one in reached] == [("a.read", 2)]
    assert [step.function for step in reached[0].chain] == ["A.forward", "read"]


def test_nothing_to_check_is_no_error(tmp_path: Path) -> None:
    result = _check(tmp_path, {})

    assert result == CheckResult((), 0, 0, 0, (), ())


def test_presets_are_chosen_by_what_is_imported(tmp_path: Path) -> None:
    files = {"a.py": "import vllm.utils\n"}

    assert _check(tmp_path, files, preset=None).presets == ("vllm",)
    assert _check(tmp_path, files).presets == ()
    assert _check(tmp_path, files, preset=("timm",)).presets == ("timm",)
    assert _check(tmp_path, {"a.py": "import os\n"}, preset=None).presets == ()


@pytest.mark.parametrize("end", ["\r\n", "\r"])
def test_line_ends_do_not_matter(end: str, tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_bytes(_MODEL.replace("\n", end).encode())
    result = check([tmp_path], config_for(tmp_path), builtin_rules())

    assert [(f.span, f.source) for f in result.findings] == [
        (Span(6, 15, 6, 23), "        return x.item()")
    ]


def test_progress_is_told(tmp_path: Path) -> None:
    functions = "".join(f"    def f{n}(self, x: Tensor): return x.item()\n" for n in range(60))
    calls = ", ".join(f"self.f{n}(x)" for n in range(60))
    text = _MODEL.replace("return x.item()", f"return {calls}") + functions
    written(tmp_path, {"a.py": text})
    said: list[str] = []
    result = check([tmp_path], config_for(tmp_path), builtin_rules(), progress=said.append)

    assert len(result.findings) == 60
    assert any(text.startswith("checking 50 of 6") for text in said)


def test_a_form_feed_takes_a_column_as_in_an_editor(tmp_path: Path) -> None:
    text = _MODEL.replace("        return", "\f        return")

    [finding] = _check(tmp_path, {"m.py": text}).findings

    assert finding.span == Span(6, 16, 6, 24)
    assert finding.source[finding.span.column : finding.span.end_column] == "x.item()"


def test_what_is_never_captured_is_told_apart_with_scope_all(tmp_path: Path) -> None:
    text = f"{_MODEL}\ndef other(x: Tensor): return x.item()\n"

    captured, other = _check(tmp_path, {"a.py": text}, scope=Scope.ALL).findings
    assert (captured.if_captured, other.if_captured) == (False, True)
    assert other.message == f"if captured: {captured.message}"


_READS = """\
import torch
from torch import Tensor, nn


class Model(nn.Module):
    def forward(self, x: Tensor):
        y = x + 1  # capturelint: ignore[CL101] left over
        return y

    def measure(self, x: Tensor):
        return x.item()  # capturelint: ignore[CL101] not in the graph

    def typed_wrong(self, x: Tensor):
        return x.item()  # noqa: CL110


def run(graph, loss: Tensor):
    with torch.cuda.graph(graph):
        loss.mul_(2)
    while True:
        graph.replay()
        print(loss.item())  # noqa: CL101
"""


@pytest.mark.parametrize("scope", [Scope.CAPTURED, Scope.STEP, Scope.ALL])
def test_a_comment_is_idle_only_where_something_was_looked_for(
    tmp_path: Path, scope: Scope
) -> None:
    result = _check(tmp_path, {"model.py": _READS}, scope=scope)
    idle = [(f.span.line, f.message) for f in result.findings if f.code == "CL002"]
    assert [line for line, _ in idle] == [7, 14]
    assert "names no rule" in idle[1][1]


_ODD = """\
from torch import Tensor, nn


class Model(nn.Module):
    def forward(self, x: Tensor, n=1):
        y = 1if n else 2
        z = "\\d"
        return x.item()
"""


@pytest.mark.parametrize("action", ["error", "always"])
def test_what_python_warns_of_in_checked_code_is_no_concern(
    tmp_path: Path, recwarn: pytest.WarningsRecorder, action: str
) -> None:
    warnings.simplefilter(action)  # type: ignore[arg-type]
    result = _check(tmp_path, {"model.py": _ODD}, scope=Scope.ALL)
    assert [(f.span.line, f.code) for f in result.findings] == [(8, "CL101")]
    assert not recwarn
