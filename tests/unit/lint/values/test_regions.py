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


_MANAGERS = """
import torch
from contextlib import ExitStack, contextmanager
from typing import Iterator

@contextmanager
def capturing(g) -> Iterator[None]:
    with torch.cuda.graph(g):
        yield

@contextmanager
def by_calls(g, is_on=True):
    if is_on:
        g.capture_begin()
    try:
        yield
    finally:
        g.capture_end()

class Begins:
    def __init__(self, g):
        self.g = g
    def __enter__(self):
        self.g.capture_begin()
        return self
    def __exit__(self, *_):
        self.g.capture_end()

class Holds:
    def __init__(self, g):
        self.context = torch.cuda.graph(g)
    def __enter__(self):
        return self.context.__enter__()
    def __exit__(self, *given):
        return self.context.__exit__(*given)

class Below(Holds):
    pass

@contextmanager
def around(g):
    with ExitStack() as stack:
        stack.enter_context(Below(g))
        yield

def made(g):
    return torch.cuda.graph(g)

@contextmanager
def captured_before(g):
    with torch.cuda.graph(g):
        pass
    yield

class Warms:
    def __enter__(self):
        with torch.cuda.graph(torch.cuda.CUDAGraph()):
            pass
    def __exit__(self, *_):
        pass
"""


@pytest.mark.parametrize(
    ("context", "said"),
    [
        ("capturing(g)", "device tensor"),
        ("managers.capturing(g)", "device tensor"),
        ("renamed(g)", "device tensor"),
        ("managers.by_calls(g)", "device tensor"),
        ("managers.by_calls(g, is_on=False)", "never runs"),
        ("Begins(g)", "device tensor"),
        ("managers.Below(g) as held", "device tensor"),
        ("managers.around(g)", "device tensor"),
        ("managers.made(g)", "device tensor"),
        ("managers.captured_before(g)", "never runs"),
        ("managers.Warms()", "never runs"),
        ("capturing(g) if g else managers.captured_before(g)", "device tensor"),
    ],
)
def test_a_context_of_the_project_captures_if_it_does_so_where_it_yields(
    context: str, said: str, tmp_path: Path
) -> None:
    told = kinds(
        tmp_path,
        f"""
        import managers
        from managers import Begins, capturing, capturing as renamed
        def run(g, x: Tensor):
            x  #: never runs
            with {context}:
                x  #: {said}
            x  #: never runs
        """,
        {"managers.py": _MANAGERS},
    )

    assert told.seen == told.wanted


def test_an_object_that_captures_may_be_entered_by_name_by_call_and_on_a_stack(
    tmp_path: Path,
) -> None:
    told = kinds(
        tmp_path,
        """
        from contextlib import ExitStack
        from managers import Begins, Holds
        class Runner:
            def __init__(self, g):
                self.context = Begins(g)
            def entered(self, x: Tensor):
                with self.context:
                    x  #: device tensor
                x  #: never runs
            def called(self, x: Tensor):
                self.context.__enter__()
                x  #: device tensor
                self.context.__exit__(None, None, None)
                x  #: never runs
        def stacked(g, x: Tensor):
            with ExitStack() as stack:
                x  #: never runs
                stack.enter_context(Holds(g))
                x  #: device tensor
            x  #: never runs
        """,
        {"managers.py": _MANAGERS},
    )

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
