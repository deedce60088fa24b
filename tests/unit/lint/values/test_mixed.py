"""Values that are a tensor on one way and a plain number on another."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.lint.probe import IMPORTS, found, kinds


@pytest.mark.parametrize(
    "made",
    [
        "n = 0 if x is y else x.sum()",
        "n = x.shape[0] if x is y else x.sum()",
        "n = 0\n            if x is y:\n                n = x.sum()",
        "n = False\n            for row in x:\n                n = row.any()",
        "n = helper(x, y)",
        "n = self.limit",
    ],
)
def test_a_number_on_one_way_leaves_the_tensor_of_the_other(made: str, tmp_path: Path) -> None:
    told = kinds(
        tmp_path,
        f"""
        def helper(x, y):
            if x is y:
                return 0
            return x.sum()

        class Model(nn.Module):
            def __init__(self, limit: Tensor):
                super().__init__()
                self.limit = 1
                if limit is not None:
                    self.limit = limit

            def forward(self, x: Tensor, y: Tensor):
                {made.replace("            ", "                ")}
                n  #: device tensor, mixed
                n + 1  #: device tensor, mixed
                n + x  #: device tensor, not mixed
                n.clamp(0)  #: device tensor, not mixed
        """,
    )

    assert told.seen == told.wanted


@pytest.mark.parametrize(
    "made",
    [
        "n = 'no' if x is y else x.sum()",
        "n = [1] if x is y else x.sum()",
        "n = {'a': 1} if x is y else x.sum()",
        "n = helper if x is y else x.sum()",
        "n = x.cpu() if x is y else x.sum()",
        "n = unheard_of() if x is y else x.sum()",
        "n = [x, 1][z]",
        "n = {'a': x, 'b': True}['b']",
        "n = dict(a=x, b=1)['b']",
        "n = [i for i in (x, 1)][0]",
    ],
)
def test_other_pairs_and_what_containers_hold_stay_unknown(made: str, tmp_path: Path) -> None:
    told = kinds(
        tmp_path,
        f"""
        def helper(x): ...

        def step(x: Tensor, y: Tensor, z: int):
            {made}
            n  #: unknown
        """,
    )

    assert told.seen == told.wanted


def test_none_on_one_way_is_no_number(tmp_path: Path) -> None:
    told = kinds(
        tmp_path,
        """
        def step(x: Tensor, flag: bool):
            n = x if flag else None
            n  #: device tensor, optional, not mixed
            m = 0 if flag else n
            m  #: device tensor, optional, mixed
            if m is not None:
                m  #: device tensor, not optional, mixed
        """,
    )

    assert told.seen == told.wanted


def test_a_test_of_its_type_tells_the_ways_apart(tmp_path: Path) -> None:
    told = kinds(
        tmp_path,
        """
        def step(x: Tensor, flag: bool):
            n = x.sum() if flag else 0
            if isinstance(n, torch.Tensor):
                n  #: device tensor, not mixed
            else:
                n  #: host value
            if torch.is_tensor(n):
                n  #: device tensor, not mixed
            else:
                n  #: host value
            if isinstance(n, int):
                n  #: host value
            else:
                n  #: device tensor, not mixed
            if not isinstance(n, (int, float)):
                n  #: device tensor, not mixed
        """,
    )

    assert told.seen == told.wanted


def test_a_bound_that_may_be_a_tensor_is_reported_where_it_is_read(tmp_path: Path) -> None:
    text = """
        class Table:
            def length(self):
                return 0

        class Fixed(Table):
            def __init__(self, used: Tensor):
                self.used = used

            def length(self):
                return self.used.sum()

        class Plain(Table):
            def __init__(self, rows: list[Tensor]):
                self.rows = rows

            def length(self):
                return len(self.rows)

        class Model(nn.Module):
            def forward(self, x: Tensor, table: Table | None = None, plain: Plain | None = None):
                seen = table.length() if table is not None else 0
                a = torch.arange(seen, seen + x.shape[1], device=x.device)
                known = plain.length() if plain is not None else 0
                b = torch.arange(known, known + x.shape[1], device=x.device)
                c = torch.arange(x.shape[1], device=x.device) + seen
                if not isinstance(seen, Tensor):
                    c = c + torch.arange(seen, device=x.device)
                return a + b + c
        """
    source = {"m.py": IMPORTS + "\n".join(line[8:] for line in text.splitlines())}

    assert found(tmp_path, source) == ["m.py:26 CL104"]


@pytest.mark.parametrize("first", ["flag", "not flag", "y is None", "y is not None", "len(x) > 2"])
def test_a_condition_asked_again_tells_the_ways_apart(first: str, tmp_path: Path) -> None:
    told = kinds(
        tmp_path,
        f"""
        def step(x: Tensor, flag: bool, y: Tensor | None = None):
            if {first}:
                n = x.shape[0]
            else:
                n = x.sum()
            n  #: device tensor, mixed
            if {first}:
                n  #: shape-like
            else:
                n  #: device tensor, not mixed
            if not ({first}):
                n  #: device tensor, not mixed
            n  #: device tensor, mixed
        """,
    )

    assert told.seen == told.wanted


@pytest.mark.parametrize(
    "between",
    ["flag = other(flag)", "n = x.max() if other(1) else 2", "for flag in x.tolist():\n    pass"],
)
def test_a_condition_on_something_new_tells_nothing(between: str, tmp_path: Path) -> None:
    told = kinds(
        tmp_path,
        f"""
        def step(x: Tensor, flag: bool):
            if flag:
                n = x.shape[0]
            else:
                n = x.sum()
            {between.replace(chr(10), chr(10) + " " * 12)}
            if flag:
                n  #: device tensor, mixed
        """,
    )

    assert told.seen == told.wanted


def test_another_condition_tells_nothing(tmp_path: Path) -> None:
    told = kinds(
        tmp_path,
        """
        def step(x: Tensor, flag: bool, y: Tensor | None = None):
            if y is None:
                n = x.shape[0]
            else:
                n = x.sum()
            if flag:
                n  #: device tensor, mixed
            if y is not None:
                n  #: device tensor, not mixed
            else:
                n  #: shape-like
        """,
    )

    assert told.seen == told.wanted


def test_the_arm_for_tensors_of_a_number_is_doubted(tmp_path: Path) -> None:
    told = kinds(
        tmp_path,
        """
        def padded(size: int, by: int):
            if isinstance(size, torch.Tensor):
                return torch.clamp(size - by, min=0)
            return max(size - by, 0)

        def step(x: Tensor, size: int, odd):
            padded(size, 2)  #: device tensor, weak
            if isinstance(odd, torch.Tensor):
                odd  #: device tensor, not weak
        """,
    )

    assert told.seen == told.wanted
