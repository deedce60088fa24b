"""Calls: what functions of the project, lambdas, builtins and containers give back."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.lint.probe import kinds


def test_a_helper_gives_what_it_returns(tmp_path: Path) -> None:
    told = kinds(
        tmp_path,
        """
        def moved(x):
            return x.cpu()

        def pair(x):
            if x.shape[0]:
                return x, 1
            return x + 1, 2

        def nothing(x):
            x = 1

        def maybe(x):
            if x.shape[0]:
                return x

        def either(x, n):
            return x if n else 1

        def declared(x) -> Tensor:
            return unknown(x)

        def step(x: Tensor, n: int):
            moved(x)  #: host tensor
            pair(x)[0]  #: device tensor
            a, b = pair(x)
            b  #: host value
            nothing(x)  #: host value, = None
            maybe(x)  #: device tensor
            either(x, n)  #: device tensor, mixed
            declared(x)  #: device tensor
        """,
    )

    assert told.seen == told.wanted


def test_a_helper_that_may_return_nothing_gives_an_optional(tmp_path: Path) -> None:
    told = kinds(
        tmp_path,
        """
        def maybe(x):
            if x.shape[0]:
                return x

        def step(x: Tensor):
            maybe(x)  #: device tensor, optional
            if maybe(x) is None:
                x  #: device tensor
        """,
    )

    assert told.seen == told.wanted


def test_a_recursive_function_gives_what_its_other_returns_say(tmp_path: Path) -> None:
    told = kinds(
        tmp_path,
        """
        def down(x, n):
            if n:
                return down(x + 1, n - 1)
            return x

        def left(x):
            return right(x)

        def right(x):
            return left(x) if x.shape[0] else x

        def step(x: Tensor, n: int):
            down(x, n)  #: device tensor
            left(x)  #: device tensor
        """,
    )

    assert told.seen == told.wanted


def test_a_method_of_a_base_calls_the_overriding_one(tmp_path: Path) -> None:
    told = kinds(
        tmp_path,
        """
        class Base(nn.Module):
            def part(self, x):
                raise NotImplementedError

            def forward(self, x: Tensor):
                self.part(x)  #: host tensor

        class Below(Base):
            def part(self, x):
                x  #: device tensor
                return x.cpu()
        """,
    )

    assert told.seen == told.wanted


def test_static_and_class_methods_bind_their_arguments(tmp_path: Path) -> None:
    told = kinds(
        tmp_path,
        """
        class Tools:
            @staticmethod
            def first(x):
                x  #: device tensor
                return x.cpu()

            @classmethod
            def second(cls, x):
                x  #: device tensor
                return x.cpu()

            def third(self, x):
                return self.first(x)

        def step(x: Tensor):
            Tools.first(x)  #: host tensor
            Tools.second(x)  #: host tensor
            Tools().third(x)  #: host tensor
            Tools().first(x)  #: host tensor
            Tools.third(Tools(), x)  #: host tensor
        """,
    )

    assert told.seen == told.wanted


def test_nested_functions_see_the_names_around_them(tmp_path: Path) -> None:
    told = kinds(
        tmp_path,
        """
        class Model(nn.Module):
            def forward(self, x: Tensor, n: int):
                y = x.cpu()

                def inner(z):
                    y  #: host tensor
                    z  #: device tensor
                    n  #: host value
                    return z

                inner(x)  #: device tensor
                (lambda k: k)(x)  #: device tensor
                twice = lambda k, m=1: k.cpu()
                twice(x)  #: host tensor
        """,
    )

    assert told.seen == told.wanted


def test_a_function_nested_in_a_configured_root_gets_what_it_is_passed(tmp_path: Path) -> None:
    told = kinds(
        tmp_path,
        """
        def step(x: Tensor):
            def inner(y):
                return y

            inner(x)  #: device tensor
        """,
    )

    assert told.seen == told.wanted


def test_a_method_sees_the_self_of_the_method_around_it(tmp_path: Path) -> None:
    told = kinds(
        tmp_path,
        """
        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.register_buffer("table", torch.ones(3))

            def forward(self, x: Tensor):
                def inner():
                    self.table  #: device tensor

                inner()
        """,
    )

    assert told.seen == told.wanted


def test_wrappers_pass_calls_on(tmp_path: Path) -> None:
    told = kinds(
        tmp_path,
        """
        from functools import partial

        def moved(x, n=0):
            x  #: device tensor
            return x.cpu()

        fast = torch.compile(moved)

        @torch.compile
        def compiled(x):
            return x.cpu()

        @torch.no_grad()
        def quiet(x):
            return x.cpu()

        def step(x: Tensor):
            partial(moved, n=1)(x)  #: host tensor
            fast(x)  #: host tensor
            compiled(x)  #: host tensor
            quiet(x)  #: host tensor
            torch.utils.checkpoint.checkpoint(moved, x, use_reentrant=False)  #: host tensor
            list(map(moved, [x]))[0]  #: host tensor
        """,
    )

    assert told.seen == told.wanted


def test_the_forward_of_an_autograd_function_runs_by_apply(tmp_path: Path) -> None:
    told = kinds(
        tmp_path,
        """
        class Scaled(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x, n):
                x  #: device tensor
                return x * n

            @staticmethod
            def backward(ctx, grad):
                grad  #: never runs

        def step(x: Tensor):
            Scaled.apply(x, 2)  #: device tensor
        """,
    )

    assert told.seen == told.wanted


def test_lists_dicts_and_tuples_hold_what_was_put_in(tmp_path: Path) -> None:
    told = kinds(
        tmp_path,
        """
        def step(x: Tensor, n: int):
            rows = []
            rows.append(x)
            rows[0]  #: device tensor
            rows.append(1)
            rows[n]  #: unknown
            more = [x]
            more.extend([x + 1])
            more[-1]  #: device tensor
            table = {"a": x}
            table["b"] = x + 1
            table["b"]  #: device tensor
            table.get("a")  #: device tensor
            table.get("a", None)  #: device tensor, optional
            for key in table:
                key  #: host value
            {**table}["a"]  #: device tensor
            pair = (x, n)
            pair[0]  #: device tensor
            pair[1]  #: host value
            pair[n]  #: unknown
            (pair + (x,))[2]  #: device tensor
            ([x] * 3)[1]  #: device tensor
            [x, x][::2][0]  #: device tensor
        """,
    )

    assert told.seen == told.wanted


@pytest.mark.parametrize("empty", ["{}", "dict()"])
def test_an_empty_dict_holds_what_is_put_in(empty: str, tmp_path: Path) -> None:
    told = kinds(
        tmp_path,
        f"""
        def step(x: Tensor):
            table = {empty}
            table["a"] = x
            table["a"]  #: device tensor
        """,
    )

    assert told.seen == told.wanted


def test_a_dict_of_keywords_holds_their_values(tmp_path: Path) -> None:
    told = kinds(
        tmp_path,
        """
        def step(x: Tensor):
            dict(a=x, b=x)["a"]  #: device tensor
        """,
    )

    assert told.seen == told.wanted


@pytest.mark.parametrize(
    ("call", "facts"),
    [
        ("len(x)", "shape-like"),
        ("int(x)", "host value"),
        ("float(x.sum())", "host value"),
        ("str(x)", "host value"),
        ("x.item()", "host value"),
        ("x.tolist()", "host value"),
        ("abs(x)", "device tensor"),
        ("sum([x, x])", "device tensor"),
        ("max(x, 1)", "device tensor"),
        ("min(1, 2)", "host value"),
        ("max(x.shape)", "host value"),
        ("next(iter([x]))", "device tensor"),
        ("list(x)[0]", "device tensor"),
        ("tuple(x.shape)", "host value"),
        ("sorted([1, 2])[0]", "host value"),
        ("list(reversed([x]))[0]", "device tensor"),
        ("range(3)", "host value"),
        ("list(zip([x], [1]))[0][0]", "device tensor"),
        ("list(enumerate([x]))[0][1]", "device tensor"),
        ("math.sqrt(2)", "host value"),
        ("np.array([1])", "host value"),
        ("f'{x}'", "host value"),
        ("'%s' % x", "host value"),
        ("isinstance(x, Tensor)", "host value, = True"),
        ("hasattr(x, 'a')", "host value"),
        ("getattr(x, 'shape')", "shape-like"),
        ("copy.deepcopy(x)", "device tensor"),
        ("einops.rearrange(x, 'a b -> b a')", "device tensor"),
        ("triton.cdiv(3, 2)", "unknown"),
        ("unheard_of(x)", "unknown"),
        ("torch.ops.mine.kernel(x)", "unknown"),
        ("torch.cuda.current_stream()", "host value"),
        ("time.time()", "host value"),
    ],
)
def test_what_functions_from_outside_the_project_give(
    call: str, facts: str, tmp_path: Path
) -> None:
    told = kinds(
        tmp_path,
        f"""
        import copy
        import math
        import time

        import einops
        import numpy as np
        import triton

        def step(x: Tensor):
            {call}  #: {facts}
        """,
    )

    assert told.seen == told.wanted


def test_an_instance_has_the_methods_of_its_class(tmp_path: Path) -> None:
    told = kinds(
        tmp_path,
        """
        class Table:
            def __init__(self, x):
                x  #: device tensor
                self.rows = x

            def __getitem__(self, index):
                index  #: shape-like
                return self.rows.cpu()

            def __call__(self, x):
                return x

            def item(self):
                return 3

        def step(x: Tensor):
            table = Table(x)
            table[x.shape[0]]  #: host tensor
            table(x)  #: device tensor
            table.item()  #: host value, = 3
        """,
    )

    assert told.seen == told.wanted


def test_a_class_method_makes_instances_of_the_class_that_it_is_asked_of(tmp_path: Path) -> None:
    told = kinds(
        tmp_path,
        """
        class Base(nn.Module):
            @classmethod
            def made(cls, config):
                model = cls(config)
                return model

            @classmethod
            def table(cls):
                return torch.zeros(2)

            def encode(self, x):
                return None

        class Deep(Base):
            def encode(self, x):
                return x.cpu()

        class Wide(Base):
            def encode(self, x):
                x  #: never runs
                return x + 1

        class Model(nn.Module):
            def __init__(self, config):
                super().__init__()
                self.deep = Deep.made(config)

            def forward(self, x: Tensor):
                self.deep.encode(x)  #: host tensor
                Deep.table()  #: host tensor
        """,
        roots=("mod.Model.forward",),
    )

    assert told.seen == told.wanted
