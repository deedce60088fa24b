"""Functions that change alone: checked without the rest, with what a run without a cache finds."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest

from capturelint.config import Scope
from capturelint.kind import Kind, Mark, Pinned, Ref, Role, Source, Value
from capturelint.lint.values.coding import Coding, Places, UnsaidError
from capturelint.lint.values.kept import Kept
from tests.unit.lint.cache.edited import Project
from tests.unit.lint.probe import written

_FILES = {
    "pkg/__init__.py": "",
    "pkg/model.py": """\
        import random
        import time

        import torch
        from torch import nn
        from pkg.layers import Attention, Gate
        from pkg.ops import SCALE, capped, total, wrapped
        from .sub import late


        class Base(nn.Module):
            limit = 4

            def __init__(self, config):
                super().__init__()
                self.scale = config.scale
                self.size = 2 * self.limit

            def norm(self, x):
                # Read by subclasses.
                return x / self.size if self.scale else x.cpu()

            @property
            def half(self):
                return self.size // 2


        class Model(Base):
            def __init__(self, config):
                super().__init__(config)
                self.attention = Attention(config)
                self.gates = nn.ModuleList([Gate(n) for n in range(2)])
                self.cache = None
                self.step = 0
                self.register_buffer("table", torch.zeros(4))

            def forward(self, x: torch.Tensor, mask=None):
                self.step += 1
                if mask is not None:
                    x = x + mask
                for gate in self.gates:
                    x = gate(x, self.half)
                x = self.attention(x)
                n = x.sum().item()
                if self.step % 2:
                    x = x * self.step
                return capped(total(x) + late.scaled(self.norm(x)), n)

            def remember(self, x):
                if self.cache is None:
                    self.cache = x.clone()
                self.cache = torch.cat([self.cache, x])
                return self.cache * random.random()

            def load(self, x):
                return x.cpu()
        """,
    "pkg/layers.py": """\
        import torch
        from torch import nn
        from pkg.ops import chosen, made


        class Attention(nn.Module):
            def __init__(self, config, bias=True):
                super().__init__()
                self.heads = config.heads
                self.bias = nn.Parameter(torch.zeros(2)) if bias else None
                self.pick = made(4)
                self.past = None

            def forward(self, x):
                query, key = x.split(2, dim=-1)
                if self.past is not None:
                    key = torch.cat([self.past, key])
                self.past = key
                score = query @ key.transpose(0, 1)
                if score.max() > 3:  # noqa: CL401
                    score = score.clamp(max=3)
                return chosen(score, lambda one: one + 1, flag=self.heads > 2)


        class Gate(nn.Module):
            def __init__(self, number):
                super().__init__()
                self.number = number
                self.seen = []

            def forward(self, x, half):
                self.seen.append(x)
                index = torch.nonzero(x > half)
                return x[index].to("cuda") * self.number
        """,
    "pkg/ops.py": """\
        import functools
        import torch

        SCALE = 2.0


        def total(x: torch.Tensor):
            return x.max().item() * SCALE  # capturelint: ignore[CL101] known


        def capped(x, limit: float = 1.0):
            limit = float(limit)
            return torch.clamp(x, max=limit)


        def chosen(x, function, flag=False):
            def inner(y):
                return y.tolist()

            return function(x) if flag else inner(x)


        def made(size):
            table = torch.arange(size)
            return {"table": table, "size": size}


        def wrapped(function):
            @functools.wraps(function)
            def around(*args):
                print(args[0].item())
                return function(*args)

            return around


        @wrapped
        def traced(x):
            return x.nonzero()
        """,
    "pkg/sub/__init__.py": "",
    "pkg/sub/late.py": """\
        import torch
        from pkg.ops import traced


        def scaled(x: torch.Tensor):
            y = traced(x)
            # A comment of its own.
            return torch.tensor([1.0, 2.0]) * x.cpu() + y


        def offline(x):
            return x.tolist()
        """,
    "pkg/drive.py": """\
        import torch
        from pkg.model import Model


        def step(graph, static, fresh):
            static.copy_(fresh)
            graph.replay()
            return read(static)


        def read(x: torch.Tensor):
            return x.tolist()


        def main(config, x):
            model = Model(config).cuda()
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):
                y = model(x)
            for _ in range(3):
                step(graph, x, x)
            return y
        """,
}


@pytest.fixture
def project(tmp_path: Path) -> Project:
    found = Project(tmp_path, _FILES)
    found.cached()
    return found


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        # A comment, a line more, other spacing.
        ("pkg/model.py", "        n = x.sum()", "        # why\n        n = x.sum()"),
        ("pkg/layers.py", "        self.seen.append(x)\n", "        self.seen.append(x)\n\n\n"),
        ("pkg/ops.py", "torch.clamp(x, max=limit)", "torch.clamp( x, max=limit )"),
        # A read more, and one less.
        (
            "pkg/model.py",
            "        n = x.sum().item()",
            "        x.max().tolist()\n        n = x.sum().item()",
        ),
        ("pkg/sub/late.py", "    y = traced(x)\n", "    y = traced(x)\n    x.item()\n"),
        ("pkg/drive.py", "return x.tolist()", "return x.tolist()  # now"),
        # Comments that accept, and that no longer do.
        ("pkg/ops.py", "  # capturelint: ignore[CL101] known", "  # capturelint: ignore[CL401] no"),
        ("pkg/layers.py", "x[index].to(", "x[index].to(  # noqa: CL302\n            "),
        ("pkg/sub/late.py", "* x.cpu() + y", "* x.cpu() + y  # noqa"),
        # Lines that only move.
        ("pkg/ops.py", "SCALE = 2.0\n", "SCALE = 2.0\n# more\n\n# lines\n"),
        # What runs before capture.
        (
            "pkg/layers.py",
            "        self.heads = config.heads\n",
            "        self.heads = config.heads  # n\n",
        ),
        (
            "pkg/ops.py",
            "    table = torch.arange(size)\n",
            "    # 0, 1, 2\n    table = torch.arange(size)\n",
        ),
    ],
)
def test_a_change_that_stays_inside_a_function_is_checked_alone(
    project: Project, name: str, old: str, new: str
) -> None:
    for text, other in ((old, new), (new, old)):
        project.edit(name, text, other)
        found, is_kept = project.cached()

        assert is_kept
        assert found == project.plain()


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("pkg/ops.py", "def capped(x, limit: float = 1.0)", "def capped(x, limit=None)"),
        ("pkg/ops.py", "return torch.clamp(x, max=limit)", "return x.cpu()"),
        ("pkg/ops.py", "    limit = float(limit)\n", "    limit = float(total(x))\n"),
        ("pkg/ops.py", "table = torch.arange(size)", "table = total(torch.arange(size))"),
        ("pkg/ops.py", "return y.tolist()", "return y.cpu()"),
        ("pkg/ops.py", "args[0].item()", "args[0].cpu()"),
        ("pkg/layers.py", "        self.past = key\n", ""),
        ("pkg/layers.py", "one + 1", "one.item()"),
        ("pkg/layers.py", "self.pick = made(4)", "self.pick = made(x)"),
        ("pkg/layers.py", "self.seen.append(x)", "self.seen = [x]"),
        ("pkg/model.py", "self.norm(x)), n)", "x), n)"),
        ("pkg/model.py", "x = x * self.step", "pass"),
        ("pkg/model.py", "limit = 4", "limit = None"),
        ("pkg/model.py", "    @property\n", ""),
        ("pkg/drive.py", "y = model(x)", "y = model(x).item()"),
    ],
)
def test_a_change_that_others_may_see_is_checked_as_a_whole(
    project: Project, name: str, old: str, new: str
) -> None:
    project.edit(name, old, new)
    found, is_kept = project.cached()

    assert not is_kept
    assert found == project.plain()


def test_the_way_to_a_finding_follows_the_lines_of_a_changed_caller(project: Project) -> None:
    def ways() -> list[tuple[int, ...]]:
        findings = project.cached()[0].findings
        return [tuple(s.line for s in f.chain) for f in findings if f.path.endswith("late.py")]

    before = ways()
    project.edit("pkg/model.py", "        n = x.sum()", "        # why\n        n = x.sum()")
    after = ways()

    assert before
    assert all(len(way) > 1 for way in before)
    assert after == [(way[0] + 1, *way[1:]) for way in before]


def test_what_a_function_says_later_follows_a_caller_that_changed_before(
    project: Project,
) -> None:
    project.edit("pkg/model.py", "        n = x.sum()", "        # why\n        n = x.sum()")
    _, is_first_kept = project.cached()
    project.edit(
        "pkg/sub/late.py", "    y = traced(x)\n", "    y = traced(x)\n    print(x.item())\n"
    )
    found, is_kept = project.cached()

    assert is_first_kept
    assert is_kept
    assert found == project.plain()


_LINES = (
    "x = x.sum()",
    "x.item()",
    "print(x.item())",
    "y = x.nonzero()",
    "n = len(x)",
    "self.scale = x",
    "self.step += 1",
    "x = self.norm(x)",
    "x = total(x)",
    "return total(x)",
    "return x.numpy()",
    "if x.any(): x = x + 1",
    "for _ in range(2): x = capped(x)",
    "limit = 7",
    "import os",
    "@torch.no_grad()",
    "# capturelint: captured",
    "# capturelint: eager",
    "# noqa",
    "# capturelint: ignore[CL101] so",
    "# a comment",
    "# a comment",
    "",
)
_WORDS = (
    *(
        "item",
        "tolist",
        "sum",
        "cpu",
        "total",
        "scaled",
        "norm",
        "scale",
        "forward",
        "limit",
        "past",
    ),
    *("cache", "2", "3", "None", "True", "self", "x", "noqa", "known"),
)


def _edit_line(path: Path, draw: random.Random) -> None:
    """Add a line to a file, take one away, change a word in it, or say something behind it."""
    lines = path.read_text().split("\n")
    at = draw.randrange(len(lines))
    indent = lines[at][: len(lines[at]) - len(lines[at].lstrip())]
    kind = draw.randrange(8)
    if kind <= 2:
        lines.insert(at, indent + draw.choice(_LINES))
    elif kind == 3:
        del lines[at]
    elif kind == 4:
        lines[at] += draw.choice(("  # noqa", "  # so", "  # capturelint: ignore[CL102] so", " "))
    elif kind == 5:
        lines[at] = lines[at].partition("  #")[0]
    else:
        lines[at] = lines[at].replace(draw.choice(_WORDS), draw.choice(_WORDS))
    path.write_text("\n".join(lines))


@pytest.mark.slow
@pytest.mark.sweep(6)
@pytest.mark.parametrize("scope", [Scope.CAPTURED, Scope.STEP])
@pytest.mark.parametrize("seed", range(3))
def test_whatever_is_edited_a_run_without_a_cache_finds_the_same(
    seed: int, scope: Scope, tmp_path: Path
) -> None:
    project = Project(tmp_path, _FILES, scope=scope)
    draw = random.Random(f"{seed} {scope}")
    project.cached()
    kept = 0
    for number in range(30):
        if number % 10 == 0:
            written(project.folder, _FILES)
        _edit_line(draw.choice(sorted(project.folder.rglob("*.py"))), draw)
        found, is_kept = project.cached()

        assert found == project.plain()
        kept += is_kept
    assert kept


@pytest.mark.parametrize(
    ("spoil", "is_kept"),
    [
        (lambda data: data, True),
        (lambda _: b"", False),
        (lambda data: data[:-9], False),
        (lambda data: data[:-9] + data[-9:].replace(b"]]", b",9]]"), False),
        (lambda data: data[data.index(b"\n") :], False),
    ],
)
def test_what_was_evaluated_counts_only_as_it_was_kept(
    project: Project, spoil: Callable[[bytes], bytes], *, is_kept: bool
) -> None:
    (kept,) = (project.folder / ".capturelint_cache" / "evaluations").glob("*.json")
    kept.write_bytes(spoil(kept.read_bytes()))
    project.edit("pkg/model.py", "        n = x.sum()", "        # why\n        n = x.sum()")

    assert project.cached() == (project.plain(), is_kept)


def test_what_another_run_evaluated_does_not_count(project: Project) -> None:
    (kept,) = (project.folder / ".capturelint_cache" / "evaluations").glob("*.json")
    older = kept.read_bytes()
    project.edit("pkg/ops.py", "return torch.clamp(x, max=limit)", "return x.cpu()")
    project.cached()
    # As if the one of two runs at a time had left its findings, the other what it evaluated.
    kept.write_bytes(older)
    project.edit("pkg/model.py", "        n = x.sum()", "        # why\n        n = x.sum()")

    assert project.cached() == (project.plain(), False)


_SAMPLES = (
    Value(),
    Value(Kind.DEVICE_TENSOR, "float", 2, weak=True, optional=True),
    Value(Kind.HOST_TENSOR, "int", 0, pinned=Pinned.YES, varies=True, mixed=True),
    *(
        Value(Kind.HOST_VALUE, constant=(one,))
        for one in (None, True, 1, 1.0, 0, False, -0.0, "é\ud800")
    ),
    Value(
        Kind.MODULE, name="torch.nn.Linear", refs=(Ref(Role.INSTANCE, 3), Ref(Role.METHOD, 4, 3))
    ),
    Value(Kind.HOST_VALUE, items=(Value(Kind.SHAPE), Value(constant=(1,))), element=Value(rank=1)),
    Value(
        Kind.HOST_VALUE,
        sources=(Source(Mark.CLOCK, 7, (1, 2, 3, 4)), Source(Mark.RANDOM, 5, (1, 0, 1, 2))),
    ),
)


def test_values_come_back_as_they_were() -> None:
    coding, places = Coding(), Places(1)
    numbers = [coding.value(one, places, 7) for one in _SAMPLES]
    again = Coding(coding.names, coding.values)

    assert len(set(numbers)) == len(_SAMPLES)
    assert [repr(again.decoded(one, places, 7)) for one in numbers] == [
        repr(one) for one in _SAMPLES
    ]
    assert [again.value(one, places, 7) for one in _SAMPLES] == numbers


@pytest.mark.parametrize("constant", [..., b"", 1j, float("nan"), float("inf"), 2**64, (1,)])
def test_what_json_lacks_is_not_kept(constant: object) -> None:
    with pytest.raises(UnsaidError):
        Coding().value(Value(constant=(constant,)), Places(1), 7)


def test_a_lambda_is_not_kept() -> None:
    with pytest.raises(UnsaidError):
        Coding().value(Value(refs=(Ref(Role.FUNCTION, -1),)), Places(1), 7)


def test_all_that_evaluation_knows_is_either_kept_or_of_no_use_to_others() -> None:
    """Whoever adds a field here adds it to `coding` or `account` too, unless it ends with the call."""
    kept = "reads stores calls returned item_counters item_numbers remembered moved waits streams"
    own = "arms written where inputs computed"

    assert Value._fields == (
        *("kind", "dtype", "rank", "constant", "name", "refs", "items", "element"),
        *("pinned", "varies", "weak", "optional", "sources", "mixed"),
    )
    assert set(Kept.__slots__) == {*kept.split(), *own.split()}


def test_where_two_aliases_rest_on_each_other_all_is_checked_anew(tmp_path: Path) -> None:
    project = Project(tmp_path, _FILES)
    aliases = "from torch import Tensor\nOne = Tensor | Other\nOther = list[One] | None\n"
    written(project.folder, {"pkg/aliases.py": aliases})
    project.edit("pkg/ops.py", "import torch\n", "import torch\nfrom pkg.aliases import One\n")
    project.edit("pkg/ops.py", "def capped(x,", "def capped(x: One,")
    project.cached()
    project.edit("pkg/model.py", "        n = x.sum()", "        # why\n        n = x.sum()")

    assert project.cached() == (project.plain(), False)


_STEP = """\
    from torch import nn


    class Step(nn.Module):
        def forward(self, x, batch):
            if batch.forward_mode.is_decode():
                return one_by_one(x, batch)
            return x


    def one_by_one(x, batch):
        return x.sum() if not batch.forward_mode.is_target_verify() else x.sum().item()
"""


@pytest.mark.parametrize(
    ("new", "is_alone"),
    [
        ("if batch.forward_mode.is_decode():  # all there is", True),
        ("if batch.forward_mode.is_target_verify():", False),
    ],
)
def test_modes_in_which_a_call_is_made_are_what_others_may_see(
    new: str, is_alone: bool, tmp_path: Path
) -> None:
    project = Project(tmp_path, {"step.py": _STEP}, preset=("sglang",))
    project.cached()
    project.edit("step.py", "if batch.forward_mode.is_decode():", new)
    found, is_kept = project.cached()

    assert is_kept is is_alone
    assert found == project.plain()
    assert bool(found.findings) is not is_alone
