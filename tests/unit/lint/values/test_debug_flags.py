"""Flags that ask for checks and traces are off where graphs are used."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.lint.probe import kinds

_OFF = [
    'os.environ.get("X_DEBUG")',
    'os.environ.get("X_DEBUG", "0")',
    'os.environ.get("X_DEBUG", "0").lower()',
    'os.getenv("X_TRACE")',
    'os.getenv("X_DUMP_DIR")',
    'bool(os.getenv("X_VERIFY"))',
    'int(os.environ.get("X_SANITY", 0))',
    'get_bool_env_var("X_TRACE")',
    'tools.get_bool_env_var("X_VALIDATE", "false")',
    'read_env_flag("X_TRACE")',
    "envs.X_VERIFY.get()",
    "envs.X_VERIFY",
    "tools.PROFILE",
    "_DEBUG",
    "VERBOSE_LOGS",
    "DEBUG_BY_STAR",
    "self.CHECK_INPUT",
    "self.training",
    "_LOGGER.isEnabledFor(logging.DEBUG)",
]
_OPEN = [
    'os.environ.get("X_FAST")',
    'os.getenv("x_debug")',
    "os.environ.get(name)",
    'get_bool_env_var("X_FAST")',
    "get_bool_env_var(name)",
    'get_level("X_TRACE")',
    "envs.X_FAST.get()",
    "_FAST",
    "debugging",
    "tools.lastTRACE",
    "self.CHUNK",
    "_LOGGER.isEnabledFor(logging.INFO)",
    "_LOGGER.isEnabledFor(debugging)",
]
_AROUND = """
import logging
import os

import envs
import tools
from elsewhere import *
from tools import get_bool_env_var, get_level, read_env_flag

_DEBUG = envs.read("a")
_LOGGER = logging.getLogger(__name__)
_FAST = envs.read("b")
VERBOSE_LOGS = os.environ.get("SOMETHING")

class Model(nn.Module):
    def forward(self, x: Tensor, name: str, debugging: int):
"""

_TOOLS = {
    "tools.py": """
    import os

    PROFILE = os.cpu_count()

    def get_bool_env_var(name, default="false"):
        return os.getenv(name, default).lower() in ("true", "1")

    def read_env_flag(name):
        return bool(settings.find(name))

    def get_level(name):
        return len(name)
    """
}


def _tested(condition: str, facts: str) -> str:
    return f"{_AROUND}        if {condition}:\n            x  #: {facts}\n        x  #: device tensor\n"


@pytest.mark.parametrize("flag", _OFF)
def test_what_a_debug_flag_guards_never_runs(flag: str, tmp_path: Path) -> None:
    told = kinds(tmp_path, _tested(flag, "never runs"), _TOOLS)

    assert told.seen == told.wanted


@pytest.mark.parametrize("flag", ['read_env("X_TRACE")', "X_DEBUG", "elsewhere.read_env('X_DUMP')"])
def test_a_debug_flag_may_come_from_outside_the_project(flag: str, tmp_path: Path) -> None:
    told = kinds(
        tmp_path,
        f"""
        import elsewhere
        from elsewhere import X_DEBUG, read_env

        def step(x: Tensor):
            if {flag}:
                x  #: never runs
        """,
    )

    assert told.seen == told.wanted


@pytest.mark.parametrize("flag", _OPEN)
def test_what_another_flag_guards_may_run(flag: str, tmp_path: Path) -> None:
    told = kinds(tmp_path, _tested(flag, "device tensor"), _TOOLS)

    assert told.seen == told.wanted


@pytest.mark.parametrize("flag", [*_OFF[:12], "_DEBUG"])
@pytest.mark.parametrize("test", ["flag", "flag and x.is_cuda", "x.is_cuda and flag", "n and flag"])
def test_a_debug_flag_may_be_kept_in_a_local(flag: str, test: str, tmp_path: Path) -> None:
    text = _AROUND + f"        flag = {flag}\n        n = x.shape[0]\n"
    told = kinds(tmp_path, f"{text}        if {test}:\n            x  #: never runs\n", _TOOLS)

    assert told.seen == told.wanted


def test_the_other_arm_of_a_debug_flag_is_taken(tmp_path: Path) -> None:
    told = kinds(
        tmp_path,
        """
        import os

        _DEBUG = bool(os.environ.get("X_DEBUG"))

        def step(x: Tensor):
            if not _DEBUG:
                x  #: device tensor
                return x
            x  #: never runs
        """,
    )

    assert told.seen == told.wanted


def test_a_flag_that_is_on_in_the_code_is_on(tmp_path: Path) -> None:
    told = kinds(
        tmp_path,
        """
        _DEBUG = True

        def step(x: Tensor):
            if _DEBUG:
                x  #: device tensor
            else:
                x  #: never runs
        """,
    )

    assert told.seen == told.wanted


@pytest.mark.parametrize("name", "check_input debug verbose validate_args dump_to do_check".split())
def test_a_parameter_that_asks_for_checks_is_off_by_default(name: str, tmp_path: Path) -> None:
    told = kinds(
        tmp_path,
        f"""
        def helper(x, {name}=False):
            if {name}:
                x  #: never runs
            return x

        def step(x: Tensor, {name}=False, *, {name}_=0):
            if {name}:
                x  #: never runs
            helper(x)  #: device tensor

        def open_helper(x, {name}=False):
            if {name}:
                x  #: never runs
            return x

        def forward(x: Tensor, options):
            open_helper(x, **options)  #: device tensor
        """,
    )

    assert told.seen == told.wanted


@pytest.mark.parametrize(
    "parameter",
    ["check_input=True", "check_input", "checkpoint=False", "debugger=False", "use_cache=False"],
)
def test_other_parameters_of_a_root_are_open(parameter: str, tmp_path: Path) -> None:
    name = parameter.partition("=")[0]
    told = kinds(
        tmp_path,
        f"""
        def step(x: Tensor, {parameter}):
            if {name}:
                x  #: device tensor
            else:
                x  #: device tensor
        """,
    )

    assert told.seen == told.wanted


def test_a_caller_may_ask_for_checks(tmp_path: Path) -> None:
    told = kinds(
        tmp_path,
        """
        def helper(x, check_input=False):
            if check_input:
                x  #: device tensor
            return x

        def step(x: Tensor):
            helper(x, check_input=True)
        """,
    )

    assert told.seen == told.wanted


@pytest.mark.parametrize(
    "name", ["labels", "mask_labels", "target", "targets", "start_positions", "gt_boxes"]
)
def test_labels_are_not_given_to_a_root(name: str, tmp_path: Path) -> None:
    told = kinds(
        tmp_path,
        f"""
        class Model(nn.Module):
            def forward(self, x: Tensor, {name}=None):
                if {name} is not None:
                    x  #: never runs
                x  #: device tensor
        """,
    )

    assert told.seen == told.wanted


@pytest.mark.parametrize(
    "parameter", ["labels", "labels: Tensor", "labels=0", "label_ids=None", "targeted=None"]
)
def test_what_must_be_given_or_is_no_label_may_be_there(parameter: str, tmp_path: Path) -> None:
    name = parameter.partition("=")[0].partition(":")[0]
    told = kinds(
        tmp_path,
        f"""
        class Model(nn.Module):
            def forward(self, x: Tensor, {parameter}):
                if {name} is not None:
                    x  #: device tensor
        """,
    )

    assert told.seen == told.wanted
