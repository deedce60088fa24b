"""Capture sites in a module's own code: what the body of `with torch.cuda.graph(...)` sees there."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.lint.probe import captured, kinds, linked, roots


def test_the_body_of_a_graph_context_sees_the_names_of_a_script(tmp_path: Path) -> None:
    told = kinds(
        tmp_path,
        """
        x = torch.zeros(2, device="cuda")
        host = torch.zeros(2)
        graph = torch.cuda.CUDAGraph()
        x  #: never runs
        with torch.cuda.graph(graph):
            x  #: device tensor, rank 1
            host  #: host tensor, rank 1
            y = x + 1
        y  #: never runs
        """,
    )

    assert told.seen == told.wanted


def test_what_a_script_defines_is_followed_from_its_graph_context(tmp_path: Path) -> None:
    told = kinds(
        tmp_path,
        """
        x = torch.zeros(2, device="cuda")

        def moved(y):
            y  #: device tensor
            return y.cpu()

        def unused(y):
            y  #: never runs

        class Scaled:
            def __init__(self, factor: Tensor):
                self.factor = factor

            def run(self, y):
                self.factor  #: device tensor
                return y.cpu()

        scaled = Scaled(x)
        unused(x)
        with torch.cuda.graph(torch.cuda.CUDAGraph()):
            moved(x)  #: host tensor
            scaled.run(x)  #: host tensor
        """,
    )

    assert told.seen == told.wanted


@pytest.mark.parametrize(
    ("head", "foot"),
    [
        ("if torch.cuda.is_available():", ""),
        ("if __name__ == '__main__':", ""),
        ("for _ in range(3):", ""),
        ("try:", "except RuntimeError: pass"),
    ],
)
def test_a_graph_context_of_a_script_may_stand_in_a_block(
    head: str, foot: str, tmp_path: Path
) -> None:
    told = kinds(
        tmp_path,
        f"""
        x = torch.zeros(2, device="cuda")
        x = x + 1
        {head}
            def inner(y):
                y  #: device tensor
                x  #: device tensor
                return y

            with torch.cuda.graph(torch.cuda.CUDAGraph()):
                inner(x)  #: device tensor
        {foot}
        """,
    )

    assert told.seen == told.wanted


@pytest.mark.parametrize(
    "context", ["torch.cuda.graph(g) if n else nullcontext()", "nullcontext() if n else graph(g)"]
)
def test_a_graph_context_may_be_one_arm_of_a_choice(context: str, tmp_path: Path) -> None:
    told = kinds(
        tmp_path,
        f"""
        from contextlib import nullcontext
        from torch.cuda import graph

        def capture(x: Tensor, g, n: int):
            with {context}:
                x  #: device tensor
        """,
    )

    assert told.seen == told.wanted


@pytest.mark.parametrize("other", ["nullcontext()", "open(n)", "None"])
def test_a_graph_context_that_has_a_name_may_be_another_too(other: str, tmp_path: Path) -> None:
    told = kinds(
        tmp_path,
        f"""
        from contextlib import nullcontext
        from torch.cuda import graph

        def capture(x: Tensor, g, n: int):
            chosen = {other}
            if n:
                chosen = graph(g)
            with chosen:
                x  #: device tensor
        """,
    )

    assert told.seen == told.wanted


def test_a_graph_may_be_renamed_by_an_import_over_several_lines(tmp_path: Path) -> None:
    told = kinds(
        tmp_path,
        """
        from torch.cuda import (
            graph as recorded,
        )

        def capture(x: Tensor, g):
            with recorded(g):
                x  #: device tensor
        """,
    )

    assert told.seen == told.wanted


def test_the_root_of_a_script_is_its_own_code(tmp_path: Path) -> None:
    files = {
        "m.py": """
            import torch

            def inside(x): return x
            def outside(x): return x

            x = outside(torch.zeros(2, device="cuda"))
            with torch.cuda.graph(torch.cuda.CUDAGraph()):
                inside(x)
        """
    }

    assert roots(tmp_path, files) == {"m.<module>": "holds `with torch.cuda.graph(...)`"}
    assert captured(tmp_path, files) == {"m.<module>", "m.inside"}


def test_a_script_that_only_names_a_graph_mode_is_no_root(tmp_path: Path) -> None:
    files = {
        "m.py": """
            import torch

            def step(x): return x

            fast = torch.compile(step, mode="reduce-overhead")
            MODES = ["max-autotune"]
        """
    }

    assert set(roots(tmp_path, files)) == {"m.step"}


def test_a_module_whose_functions_hold_all_sites_has_no_code_of_its_own(tmp_path: Path) -> None:
    files = {
        "m.py": """
            import torch

            def capture(x):
                with torch.cuda.graph(torch.cuda.CUDAGraph()):
                    x + 1

            capture(torch.zeros(2))
        """
    }

    assert [f.full_name for f in linked(tmp_path, files).project.functions] == ["m.capture"]
    assert set(roots(tmp_path, files)) == {"m.capture"}


def test_names_of_a_script_that_functions_rebind_are_not_constant(tmp_path: Path) -> None:
    told = kinds(
        tmp_path,
        """
        FAST = True
        LEFT = True

        def leave():
            global LEFT
            LEFT = False

        def step(x: Tensor):
            if FAST:
                x  #: device tensor
            else:
                x  #: never runs
            if LEFT:
                x  #: device tensor
            else:
                x  #: device tensor
        """,
    )

    assert told.seen == told.wanted


def test_lambdas_are_captured_that_are_given_to_what_makes_a_graph_of_them(tmp_path: Path) -> None:
    told = kinds(
        tmp_path,
        """
        def body(t):
            t  #: device tensor
            return t

        def unused(t):
            t  #: never runs

        def graphed(call, x):
            return torch.cuda.make_graphed_callables(call, (x,))

        def captured(call):
            with torch.cuda.graph(torch.cuda.CUDAGraph()):
                return call()

        def one(x: Tensor):
            h = lambda t: unused(t)
            return torch.cuda.make_graphed_callables(lambda t: body(t), (x,))

        def sixth(t):
            t  #: device tensor

        def seventh(a, b):
            b  #: device tensor

        def several(x: Tensor, n: int):
            first = lambda t: sixth(t)
            calls = (first, lambda a, b: seventh(a, b))
            return torch.cuda.make_graphed_callables(sample_args=((x,), (x, x)), callables=calls)

        def given(x: Tensor):
            return graphed(lambda t: third(x), x)

        def third(t):
            t  #: device tensor

        def given_to_a_context(x: Tensor):
            x  #: never runs
            return captured(lambda: fourth(x))

        def fourth(t):
            t  #: device tensor

        class Runner:
            def __init__(self, x: Tensor):
                self.call = torch.cuda.make_graphed_callables(lambda t: self.body(t), (x,))

            def body(self, t):
                t  #: device tensor

        def compiled(x: Tensor):
            return torch.compile(lambda t: fifth(x), mode="reduce-overhead")

        def fifth(t):
            t  #: device tensor
        """,
    )

    assert told.seen == told.wanted
