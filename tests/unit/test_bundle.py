"""Where the built-in rules and fixtures are found."""

from __future__ import annotations

from pathlib import Path

import pytest

from capturelint import bundle
from capturelint.bundle import bundled
from capturelint.errors import BrokenInstallError


@pytest.mark.parametrize("folder", ["rules", "fixtures"])
def test_this_checkout_has_both_folders(folder: str) -> None:
    found = bundled(folder)

    assert found.name == folder
    assert list(found.rglob("*.py"))


def test_the_folder_inside_the_package_wins_over_the_one_beside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inside = tmp_path / "capturelint" / "rules"
    beside = tmp_path / "rules"
    inside.mkdir(parents=True)
    beside.mkdir()
    monkeypatch.setattr(bundle, "__file__", str(tmp_path / "capturelint" / "bundle.py"))

    assert bundled("rules") == inside

    inside.rmdir()

    assert bundled("rules") == beside


def test_a_missing_folder_asks_to_reinstall() -> None:
    with pytest.raises(BrokenInstallError, match="reinstall capturelint"):
        bundled("no-such-folder")
