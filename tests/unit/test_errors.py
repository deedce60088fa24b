"""Messages of user errors: what is wrong, where, and the next step, on one line."""

from __future__ import annotations

from pathlib import Path

import pytest

from capturelint.errors import (
    BadRuleFileError,
    BrokenInstallError,
    CapturelintError,
    ConfigError,
    MissingRuleFolderError,
    UnknownCommandError,
    UnknownRuleError,
)


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (
            UnknownRuleError("CL120", ["CL101", "CL102", "CL106", "CL301"]),
            "no rule 'CL120'; did you mean CL102?",
        ),
        (UnknownRuleError("cl102", ["CL101"]), "no rule 'cl102'; did you mean CL101?"),
        (
            UnknownRuleError("X", ["CL101"]),
            "no rule 'X'; `capturelint rule --all` lists them",
        ),
        (UnknownCommandError("chek", ["check"]), "no command 'chek'; did you mean check?"),
        (
            UnknownCommandError("x", ["check"]),
            "no command 'x'; `capturelint --help` lists them",
        ),
        (
            BadRuleFileError(Path("r.py"), "defines 2 rules, not one"),
            "r.py defines 2 rules, not one; `rules/__init__.py` says what a rule file holds",
        ),
        (
            MissingRuleFolderError(Path("mine")),
            "no rule folder mine; correct `rule-folders` in the configuration",
        ),
        (ConfigError(Path("p.toml"), "not TOML"), "p.toml: not TOML"),
        (
            BrokenInstallError("rules", [Path("a"), Path("b")]),
            "no 'rules' folder at a or b; reinstall capturelint",
        ),
    ],
)
def test_message_names_the_problem_and_the_next_step(error: CapturelintError, message: str) -> None:
    assert str(error) == message
