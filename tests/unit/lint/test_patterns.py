"""Patterns over dotted names."""

from __future__ import annotations

from pathlib import Path

import pytest

from capturelint.lint.patterns import Patterns, idle
from tests.unit.lint.probe import captured, linked

_FILES = {
    "pkg/__init__.py": "",
    "pkg/models/__init__.py": "",
    "pkg/models/llama.py": """
        class Base:
            def run(self):
                def inner(): pass
            def stop(self): pass

        class Below(Base):
            def run(self): pass

        class BelowThat(Below):
            def more(self): pass

        def helper(): pass
        def helper_fake(): pass
    """,
}
_ALL = {
    "Base.run",
    "Base.run.inner",
    "Base.stop",
    "Below.run",
    "BelowThat.more",
    "helper",
    "helper_fake",
}


@pytest.mark.parametrize(
    ("pattern", "wanted"),
    [
        ("pkg", _ALL),
        ("pkg.models.llama", _ALL),
        ("pkg.*", _ALL),
        ("pkg.models.llama.helper", {"helper"}),
        ("pkg.models.llama.help*", {"helper", "helper_fake"}),
        ("pkg.*_fake", {"helper_fake"}),
        ("pkg.models.llama.Base", {"Base.run", "Base.run.inner", "Base.stop"}),
        ("pkg.models.llama.Base.run", {"Base.run", "Base.run.inner"}),
        ("pkg.*.run", {"Base.run", "Base.run.inner", "Below.run"}),
        ("pkg.models.llama.[!hB]*", set()),
        ("pkg.models.llama.hel?er", {"helper"}),
        ("subclasses:pkg.models.llama.Below", {"Below.run", "BelowThat.more"}),
        (
            "subclasses:pkg.*.Base",
            {"Base.run", "Base.run.inner", "Base.stop", "Below.run", "BelowThat.more"},
        ),
        ("subclasses:pkg.models.llama.Base.run", {"Base.run", "Base.run.inner", "Below.run"}),
        ("subclasses:pkg.models.llama.Base.nothing", set()),
        ("subclasses:pkg.models.llama.helper", set()),
        ("subclasses:Base", set()),
        ("helper", set()),
        ("pk", set()),
        ("llama.helper", set()),
        ("PKG", set()),
        ("", set()),
    ],
)
def test_a_pattern_covers_a_name_and_all_inside_it(
    pattern: str, wanted: set[str], tmp_path: Path
) -> None:
    project = linked(tmp_path, _FILES).project
    patterns = Patterns([pattern], project)

    assert {f.facts.qualname for f in project.functions if patterns.match(f)} == wanted


def test_any_of_several_patterns_suffices(tmp_path: Path) -> None:
    project = linked(tmp_path, _FILES).project
    patterns = Patterns(["*.helper", "subclasses:pkg.*.BelowThat", "*.stop"], project)

    assert {f.facts.qualname for f in project.functions if patterns.match(f)} == {
        "helper",
        "BelowThat.more",
        "Base.stop",
    }


def test_no_pattern_covers_nothing(tmp_path: Path) -> None:
    project = linked(tmp_path, _FILES).project

    assert not any(Patterns([], project).match(f) for f in project.functions)


@pytest.mark.parametrize(
    "wanted", ["pkg.*.run", "pkg.models.llama.[!hB]*", "pkg.*_fake", "pk*", "*"]
)
def test_one_of_many_patterns_covers_what_it_covers_alone(wanted: str, tmp_path: Path) -> None:
    project = linked(tmp_path, _FILES).project
    others = [f"other.{number}.*" for number in range(100)]
    many = Patterns([*others, wanted], project)
    alone = Patterns([wanted], project)

    assert [f for f in project.functions if many.match(f)] == [
        f for f in project.functions if alone.match(f)
    ]


_OUTSIDE = {
    "pkg/__init__.py": "",
    "pkg/compat.py": "from torch.nn import Module as Base\n",
    "pkg/models.py": """
        import torch.nn as nn
        from other.layers import Layer
        from pkg.compat import Base

        class Direct(nn.Module):
            def run(self): pass

        class Below(Direct):
            def stop(self): pass

        class Exported(Base):
            def run(self): pass

        class Other(Layer):
            def run(self): pass

        class Plain:
            def run(self): pass
    """,
}


@pytest.mark.parametrize(
    ("pattern", "wanted"),
    [
        ("subclasses:torch.nn.Module", {"Direct.run", "Below.stop", "Exported.run"}),
        ("subclasses:torch.nn.Module.run", {"Direct.run", "Exported.run"}),
        ("subclasses:other.layers.Layer", {"Other.run"}),
        ("subclasses:other.*", {"Other.run"}),
        ("subclasses:nn.Module", set()),
        ("subclasses:torch.nn.Linear", set()),
    ],
)
def test_a_base_may_be_of_another_package(pattern: str, wanted: set[str], tmp_path: Path) -> None:
    project = linked(tmp_path, _OUTSIDE).project
    patterns = Patterns([pattern], project)

    assert {f.facts.qualname for f in project.functions if patterns.match(f)} == wanted
    assert bool(list(idle([pattern], project))) == (not wanted)


def test_roots_and_eager_know_bases_of_other_packages(tmp_path: Path) -> None:
    roots = ("subclasses:other.layers.Layer.run", "pkg.models.Plain.run")

    assert captured(tmp_path, _OUTSIDE, roots=roots) == {
        "pkg.models.Other.run",
        "pkg.models.Plain.run",
    }
    eager = ("subclasses:other.layers.Layer",)
    assert captured(tmp_path, _OUTSIDE, roots=roots, eager=eager) == {"pkg.models.Plain.run"}


def test_of_many_patterns_one_is_found_by_text_across_the_end_of_a_module(tmp_path: Path) -> None:
    project = linked(tmp_path, _FILES).project
    many = [f"*.absent_{n}_*" for n in range(60)]
    patterns = Patterns([*many, "*.llama.Below*.mo*", "*ma.help*"], project)

    names = {f.facts.qualname for f in project.functions if patterns.match(f)}

    assert names == {"BelowThat.more", "helper", "helper_fake"}
