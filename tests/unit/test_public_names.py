"""The public names are there, and asking for them does not import torch."""

from __future__ import annotations

import subprocess
import sys

import pytest

import capturelint
from capturelint.debug.cases.case import Case
from capturelint.finding import Effect
from capturelint.verdict import Certainty, Culprit, Place, Report, Verdict


def test_public_names_are_those_of_their_modules() -> None:
    assert capturelint.Case is Case
    assert capturelint.Report is Report
    assert set(capturelint.__all__) <= set(dir(capturelint))


def test_other_names_are_missing_as_usual() -> None:
    assert not hasattr(capturelint, "bisct")
    with pytest.raises(AttributeError, match="module 'capturelint' has no attribute 'bisct'"):
        _ = capturelint.bisct  # type: ignore[attr-defined] # that is the point


@pytest.mark.parametrize("name", sorted(set(capturelint.__all__) - {"__version__"}))
def test_a_public_name_does_not_import_torch(name: str) -> None:
    code = f"import sys, capturelint; capturelint.{name}; sys.exit('torch' in sys.modules)"

    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_importing_the_package_imports_none_of_them() -> None:
    code = "import sys, capturelint; sys.exit('capturelint.verdict' in sys.modules)"

    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_reports_and_what_is_in_them_print_as_lines() -> None:
    place = Place("/p/m.py", 3, "forward", "y = x.item()")
    culprit = Culprit("", "M", place, "item", Effect.REFUSES, Certainty.SHOWN, "it reads\nmore")
    report = Report("m.py:make", "simulated", Verdict.REFUSES, culprits=(culprit,), notes=("held",))

    assert str(place) == "/p/m.py:3"
    assert str(report).splitlines() == [
        "m.py:make: refuses-capture (simulated)",
        "/p/m.py:3: refuses-capture in <root> (M): it reads",
        "note: held",
    ]
