"""A package that is missing is said before anything else runs."""

from __future__ import annotations

import subprocess
import sys

import pytest

from capturelint.debug.cases import requirements
from capturelint.debug.cases.requirements import MissingPackageError, require, require_torch


def test_without_torch_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(requirements, "find_spec", lambda name: None)

    with pytest.raises(MissingPackageError) as error:
        require_torch()

    assert str(error.value) == "bisect needs torch; pip install 'capturelint[dynamic]'"


def test_a_missing_package_is_named() -> None:
    with pytest.raises(MissingPackageError) as error:
        require("no_such_package")

    assert str(error.value) == "no_such_package is not installed; pip install no_such_package"


def test_asking_does_not_import() -> None:
    code = (
        "import sys\n"
        "from capturelint.debug.cases.requirements import require_torch\n"
        "from capturelint.debug.cases import case, importing\n"
        "require_torch()\n"
        "sys.exit('torch' in sys.modules)\n"
    )

    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
