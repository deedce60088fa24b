"""Settings from files: found upwards, checked, explained when wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from capturelint.config import Config, Scope, load_config
from capturelint.errors import ConfigError


def _pyproject(folder: Path, table: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "pyproject.toml"
    path.write_text(f"[tool.capturelint]\n{table}\n", encoding="utf-8")
    return path


def test_every_key_is_read(tmp_path: Path) -> None:
    _pyproject(
        tmp_path,
        """
        select = ["cl1"]
        extend-select = ["CL701"]
        ignore = ["CL103"]
        exclude = ["third_party/"]
        roots = ["pkg.model.Model.step"]
        eager = ["subclasses:pkg.vision.Encoder"]
        preset = ["vllm"]
        scope = "step"
        per-file-ignores = { "tests/*" = ["cl101", "CL2"] }
        require-reason = true
        rule-folders = ["lint/rules"]
        jobs = 3
        """,
    )

    config = load_config(tmp_path, explicit=None)

    assert config == Config(
        root=tmp_path,
        select=("CL1",),
        extend_select=("CL701",),
        ignore=("CL103",),
        exclude=("third_party/",),
        roots=("pkg.model.Model.step",),
        eager=("subclasses:pkg.vision.Encoder",),
        preset=("vllm",),
        scope=Scope.STEP,
        per_file_ignores=(("tests/*", ("CL101", "CL2")),),
        require_reason=True,
        rule_folders=(tmp_path / "lint/rules",),
        jobs=3,
    )


def test_a_byte_order_mark_is_passed_over(tmp_path: Path) -> None:
    path = _pyproject(tmp_path, "jobs = 3")
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert load_config(tmp_path, explicit=None).jobs == 3


def test_the_nearest_file_with_our_table_counts(tmp_path: Path) -> None:
    _pyproject(tmp_path, "jobs = 1")
    _pyproject(tmp_path / "a", "jobs = 2")
    (tmp_path / "a/b").mkdir()
    (tmp_path / "a/b/pyproject.toml").write_text("[project]\nname = 'b'\n", encoding="utf-8")

    config = load_config(tmp_path / "a/b/model.py", explicit=None)

    assert (config.root, config.jobs) == (tmp_path / "a", 2)


def test_without_our_table_the_root_is_that_of_the_project(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[project]\n", encoding="utf-8")

    config = load_config(tmp_path / "src" / "gone.py", explicit=None)

    assert config == Config(root=tmp_path)


def test_parent_folders_are_those_of_the_real_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _pyproject(tmp_path / "a", "jobs = 1")
    (tmp_path / "b").mkdir()
    monkeypatch.chdir(tmp_path / "a")

    config = load_config(Path("../b"), explicit=None)

    assert config.jobs == 0


def test_an_explicit_file_needs_no_tool_table(tmp_path: Path) -> None:
    _pyproject(tmp_path, "jobs = 1")
    path = tmp_path / "capturelint.toml"
    path.write_text("jobs = 2\n", encoding="utf-8")

    config = load_config(tmp_path, explicit=path)

    assert (config.root, config.jobs) == (tmp_path, 2)


def test_an_explicit_pyproject_without_our_table_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "pyproject.toml"
    path.write_text("[project]\n", encoding="utf-8")

    with pytest.raises(ConfigError) as caught:
        load_config(tmp_path, explicit=path)

    assert str(caught.value) == (
        f"{path}: no [tool.capturelint] table; add one or name another file"
    )


@pytest.mark.parametrize(
    ("table", "problem"),
    [
        ('ignor = ["CL101"]', "no key `ignor`; did you mean `ignore`?"),
        ("per_file_ignores = {}", "no key `per_file_ignores`; did you mean `per-file-ignores`?"),
        ('select = "CL101"', "`select` is 'CL101'; it must be a list of strings"),
        ("exclude = [1]", "`exclude` is [1]; it must be a list of strings"),
        ("require-reason = 1", "`require-reason` is 1; it must be true or false"),
        ("jobs = true", "`jobs` is true; it must be a whole number, 0 for one per processor"),
        ("jobs = -1", "`jobs` is -1; it must be a whole number, 0 for one per processor"),
        (
            'scope = "al"',
            "`scope` is 'al'; it must be one of captured, step, all; did you mean all?",
        ),
        (
            "preset = 1",
            '`preset` is 1; it must be a name, a list of names, "auto" or "none"',
        ),
        (
            "per-file-ignores = []",
            "`per-file-ignores` is []; it must be a table of file pattern = list of codes",
        ),
        (
            'per-file-ignores = { "a.py" = "CL1" }',
            "`per-file-ignores.a.py` is 'CL1'; it must be a list of strings",
        ),
    ],
)
def test_a_mistake_is_named_with_what_is_allowed(tmp_path: Path, table: str, problem: str) -> None:
    path = _pyproject(tmp_path, table)

    with pytest.raises(ConfigError) as caught:
        load_config(tmp_path, explicit=None)

    assert str(caught.value) == f"{path}: {problem}"


def test_a_key_like_no_other_lists_the_keys(tmp_path: Path) -> None:
    _pyproject(tmp_path, "colour = 1")

    with pytest.raises(
        ConfigError, match=r"no key `colour`; the keys are select, .*, target-torch$"
    ):
        load_config(tmp_path, explicit=None)


@pytest.mark.parametrize("data", [b"[tool.capturelint\n", b"a = '\xff'\n"])
def test_a_file_that_is_not_toml_is_named(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "pyproject.toml").write_bytes(data)

    with pytest.raises(ConfigError, match=r"pyproject\.toml: not valid TOML: "):
        load_config(tmp_path, explicit=None)


def test_a_missing_explicit_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"none\.toml: cannot be read: No such file"):
        load_config(tmp_path, explicit=tmp_path / "none.toml")


def test_a_table_of_another_type_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool]\ncapturelint = 1\n", encoding="utf-8")

    with pytest.raises(ConfigError, match=r"`tool\.capturelint` is 1; it must be a table"):
        load_config(tmp_path, explicit=None)


@pytest.mark.parametrize(
    ("text", "preset"), [('"auto"', None), ('"none"', ()), ('"timm"', ("timm",)), ("[]", ())]
)
def test_preset_words(tmp_path: Path, text: str, preset: tuple[str, ...] | None) -> None:
    _pyproject(tmp_path, f"preset = {text}")

    config = load_config(tmp_path, explicit=None)

    assert config.preset == preset


@pytest.mark.parametrize(
    ("select", "ignore", "expected"),
    [
        ((), (), True),
        (("CL1",), (), True),
        (("CL2",), (), False),
        ((), ("CL101",), False),
        (("CL101",), ("CL1",), True),
        (("CL1",), ("CL101",), False),
        (("CL101",), ("CL101",), False),
    ],
)
def test_of_two_prefixes_the_longer_decides(
    select: tuple[str, ...], ignore: tuple[str, ...], expected: bool
) -> None:
    config = Config(root=Path(), select=select, ignore=ignore)

    assert config.selects("CL101") is expected


def test_extend_select_adds_to_select() -> None:
    config = Config(root=Path(), select=("CL2",), extend_select=("CL101",))

    assert [code for code in ("CL101", "CL102", "CL201") if config.selects(code)] == [
        "CL101",
        "CL201",
    ]
