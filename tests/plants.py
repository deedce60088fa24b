"""The source of hazards to plant: a subclass of a module, whose result `y` it changes.

`# BAD` ends the line to blame. A hazard is written in one of several forms, so that its line is in
the forward itself, in a helper, in a second file, in a closure or in a decorator.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from textwrap import indent

from tests.measured import MARK

REFUSING: Mapping[str, str] = {
    "item": "y = y * (1 + y.mean().item())  # BAD\n",
    "cpu": "y = y + y.cpu().shape[0]  # BAD\n",
    "tensor": "y = y * torch.tensor(0.5, device=y.device)  # BAD\n",
    "branch": "if y.sum() > 0:  # BAD\n    y = y * 2\n",
}

STALE: Mapping[str, str] = {
    "counter": "self.steps += 1  # BAD\ny = y * (1 + self.steps / 8)\n",
    "rebound": "self.seen = self.seen * 0.5 + y.abs().mean()  # BAD\ny = y + self.seen\n",
    "random": "y = y * (1 + random.random())  # BAD\n",
}

# They look like the hazards, and a graph replays what eager computes.
HARMLESS: Mapping[str, str] = {
    "shape": "if y.shape[0] > 1:\n    y = y * 2\n",
    "host": "y = y * torch.tensor(0.5).item()\n",
    "counter": "self.steps += 1\ny = y * 2\n",
    "buffer": "self.seen.mul_(0.5).add_(y.abs().mean())\ny = y + self.seen\n",
    "random": "y = y * (1 + torch.rand_like(y))\n",
    "number": "y = y * torch.full((), 0.5, device=y.device)\n",
}

FORMS = ("forward", "helper", "second file", "closure", "decorator")

_CLASS = """
def planted(base):
    class Planted(base):
        steps = 0

{forward}
    return Planted
"""

_OWN = """\
def forward(self, *args, **kwargs):
    y = super().forward(*args, **kwargs)
{hazard}
    return y
"""

_CALLING = """\
def forward(self, *args, **kwargs):
    return {call}
"""

_DECORATED = """\
@decorated
def forward(self, *args, **kwargs):
    return super().forward(*args, **kwargs)
"""

_HELPER = """
def helper(self, y):
{hazard}
    return y
"""

_CLOSURE = """
def closing(self, y):
    def inner():
        nonlocal y
{hazard}
        return y

    return inner
"""

_DECORATOR = """
def decorated(forward):
    @functools.wraps(forward)
    def wrapped(self, *args, **kwargs):
        y = forward(self, *args, **kwargs)
{hazard}
        return y

    return wrapped
"""

_IMPORTS = "import functools\nimport random\n\nimport torch\n"


@dataclass(frozen=True, slots=True)
class Plant:
    """One hazard in one form. `files`: text by name; the class is made by `planted` of the first.

    `file`, `line`: where the mark is; ("", 0) where there is none.
    """

    files: Mapping[str, str]

    @property
    def module(self) -> str:
        return next(iter(self.files)).removesuffix(".py")

    @property
    def place(self) -> tuple[str, int]:
        for name, text in self.files.items():
            for number, line in enumerate(text.splitlines(), start=1):
                if line.endswith(MARK):
                    return name, number
        return "", 0


def plant(name: str, hazard: str, form: str) -> Plant:
    """Return the source of `hazard` in `form`, in files whose names begin with `name`."""
    result = "super().forward(*args, **kwargs)"
    if form == "forward":
        return _written(name, _class(_OWN.format(hazard=indent(hazard, "    "))))
    if form == "decorator":
        return _written(name, _DECORATOR.format(hazard=_inside(hazard)), _class(_DECORATED))
    if form == "closure":
        forward = _CALLING.format(call=f"closing(self, {result})()")
        return _written(name, _CLOSURE.format(hazard=_inside(hazard)), _class(forward))
    helper = _HELPER.format(hazard=indent(hazard, "    "))
    forward = _CALLING.format(call=f"helper(self, {result})")
    if form == "helper":
        return _written(name, helper, _class(forward))
    main = f"from {name}_second import helper\n{_class(forward)}"
    return Plant({f"{name}.py": main, f"{name}_second.py": _IMPORTS + helper})


def _inside(hazard: str) -> str:
    return indent(hazard, "        ")


def _class(forward: str) -> str:
    return _CLASS.format(forward=_inside(forward))


def _written(name: str, *parts: str) -> Plant:
    return Plant({f"{name}.py": "\n".join([_IMPORTS, *parts])})
