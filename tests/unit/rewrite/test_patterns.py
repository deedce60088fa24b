"""What each pattern writes, and what it leaves alone with a reason; fixtures show the plain forms."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from capturelint.config import Config, Scope
from capturelint.lint.engine import check
from capturelint.rewrite.mend import mended
from tests.unit.rewrite.functions import IMPORTS, RULES, fixed, found, refusals, rewritten

GUARD = "if not (torch.cuda.is_available() and torch.cuda.is_current_stream_capturing()):"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("torch.tensor(0.5, device=x.device)", "torch.full((), 0.5, device=x.device)"),
        ("torch.tensor((2,), device=x.device)", "torch.full((1,), 2, device=x.device)"),
        ("torch.tensor([True, True], device='cuda')", "torch.full((2,), True, device='cuda')"),
        ("torch.tensor(float('-inf'), device='cuda')", "torch.full((), float('-inf'), device='cuda')"),
        ("torch.tensor([3, 2, 1], device='cuda')", "torch.arange(3, 0, -1, device='cuda')"),
        ("torch.tensor([0, 1], device='cuda')", "torch.arange(2, device='cuda')"),
        ("x.new_tensor(-1)", "x.new_full((), -1)"),
        ("x.new_tensor(1, dtype=torch.long)", "x.new_full((), 1, dtype=torch.long)"),
        ("x.new_tensor(1, dtype=torch.uint64)", "x.new_full((), 1, dtype=torch.uint64)"),
        ("torch.zeros(2, 3).view(-1).to(x.device)", "torch.zeros(2, 3, device=x.device).view(-1)"),
        ("torch.ones(x.shape[0]).to(device='cuda')", "torch.ones(x.shape[0], device='cuda')"),
        ("torch.arange(2, 9).to('cuda:1', non_blocking=True)", "torch.arange(2, 9, device='cuda:1')"),
        ("x[:, [1]]", "x[:, torch.full((1,), 1, device=x.device)]"),
        ("x[[-1, -2]]", "x[torch.arange(-1, -3, -1, device=x.device)]"),
        ("x[[0, 1], [2, 3]]", "x[torch.arange(2, device=x.device), torch.arange(2, 4, device=x.device)]"),
    ],
)  # fmt: skip
def test_an_expression_is_written_for_the_device(old: str, new: str) -> None:
    assert rewritten(f"return x.sum() + ({old}).sum()") == f"return x.sum() + ({new}).sum()"


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("return x + torch.tensor([0.5, 0.25], device=x.device)", "its data are no single number"),
        ("return x + torch.tensor([1, True], device=x.device)", "its data are no single number"),
        ("return x + torch.tensor([1, 1.0], device=x.device)", "its data are no single number"),
        ("return x / torch.tensor([0.0, -0.0], device=x.device)", "its data are no single number"),
        ("return x / x.new_tensor([-0.0, 0.0])", "its data are no single number"),
        # They raise, and a fill does not.
        ("return x + torch.tensor(1.5, dtype=torch.uint64, device=x.device)", "uint64 refuses this number"),
        ("return x + x.new_tensor([-1, -1], dtype=torch.uint64)", "uint64 refuses this number"),
        # Infinity in float16, where filling with it raises.
        ("return x + torch.tensor([70000.0, 70000.0], device=x.device)", "its data are no single"),
        ("return x + torch.tensor(x.shape[0], device=x.device)", "its data are no single number"),
        # Filling a float32 tensor with it raises, copying it gives infinity.
        ("return x + torch.tensor(1e39, device=x.device)", "its data are no single number"),
        ("return x + torch.tensor([0, 1, 2], dtype=x.dtype, device=x.device)", "its data are no"),
        ("return x + torch.tensor(data=1.0, device=x.device)", "its data are given by name"),
        ("return x + torch.asarray(1.0, copy=True, device='cuda')", "it has arguments that a fill"),
        ("return x + torch.tensor(  # why\n    1.0, device=x.device)", "a comment inside of it"),
        ("return x[[0, 3, 1]]", "the integers of the list are no range"),
        ("return x[[0, 0]]", "the integers of the list are no range"),
        ("return x[[True, False]]", "the integers of the list are no range"),
        ("return (x * 2)[[0, 1]]", "the indexed tensor has no name"),
        ("y = x.clone()\ny[0, 1] = x.shape[0]\nreturn y", "what is stored is no written number"),
        ("y = z = x.clone()\ny[0, 1] = z[0, 1] = 5\nreturn y", "the number is assigned to more"),
        ("return x + torch.arange(0.0, 1.0, 0.1).to(x.device)", "only a range of integers"),
        ("return x + torch.linspace(0, 1, 3).to(x.device)", "what is moved is not filled right here"),
        ("return x + torch.zeros(3, requires_grad=True).to('cuda')", "the fill has arguments besides"),
        ("return x + torch.zeros(3).to((x + 1).device, torch.half)", "the move may change more than"),
        ("return x + torch.zeros(3).to(x.mT)", "the move may change more than the device"),
        ("return x + torch.zeros(3).cuda('cpu')", "the move may change more than the device"),
        ("return x + torch.zeros(3).cuda('meta')", "the move may change more than the device"),
        ("return x + torch.zeros(3).to(x.device, non_blocking=f())", "the move may change more than"),
        ("return x + torch.zeros(3).to((y := x).device)", "the move may change more than"),
        ("use_device = f()\nreturn x + torch.zeros(3).to(use_device)", "the move may change more"),
        ("return x + torch.zeros((n := 3)).to(x.device)", "`n := 3` may change something"),
        ("return x + torch.zeros(3).view(f()).to(x.device)", "`f()` may change something"),
        ("with torch.device('meta'):\n    return torch.zeros(3).to(x.device)", "a `with` around it"),
        ("torch.set_default_device(x)\nreturn torch.zeros(3).to(x.device)", "its file sets the default"),
        ("return x + torch.as_tensor(1.0, device='cuda', requires_grad=True)", "it has arguments that a"),
        ("print(x.add_(1))\nreturn x", "`x.add_()` may change something"),
        ("print(torch.rand_like(x))\nreturn x", "`torch.rand_like()` may change something"),
        ("print(other(x), x)\nreturn x", "`other()` may change something"),
        ("print(y := x)\nreturn x", "`y := x` may change something"),
        ("print(x); y = x + 1\nreturn y", "it shares its line with other statements"),
        ("return x + torch.linalg.svd(x).S", "this routine has no form that leaves its status"),
        ("return torch.linalg.inv(x, out=x)", "its arguments cannot be told"),
        ("try:\n    return torch.linalg.cholesky(x)\nexcept RuntimeError:\n    return x", "it stands in a `try`"),
    ],
)  # fmt: skip
def test_a_near_miss_is_left_alone_with_a_reason(body: str, reason: str) -> None:
    said = refusals(body)

    assert [one for one in said if one.startswith(reason)], said
    assert all("; " in one for one in said), "each says what to do"


def test_a_read_that_is_not_only_printed_is_no_place_for_the_guard() -> None:
    body = "n = x.max().item()\nprint(n)\nreturn x / n"

    assert rewritten(body) == body
    assert refusals(body) == [""]


def test_a_printed_statement_keeps_its_comments_and_the_text_of_its_strings() -> None:
    body = '# look\nprint(  # at\n    x.max(),\n    """a\n  b""",\n)  # end\nreturn x'
    wanted = f'# look\n{GUARD}\n    print(  # at\n        x.max(),\n        """a\n  b""",\n    )  # end\nreturn x'

    assert rewritten(body) == wanted


def test_numbers_are_filled_in_on_the_device() -> None:
    body = "y = x.clone()\nfor i in range(3):\n    y[i, -1] = 5.0  # last\ny[x.argmax(0)] = 1\nreturn y"
    new = rewritten(body)

    assert "    y[i, -1].fill_(5.0)  # last\n" in new
    assert "y[x.argmax(0)] = y.new_full((), 1)\n" in new


@pytest.mark.parametrize(
    "body",
    [
        "y[x.shape[:1], 0] = 5.0",
        "y[x.shape, 0] = 5.0",
        "y[x.size(), 0] = 5.0",
        "y[x.stride(), 0] = 5.0",
        "y[(x.shape[0],), 0] = 5.0",
        "a = x.shape[:2]\ny[a, 0] = 5.0",
        "y[1 if x.dim() else True, 0] = 5.0",
        "i = 0\ny[i, 0] = 5.0\ni = True",
        "y[x.argmax(0), x.shape] = 5.0",
        "y[x.argmax(0), unknown] = 5.0",
    ],
)
def test_an_index_that_may_be_more_than_one_integer_is_left_alone(body: str) -> None:
    whole = f"y = x.clone()\n{body}\nreturn y"

    assert rewritten(whole) == whole
    assert refusals(whole)[0].startswith("an index may be more than one integer")


def test_an_index_that_is_one_integer_by_all_its_bindings_names_a_view() -> None:
    body = "y = x.clone()\na, b = x.shape\ni = 0\ny[a, i] = 5.0\nreturn y"

    assert "y[a, i].fill_(5.0)" in rewritten(body)


def test_tensors_of_own_classes_may_index_in_their_own_way() -> None:
    body = "y = x.as_subclass(Mine)\ny[0, 1] = 5.0\nreturn y"

    assert rewritten(body) == body
    assert refusals(body)[0].startswith("the tensor that it is stored in has no name")


def test_what_stands_in_an_f_string_keeps_its_quotes() -> None:
    body = 'y = f"{torch.ones(3).cuda().shape}"\nreturn x * len(y)'

    assert rewritten(body) == body
    assert refusals(body)[0].startswith("it stands in an f-string")


def test_torch_goes_by_the_name_it_has_here() -> None:
    text = "import torch as T\n\n\ndef step(x: T.Tensor):\n    return x[[0, 1]] + T.tensor(1, device='cuda')\n"

    assert "x[T.arange(2, device=x.device)] + T.full((), 1, device='cuda')" in fixed(text)


def test_torch_is_imported_where_it_has_no_name() -> None:
    text = '"""Doc."""\n\nimport os\nfrom torch import Tensor\n\n\ndef step(x: Tensor):\n    return x[[0, 1]]\n'
    new = text.replace("from torch", "import torch\nfrom torch").replace(
        "[0, 1]", "torch.arange(2, device=x.device)"
    )

    assert fixed(text) == new
    assert fixed(new) == new


@pytest.mark.parametrize(
    "line",
    ["torch = None", "from lib import torch", "if 1:\n    import torch", "def torch(): ..."],
)
def test_a_name_that_may_mean_something_else_refuses(line: str) -> None:
    text = f"from torch import Tensor\n{line}\n\n\ndef step(x: Tensor):\n    return x[[0, 1]]\n"

    assert fixed(text) == text
    (one,) = found(text)
    assert one.refusal.startswith("what `torch` is called here")


@pytest.mark.parametrize(
    "value",
    ["float('-inf')", "-float('inf')", "-math.inf", "torch.inf", "torch.finfo(x.dtype).min"],
)
def test_an_infinity_or_a_limit_is_a_number_that_is_stored(value: str) -> None:
    text = f"import math\n{IMPORTS}def step(x: Tensor):\n    x[x.argmax(0)] = {value}\n"

    (one,) = found(text)
    assert one.code == "CL203"
    assert (one.fix is None) is ("float(" not in value)


def test_what_torchscript_compiles_gets_no_test_for_a_capture() -> None:
    text = f"{IMPORTS}@torch.jit.script\ndef step(x: Tensor):\n    print(x)\n    return x[[0, 1]]\n"

    assert fixed(text) == text.replace("[0, 1]", "torch.arange(2, device=x.device)")
    assert [one.refusal.partition(";")[0] for one in found(text) if one.fix is None] == [
        "TorchScript has no test for a capture"
    ]


def test_nor_gets_one_what_the_file_has_compiled_further_down() -> None:
    text = f"{IMPORTS}def step(x: Tensor):\n    print(x)\n    return x\n\n\nfast = torch.jit.script(step)\n"

    assert fixed(text) == text


@pytest.mark.parametrize(
    ("other", "is_kept"),
    [
        ("from m import M\nfast = torch.jit.script(M())\n", True),
        (
            "from torch.jit import script\ndef export(model):\n    return script(model, None)\n",
            True,
        ),
        ("def own(x): ...\nfast = torch.jit.script(own)\n", False),
        ("@torch.jit.script\ndef own(x): ...\n", False),
    ],
)
def test_nor_does_what_another_file_of_the_project_may_compile(
    other: str, is_kept: bool, tmp_path: Path
) -> None:
    text = f"{IMPORTS}class M(torch.nn.Module):\n    def forward(self, x: Tensor):\n        print(x)\n        return x\n"
    (tmp_path / "m.py").write_text(text)
    (tmp_path / "export.py").write_text(f"import torch\n{other}")
    config = Config(root=tmp_path, preset=(), jobs=1)

    (one,) = check([tmp_path], config, RULES, mend=mended).findings

    assert one.code == "CL103"
    assert (one.fix is None) is is_kept
    assert ("TorchScript" in one.refusal) is is_kept


@pytest.mark.parametrize(
    "text",
    [
        "def step(x: Tensor):\n    y = x[[0, 1]]\n    import torch\n    return y\n",
        "def step(x: Tensor, c: bool):\n    if c:\n        import torch\n    return x[[0, 1]]\n",
        "class M:\n    import torch\n\n    def step(self, x: Tensor):\n        return x[[0, 1]]\n",
        "def step(x: Tensor):\n    return x[[0, 1]]\n\n\nimport torch\n",
        "def step(x: Tensor, torch):\n    import torch\n    return x[[0, 1]]\n",
        "def step(x: Tensor):\n    import torch\n    for torch in (): ...\n    return x[[0, 1]]\n",
        "if TYPE_CHECKING:\n    import torch\n\n\ndef step(x: torch.Tensor):\n    return x[[0, 1]]\n",
    ],
)
def test_a_name_that_may_not_be_bound_yet_is_not_taken_for_torch(text: str) -> None:
    whole = f"from __future__ import annotations\nfrom typing import TYPE_CHECKING\nfrom torch import Tensor\n\n\n{text}"

    assert fixed(whole) == whole
    (one,) = (one for one in found(whole) if one.code == "CL203")
    assert one.refusal.startswith("what `torch` is called here cannot be told")


@pytest.mark.parametrize(
    "head",
    [
        "import torch\nimport torch.nn.functional\n\n\ndef step(x: torch.Tensor):\n",
        "from torch import Tensor\n\n\ndef step(x: Tensor):\n    import torch\n\n",
        "if TYPE_CHECKING:\n    import torch\n\n\ndef step(x: torch.Tensor):\n    import torch\n\n",
    ],
)
def test_an_import_that_surely_ran_before_says_what_torch_is_called(head: str) -> None:
    whole = f"from __future__ import annotations\nfrom typing import TYPE_CHECKING\n{head}    return x[[0, 1]]\n"

    assert fixed(whole) == whole.replace("[0, 1]", "torch.arange(2, device=x.device)")


def test_what_a_method_is_called_on_keeps_its_parentheses() -> None:
    assert rewritten("return (x + 1).new_tensor(2.0)") == "return (x + 1).new_full((), 2.0)"
    assert rewritten("return x.new_tensor((2))") == "return x.new_full((), 2)"


def test_what_may_be_no_tensor_keeps_its_own_method() -> None:
    text = f"{IMPORTS}def step(x: Tensor, t: Tensor | None = None):\n    return t.new_tensor(1.0) + t.inverse()\n"

    assert fixed(text) == text


@pytest.mark.parametrize("device", ["device", "out_device"])
def test_a_parameter_is_a_device_if_its_annotation_says_so(device: str) -> None:
    text = f"{IMPORTS}def step(x: Tensor, {device}: torch.device):\n    return x + torch.zeros(3).to({device})\n"
    other = text.replace(": torch.device", ": str")

    assert f"torch.zeros(3, device={device})" in fixed(text)
    assert fixed(other) == other


_MODULE = """import torch
from torch import Tensor, nn


