"""Notebooks, checked whole: cells, places, comments, broken ones."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from capturelint.finding import Finding, Span, Step
from capturelint.lint.engine import check
from capturelint.lint.files import decode
from capturelint.lint.listing import list_roots
from capturelint.lint.registry import builtin_rules
from tests.unit.lint.probe import config_for, written

_IMPORTS = "import torch\n%matplotlib inline\nfrom torch import nn"
_TOOLS = "# tools\ndef read(x):\n    return x.item()"
_MODEL = """\
class Model(nn.Module):
    def forward(self, x: torch.Tensor):
        é = 1; y = x.item()
        return read(x)"""


def _code(source: str | Sequence[str], **more: object) -> dict[str, object]:
    return {"cell_type": "code", "source": source, "outputs": [], "metadata": {}, **more}


def _notebook(*cells: Mapping[str, object], **more: object) -> str:
    return json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells, **more})


def _found(folder: Path, files: Mapping[str, str]) -> tuple[Finding, ...]:
    written(folder, files)
    return check([Path()], config_for(folder), builtin_rules()).findings


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def _text_cell() -> dict[str, object]:
    return {"cell_type": "markdown", "source": "# x.item()"}


def test_cells_are_one_module_and_places_are_in_cells(tmp_path: Path) -> None:
    cells = (_text_cell(), _code(_IMPORTS), _code(_TOOLS), _text_cell(), _code(_MODEL))

    read, own = _found(tmp_path, {"nb.ipynb": _notebook(*cells)})

    assert (own.path, own.cell, own.span) == ("nb.ipynb", 5, Span(3, 19, 3, 27))
    assert own.source == "        é = 1; y = x.item()"
    assert own.chain == (Step("nb.ipynb", 3, "Model.forward", 5),)
    assert (read.cell, read.span) == (3, Span(3, 11, 3, 19))
    assert read.chain == (
        Step("nb.ipynb", 4, "Model.forward", 5),
        Step("nb.ipynb", 3, "read", 3),
    )


def test_a_notebook_uses_and_is_used_by_files(tmp_path: Path) -> None:
    cells = (_code(f"{_IMPORTS}\nfrom tools import read"), _code(_MODEL))

    by_file, own = sorted(
        _found(tmp_path, {"tools.py": _TOOLS, "nb.ipynb": _notebook(*cells)}),
        key=lambda finding: finding.path,
        reverse=True,
    )

    assert (own.path, own.cell) == ("nb.ipynb", 2)
    assert (by_file.path, by_file.cell, by_file.span) == ("tools.py", None, Span(3, 11, 3, 19))
    assert by_file.chain[0] == Step("nb.ipynb", 4, "Model.forward", 2)


def test_format_3_has_sheets_and_calls_the_text_input(tmp_path: Path) -> None:
    code = f"{_IMPORTS}\n{_TOOLS}\n{_MODEL}"
    cell = {"cell_type": "code", "input": code.splitlines(keepends=True), "language": "python"}
    sheets = [{"cells": [_text_cell()]}, {"cells": [cell]}]
    text = json.dumps({"nbformat": 3, "metadata": {"name": ""}, "worksheets": sheets})

    assert [(one.cell, one.span.line) for one in _found(tmp_path, {"nb.ipynb": text})] == [
        (2, 6),
        (2, 9),
    ]


def test_comments_accept_findings_and_idle_ones_are_told(tmp_path: Path) -> None:
    accepted = _MODEL.replace("x.item()", "x.item()  # capturelint: ignore[CL101] why")
    cells = (
        _code(_IMPORTS),
        _code(f"{accepted}\n# capturelint: ignore[CL101] none".replace("read", "id")),
    )

    [idle] = _found(tmp_path, {"nb.ipynb": _notebook(*cells)})

    assert (idle.code, idle.cell, idle.span.line) == ("CL002", 2, 5)


def test_markers_and_sites_of_a_cell_are_roots(tmp_path: Path) -> None:
    cells = (
        _code(_IMPORTS),
        _code("# capturelint: captured\ndef step(x: torch.Tensor):\n    return x.sum()"),
        _code("g = torch.cuda.CUDAGraph()\nwith torch.cuda.graph(g):\n    step(x)"),
    )
    written(tmp_path, {"nb.ipynb": _notebook(*cells)})

    roots = list_roots([Path("nb.ipynb")], config_for(tmp_path)).roots

    assert [(root.path, root.cell, root.line) for root in roots] == [
        ("nb.ipynb", 1, 1),  # the module's own code, which begins with the first cell
        ("nb.ipynb", 2, 2),
    ]


def test_a_comment_like_ours_does_not_move_cells(tmp_path: Path) -> None:
    code = f"{_IMPORTS}\n# %% cell 77 of the notebook\n{_TOOLS}\n{_MODEL}"

    assert [one.cell for one in _found(tmp_path, {"nb.ipynb": _notebook(_code(code))})] == [1, 1]


@pytest.mark.parametrize(
    "metadata",
    [{"language_info": {"name": "julia"}}, {"kernelspec": {"language": "R", "name": "ir"}}],
)
def test_another_language_is_no_finding(tmp_path: Path, metadata: dict[str, object]) -> None:
    text = _notebook(_code("x = 1 |> f"), metadata=metadata)

    assert _found(tmp_path, {"nb.ipynb": text}) == ()


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        ("", (1, 0), "is no notebook: not valid JSON: Expecting value"),
        ('{\n "cells": [,]}', (2, 11), "is no notebook: not valid JSON: Expecting value"),
        ("[" * 100_000, (1, 0), "is no notebook: it is nested too deeply"),
        ("[]", (1, 0), "is no notebook: it is not a JSON object"),
        ('{"cells": []}', (1, 0), "is no notebook: it has no `nbformat`"),
        ('{"nbformat": 4}', (1, 0), "is no notebook: `cells` is not a list of objects"),
        ('{"nbformat": 4, "cells": [1]}', (1, 0), "is no notebook: `cells` is not a list of objects"),
        (
            '{"nbformat": 2, "worksheets": []}',
            (1, 0),
            "is a notebook of format 2; formats 3 and 4 are read, so convert it",
        ),
        (
            '{"nbformat": 4, "cells": [{"cell_type": "code", "source": 1}]}',
            (1, 0),
            "is no notebook: cell 1 has no text",
        ),
    ],
)  # fmt: skip
def test_a_broken_notebook_is_a_finding(
    tmp_path: Path, text: str, place: tuple[int, int], message: str
) -> None:
    [finding] = _found(tmp_path, {"nb.ipynb": text})

    assert (finding.code, finding.cell, finding.message) == ("CL000", None, message)
    assert finding.span[:2] == place


def test_code_that_cannot_be_parsed_is_a_finding_in_its_cell(tmp_path: Path) -> None:
    cells = (_text_cell(), _code("x = 1"), _code("y = 2\ndef f(:"))

    [finding] = _found(tmp_path, {"nb.ipynb": _notebook(*cells)})

    assert (finding.code, finding.cell, finding.span.line) == ("CL000", 3, 2)


def test_an_empty_notebook_has_nothing(tmp_path: Path) -> None:
    files = {
        "a.ipynb": _notebook(),
        "b.ipynb": _notebook(_text_cell()),
        "c.ipynb": _notebook(_code([])),
    }

    assert _found(tmp_path, files) == ()


def test_images_may_be_large_but_code_may_not(tmp_path: Path) -> None:
    large = {"data": {"image/png": "x" * (5 * 2**20)}}
    assert _found(tmp_path, {"nb.ipynb": _notebook(_code("x = 1", outputs=[large]))}) == ()

    [finding] = _found(tmp_path, {"nb.ipynb": _notebook(_code("#" * (5 * 2**20)))})
    assert finding.message == "is 5.0 MiB long; files over 4 MiB are not checked"


def test_copies_that_jupyter_keeps_are_left_out(tmp_path: Path) -> None:
    assert _found(tmp_path, {".ipynb_checkpoints/nb-checkpoint.ipynb": "broken"}) == ()


def test_a_byte_order_mark_and_line_ends_of_windows_are_read() -> None:
    data = b"\xef\xbb\xbf" + _notebook(_code("x = 1\r\ny = 2\r\n")).encode()

    assert decode(data, Path("a.ipynb")) == "# %% cell 1 of the notebook\nx = 1\ny = 2\n\n"
