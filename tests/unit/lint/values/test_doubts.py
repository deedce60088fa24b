"""Facts that a class states and other code may change, and bases that stand for everything."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.lint.probe import captured, kinds


def test_a_constant_that_other_code_sets_from_outside_is_doubted(tmp_path: Path) -> None:
    told = kinds(
        tmp_path,
        """
        class Model(nn.Module):
            slow = False

            def __init__(self):
                super().__init__()
                self.fixed = False
                self.flag = False
                self.hook = None
                self.alone = None

            def forward(self, x: Tensor):
                if self.fixed or self.alone:
                    x  #: never runs
                if self.flag:
                    x  #: device tensor
                else:
                    x  #: device tensor
                if self.slow:
                    x  #: device tensor
                if self.hook is not None:
                    x  #: device tensor
                self.hook  #: unknown, optional
                self.alone  #: host value, = None
        """,
        {
            "other.py": """
            class Owner:
                def __init__(self, model):
                    self.fixed = True
                    model.flag = True
                    self.model.slow = self.other = True
                    model.parts[0].hook = model.alone
            """
        },
    )

    assert told.seen == told.wanted


@pytest.mark.parametrize(
    "setting",
    [
        "def f(model): setattr(model, 'flag', True)",
        "def f(model): model.flag: bool = True",
        "def f(model, other): model.flag, other.size = True, 1",
        "def f(model, n): model.flag |= n",
        "model = make()\nmodel.flag = True",
    ],
)
def test_other_code_may_set_a_constant_in_many_ways(setting: str, tmp_path: Path) -> None:
    told = kinds(
        tmp_path,
        """
        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.flag = False

            def forward(self, x: Tensor):
                if self.flag:
                    x  #: device tensor
        """,
        {"other.py": setting},
    )

    assert told.seen == told.wanted


@pytest.mark.parametrize(
    ("below", "facts"),
    [
        ("fast = True", "device tensor"),
        pytest.param(
            "fast: bool = True",
            "device tensor",
        ),
        ("faster = True", "never runs"),
        ("def fast(self): pass", "device tensor"),
        ("pass", "never runs"),
    ],
)
def test_a_constant_of_a_class_is_doubted_where_a_subclass_overrides_it(
    below: str, facts: str, tmp_path: Path
) -> None:
    told = kinds(
        tmp_path,
        f"""
        class Base(nn.Module):
            fast = False

            def forward(self, x: Tensor):
                if self.fast:
                    x  #: {facts}
                x  #: device tensor

        class Between(Base):
            pass

        class Below(Between):
            {below}
        """,
    )

    assert told.seen == told.wanted


def test_none_of_a_class_is_doubted_where_a_subclass_overrides_it(tmp_path: Path) -> None:
    told = kinds(
        tmp_path,
        """
        class Base(nn.Module):
            name = None
            other = None

            def forward(self, x: Tensor):
                self.name  #: unknown
                self.other  #: host value, = None
                if self.name is not None:
                    x  #: device tensor
                if self.other is not None:
                    x  #: never runs

        class Below(Base):
            name = "below"
        """,
    )

    assert told.seen == told.wanted


@pytest.mark.parametrize(("count", "is_known"), [(1, True), (120, True), (121, False)])
def test_a_base_of_very_many_overrides_is_not_dispatched(
    count: int, is_known: bool, tmp_path: Path
) -> None:
    below = "".join(f"class C{n}(Base):\n    def part(self, x): return x\n" for n in range(count))
    text = (
        "from torch import nn, Tensor\n"
        "class Base:\n    def part(self, x): return x\n"
        f"{below}"
        "class Model(nn.Module):\n    def forward(self, x: Tensor, one: Base): return one.part(x)\n"
    )
    found = captured(tmp_path, {"m.py": text})

    assert {"m.Model.forward", "m.Base.part"} <= found
    assert ("m.C0.part" in found) is is_known
    assert len(found) == 2 + (count if is_known else 0)


def test_a_call_of_one_of_several_gives_a_tensor_where_one_of_them_does(tmp_path: Path) -> None:
    told = kinds(
        tmp_path,
        """
        class Base(nn.Module):
            def part(self, x): return None
            def number(self, x): return 1
            def odd(self, x): return unheard_of()

            def forward(self, x: Tensor):
                self.part(x)  #: device tensor, optional
                self.number(x)  #: device tensor, mixed
                self.odd(x)  #: unknown

        class Below(Base):
            def part(self, x): return x
            def number(self, x): return x
            def odd(self, x): return x
        """,
    )

    assert told.seen == told.wanted


def test_an_object_that_is_also_a_mapping_gives_its_attributes_by_name(tmp_path: Path) -> None:
    told = kinds(
        tmp_path,
        """
        class Output(dict):
            hidden: Tensor
            count: int

            def __getitem__(self, key):
                return unheard_of(key)

        def step(x: Tensor, out: Output, key: str):
            out["hidden"]  #: device tensor
            out["count"]  #: host value
            out["nothing"]  #: unknown
            out[key]  #: unknown
        """,
    )

    assert told.seen == told.wanted
