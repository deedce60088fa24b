"""Where a captured region begins and ends when no plain `with torch.cuda.graph(...)` says so."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.lint.probe import kinds

_FORMS = {
    "a renamed import": """
        from torch.cuda import graph as G
        def run(g, x: Tensor):
            x  #: never runs
            with G(g):
                x  #: device tensor
            x  #: never runs
    """,
    "a context kept in a name": """
        def run(g, x: Tensor):
            context = torch.cuda.graph(g)
            with context:
                x  #: device tensor
            x  #: never runs
    """,
    "an exit stack": """
        from contextlib import ExitStack
        def run(g, x: Tensor):
            with ExitStack() as stack:
                x  #: never runs
                stack.enter_context(torch.cuda.graph(g))
                x  #: device tensor
            x  #: never runs
    """,
    "the low-level calls": """
        def run(g, x: Tensor):
            x  #: never runs
            g.capture_begin()
            x  #: device tensor
            g.capture_end()
            x  #: never runs
    """,
}


@pytest.mark.parametrize("form", _FORMS)
def test_a_region_is_found_however_it_is_begun(form: str, tmp_path: Path) -> None:
    told = kinds(tmp_path, _FORMS[form])

    assert told.seen == told.wanted


def test_another_context_entered_on_a_stack_captures_nothing(tmp_path: Path) -> None:
    told = kinds(
        tmp_path,
        """
        from contextlib import ExitStack
        def run(g, x: Tensor):
            torch.cuda.graph(g)
            with ExitStack() as stack:
                stack.enter_context(torch.no_grad())
                x  #: never runs
        """,
    )

    assert told.seen == told.wanted


@pytest.mark.parametrize(
    ("use", "kind"),
    [
        ("h > 3", "unknown"),
        ("h % 4 == 0", "unknown"),
        ("F.relu(h)", "device tensor"),
        ("h.sum()", "device tensor"),
    ],
)
def test_an_argument_without_annotation_is_a_tensor_where_it_is_used_as_one(
    use: str, kind: str, tmp_path: Path
) -> None:
    told = kinds(
        tmp_path,
        f"""
        import torch.nn.functional as F
        class Layer(nn.Module):
            def forward(self, h, w):
                h  #: {kind}
                {use}
        """,
    )

    assert [value.partition(",")[0] for value in told.seen.values()] == [kind]
