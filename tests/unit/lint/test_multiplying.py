"""Source whose ways double with each step: it is checked in seconds, in little memory."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="limits of POSIX")

_STEPS = 30
_CPU_SECONDS = 20
_BYTES = 1 << 30
_HEAD = "import torch\nfrom torch import nn\n\n\nclass Model(nn.Module):\n"
_CHECK = f"""\
import resource, sys
from capturelint.cli.main import main
resource.setrlimit(resource.RLIMIT_CPU, ({_CPU_SECONDS}, {_CPU_SECONDS}))
resource.setrlimit(resource.RLIMIT_AS, ({_BYTES}, {_BYTES}))
sys.exit(main(["check", "m.py", "--no-cache", "--format", "concise"]))
"""


def _methods() -> str:
    """Return methods that each call the next one twice, under tests of their own."""
    return "    def forward(self, x):\n        return self.call0(x)\n" + "".join(
        f"    def call{n}(self, x):\n"
        f"        if self.one{n}:\n            self.call{n + 1}(x)\n"
        f"        if self.two{n}:\n            self.call{n + 1}(x)\n"
        f"        x = x + self.kept\n"
        f"        if self.three{n}:\n            self.kept = x * 2\n"
        for n in range(_STEPS)
    )


def _forward(*lines: str) -> str:
    return "    def forward(self, x, a, y=None):\n" + "".join(f"        {line}\n" for line in lines)


def _loops() -> str:
    """Return loops inside one another, each of which begins and ends with another kind of value."""
    heads = [f"{' ' * n}for i{n} in a:\n        {' ' * n} value{n + 1} = 1" for n in range(_STEPS)]
    ends = [f"{' ' * n} value{n} = value{n + 1}" for n in reversed(range(_STEPS))]
    inner = f"{' ' * _STEPS}value{_STEPS} = x"
    return _forward("value0 = 1", *heads, inner, *ends, "return value0.item()")


def _operands() -> str:
    """Return a constructor that sets an attribute to operands inside operands."""
    value = "a(" * _STEPS + "y" + "".join(f" and a[{n}]) or x" for n in range(_STEPS))
    return f"    def __init__(self, x, a, y=None):\n        self.kept = {value}\n"


def _own_calls() -> str:
    """Return a method that runs before and calls itself with lambdas, in loops inside one another."""
    depth = 4
    heads = [f"        {' ' * n}while f(y{n}):\n" for n in range(depth)]
    call = f"        {' ' * depth}y = self.made(lambda i: i), self.made(lambda i: y)\n"
    return (
        "    def __init__(self, y):\n        self.kept = self.made(lambda i: i)\n"
        "    def made(self, f):\n" + "".join(heads) + call + "        return y\n"
    )


def _lambdas() -> list[str]:
    """Return lambdas that each call the one before twice, with a lambda made for it."""
    made = "lambda r: q(r)"
    calls = [f"f{n + 1} = lambda q: f{n}({made}) + f{n}({made})" for n in range(_STEPS)]
    return ["f0 = lambda q: q(x)", *calls]


SOURCES = {
    "methods that call the next one twice": (
        f"{_methods()}    def call{_STEPS}(self, x):\n        self.kept = x.item()\n"
    ),
    "flags made of flags": _forward(
        "flag0 = y is None and a",
        *(f"flag{n + 1} = flag{n} and flag{n}" for n in range(_STEPS)),
        f"return x.item() if flag{_STEPS} else x",
    ),
    "operands in code that runs before": _operands() + _forward("return x.item() + self.kept"),
    "a method that calls itself with lambdas": _own_calls()
    + _forward("return x.item() + self.kept"),
    "loops inside loops": _loops(),
    "lambdas that call the one before twice": _forward(
        *_lambdas(), f"return f{_STEPS}(lambda t: t.t()) + x.item()"
    ),
}


@pytest.mark.parametrize("name", SOURCES)
def test_what_doubles_with_each_step_is_checked_in_seconds(name: str, tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text(_HEAD + SOURCES[name])

    done = subprocess.run(
        [sys.executable, "-c", _CHECK], cwd=tmp_path, capture_output=True, text=True, check=False
    )

    assert done.returncode == 1, done.stdout + done.stderr
    assert " CL101 " in done.stdout