class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("buf", torch.zeros(3, 3))

    def forward(self, x: Tensor):
        i = x.argmax(0)
        self.buf[i] = 5.0
        return self.buf[[0, 1]] + x
"""


def test_an_attribute_that_may_be_computed_is_not_read_twice() -> None:
    computed = f"{_MODULE}\n\nclass N(M):\n    @property\n    def buf(self):\n        return next(self.all)\n"

    assert "self.buf[torch.arange(2, device=self.buf.device)]" in fixed(_MODULE)
    assert fixed(computed) == computed


def test_forms_that_no_longer_raise_are_unsafe() -> None:
    text = (
        "import torch\n\n\ndef step(x: torch.Tensor):\n    return torch.linalg.inv(x) + x[[0, 1]]\n"
    )

    grades = {one.code: one.fix.grade for one in found(text) if one.fix is not None}

    assert grades == {"CL801": "unsafe", "CL203": "proven"}


def test_cells_of_notebooks_have_no_fix_and_say_why(tmp_path: Path) -> None:
    text = f"{IMPORTS}def step(x: Tensor) -> Tensor:\n    return x[[0, 1]]\n"
    cell = {"cell_type": "code", "source": text, "metadata": {}, "outputs": []}
    book = {"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    path = tmp_path / "m.ipynb"
    path.write_text(json.dumps(book), encoding="utf-8")
    config = Config(root=tmp_path, scope=Scope.ALL, preset=())

    (one,) = check([path], config, RULES, mend=mended).findings

    assert (one.code, one.fix, one.refusal) == ("CL203", None, "notebooks are not rewritten")
