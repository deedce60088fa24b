"""Why lines stay that no pattern knows."""

from __future__ import annotations

import pytest

from capturelint.finding import Effect
from capturelint.rewrite.unknown import NO_PATTERN, why_unknown
from capturelint.verdict import Certainty, Culprit, Place

HEAD = "import torch\nimport numpy as np\nfrom math import log\n\n\n"
SCRIPTED = "@torch.jit.script\ndef bucket(x):\n    return x\n\n\n"


DRAWING = "def drawn():\n    n = torch.randperm(3)\n    return n\n\n\n"


def _why(lines: str, code: str = "", operation: str = "aten._local_scalar_dense.default") -> str:
    body = "".join(f"    {line}\n" for line in lines.split("\n"))
    text = f"{HEAD}{SCRIPTED}{DRAWING}def step(self, x, n):\n{body}"
    line = text[: text.index("#")].count("\n") + 1
    place = Place("m.py", line)
    culprit = Culprit("", "M", place, operation, Effect.REFUSES, Certainty.SHOWN, "", code)
    return why_unknown(culprit, text).removeprefix(f"line {line}: ")


@pytest.mark.parametrize(
    ("lines", "why"),
    [
        ("return torch.split(x, n.tolist())  #", "`n.tolist()` gives Python as many numbers as"),
        ("for one in n.tolist():  #\n    x = x * np.sqrt(2)", "`n.tolist()` gives Python as many"),
        ("x = np.frexp(x.cpu().numpy())  #", "`np.frexp()` computes on the host, with another"),
        ("x = from_list(x.numpy())  #", "`x.numpy()` computes on the host, with another"),
        ("return log(x)  #", "`log()` computes on the host, with another"),
        ("return bucket(x)  #", "`bucket()` is compiled by TorchScript"),
        ("torch._check_tensor_all(x)  #", "`torch._check_tensor_all()` raises where a tensor says"),
        ('check(x,\n    f"no {x}")  #', "the text shows what a tensor holds"),
    ],
)
def test_the_source_says_what_is_done_on_the_host(lines: str, why: str) -> None:
    assert _why(lines).startswith(why)


def test_a_list_that_is_an_attribute_is_an_index_to_make_once() -> None:
    why = _why("return x[:, self.order]  #", "CL203", "aten._to_copy.default")

    assert why.startswith("`self.order` is copied to the device each time it is an index; make")


def test_an_index_that_is_drawn_on_the_host_is_to_be_drawn_on_the_device() -> None:
    why = _why("n = torch.randperm(3)\nreturn x[:, n]  #", "CL203", "aten._to_copy.default")

    assert why.startswith("`n` is drawn on the host, and copied to the device each time it is an")


@pytest.mark.parametrize(
    ("lines", "code", "why"),
    [
        ("return x[:, n]  #", "CL203", "an index is copied to the device; make it a tensor"),
        ("n = torch.randperm(3)\nn = table(3)\nreturn x[n]  #", "CL203", "an index is copied"),
        ("n = torch.randperm(3, device=d)\nreturn x[n]  #", "CL203", "an index is copied"),
        ("return table(x)  #", "CL202", "a tensor of the host is copied to the device; make"),
        ("return table(x)  #", "CL101", "a number is needed on the host; hand it in"),
        ('return table(x, f"{x}")  #', "CL202", "a tensor of the host is copied to the device"),
        ("torch.cuda.synchronize()  #", "CL701", "the host waits for the device; leave it out"),
        ("return table(x)  #", "", NO_PATTERN),
        ("x = np.sqrt(2)\nreturn table(x)  #", "", NO_PATTERN),
    ],
)
def test_else_the_rule_says_it(lines: str, code: str, why: str) -> None:
    assert _why(lines, code, "aten._to_copy.default").startswith(why)
