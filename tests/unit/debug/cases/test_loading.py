"""Loading a case: what is found, how often it is made, and one line for each mistake."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from capturelint.debug.backend import CannotTellError
from capturelint.debug.cases.case import Case
from capturelint.debug.cases.loading import load
from capturelint.debug.cases.mistakes import CaseError
from capturelint.debug.settings import Settings


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Work in a folder of its own; take back what is imported from there."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        if str(tmp_path) in str(getattr(sys.modules[name], "__file__", "")):
            del sys.modules[name]
    importlib.invalidate_caches()


MODELS = """\
import torch
from torch import nn
from capturelint.debug.cases.case import Case

count = 0

class Model(nn.Module):
    def __init__(self, width=3):
        super().__init__()
        self.linear = nn.Linear(width, width)
    size = 3
    def forward(self, x):
        return self.linear(x)
    def generate_step(self, x):
        return self.linear(x)

class Wide(nn.Module):
    def __init__(self, width, depth, bias=True):
        super().__init__()

class Holder:
    @staticmethod
    def make():
        return make()

def make():
    global count
    count += 1
    return Model(), fn

def make_case():
    return Case(Model(), fn, mode="inference")

def bare():
    return Model()

def told(device, seed, batch_size):
    return Case(Model(), ((device, seed, batch_size),))

def pick(device="cpu", *, seed=1, batch_size=5):
    return Case(Model(), ((device, seed, batch_size),))

def configured(config, path, device="cuda"):
    pass

def function(x, y):
    return x

def raising():
    raise ValueError("no weights\\nat all")

def leaving():
    raise SystemExit(3)

def wrong_case():
    return Case(Model(), 3)

def fn(seed):
    return torch.ones(3)

ready = Case(Model(), fn)
instance = Model()
example = torch.ones(3)
number = 3
"""


def write(path: str, text: str = MODELS) -> str:
    file = Path(path)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return path


def case_of(target: object, **given: Any) -> Case:
    return load(target, **given)()


def mistake(target: object, **given: Any) -> str:
    with pytest.raises(CaseError) as error:
        case_of(target, **given)
    return str(error.value)


# What is found


@pytest.mark.parametrize("name", ["make", "make_case", "ready", "Holder.make"])
def test_what_a_name_in_a_file_may_be(name: str) -> None:
    write("models.py")
    case = case_of(f"models.py:{name}")

    assert type(case.callables).__name__ == "Model"
    assert callable(case.inputs)


@pytest.mark.parametrize("name", ["Model", "instance", "bare"])
@pytest.mark.parametrize("inputs", ["fn", "models.py:fn", "other.py:fn", "models:example"])
def test_a_module_takes_inputs_from_elsewhere(name: str, inputs: str) -> None:
    write("models.py")
    write("other.py", "def fn(seed): return seed\n")
    case = case_of(f"models.py:{name}", inputs=inputs)

    assert type(case.callables).__name__ == "Model"
    if inputs == "models:example":
        assert torch.equal(case.inputs, torch.ones(3))  # type: ignore[arg-type] # it is an object to Case
    else:
        assert getattr(case.inputs, "__name__", "") == "fn"


def test_given_inputs_win_over_those_of_the_case() -> None:
    write("models.py")

    assert torch.is_tensor(case_of("models.py:make", inputs="example").inputs)
    assert torch.is_tensor(case_of("models.py:ready", inputs="example").inputs)


def test_a_function_with_arguments_is_judged_itself() -> None:
    write("models.py")

    assert (
        getattr(case_of("models.py:function", inputs="fn").callables, "__name__", "") == "function"
    )


def test_each_instance_is_fresh_and_the_file_runs_once() -> None:
    write("models.py")
    instance = load("models.py:make")
    first, second = instance(), instance()

    assert first.callables is not second.callables
    assert sys.modules["models"].count == 2


def test_nothing_is_imported_before_the_first_instance() -> None:
    write("models.py", "raise ValueError\n")

    load("models.py:make")


def test_a_module_can_be_named_by_its_dotted_name() -> None:
    write("pkg/__init__.py", "")
    write("pkg/mod.py")

    assert type(case_of("pkg.mod:make").callables).__name__ == "Model"


@pytest.mark.parametrize(
    "target", ["pkg/sub/mod.py:make", "./pkg/sub/mod.py:make", "pkg.sub.mod:make"]
)
def test_a_file_in_a_package_is_imported_as_part_of_it(target: str) -> None:
    write("pkg/__init__.py", "")
    write("pkg/helper.py")
    write("pkg/sub/__init__.py", "")
    write("pkg/sub/mod.py", "from ..helper import make\n")
    case_of(target)

    assert "pkg.sub.mod" in sys.modules
    assert "mod" not in sys.modules


def test_a_file_finds_its_neighbours_first_and_then_the_working_directory(folder: Path) -> None:
    write("here.py", "name = 'working directory'\n")
    write("cases/both.py", "name = 'neighbour'\n")
    write("both.py", "name = 'working directory'\n")
    write("cases/mine.py", "import both, here\nfrom models import make\n")
    write("cases/models.py")
    case_of("cases/mine.py:make")

    assert sys.modules["mine"].both.name == "neighbour"
    assert sys.path[:2] == [str(folder / "cases"), str(folder)]


def test_a_file_that_is_already_imported_is_not_imported_again(folder: Path) -> None:
    write("cases/models.py")
    sys.path.insert(0, str(folder))
    loaded = importlib.import_module("cases.models")
    case_of("cases/models.py:make")

    assert loaded.count == 1
    assert "models" not in sys.modules


def test_a_file_may_be_called_as_a_known_module() -> None:
    write("random.py")
    case_of("random.py:make")

    assert sys.modules["random_case"].count == 1
    assert hasattr(sys.modules["random"], "shuffle")


def test_a_file_that_is_no_identifier_can_be_named() -> None:
    write("my-model.py")

    assert type(case_of("my-model.py:make").callables).__name__ == "Model"


@pytest.mark.parametrize(("name", "given"), [("told", ("cuda", 7, 2)), ("pick", ("cuda", 7, 5))])
def test_a_factory_is_given_what_it_names(name: str, given: tuple[object, ...]) -> None:
    write("models.py")

    assert case_of(f"models.py:{name}", settings=Settings(seed=7)).inputs == (given,)


def test_a_method_can_be_judged_in_place_of_forward() -> None:
    write("models.py")
    case = case_of("models.py:make", call="generate_step")

    assert getattr(case.callables, "__name__", "") == "generate_step"
    assert type(getattr(case.callables, "__self__", None)).__name__ == "Model"


def test_live_objects_are_cases_too() -> None:
    module = nn.Linear(1, 1)
    case = Case(module, torch.ones(1))
    several = {"a": module}

    assert case_of(case) is case
    assert case_of((module, torch.ones(1))).callables is module
    assert case_of(module, inputs=torch.ones(1)).callables is module
    assert case_of(lambda: (module, torch.ones(1))).callables is module
    assert case_of((several, {"a": ()})).callables is several
    assert case_of(nn.Identity, inputs=torch.ones(1)).named[""].training is False  # type: ignore[attr-defined] # a module
    assert case_of(module, inputs=torch.ones(1), call="extra_repr").callables == module.extra_repr


# Training


def test_a_class_is_made_in_eval_mode_unless_it_is_to_be_trained() -> None:
    write("models.py")
    trained = Settings(train=True)

    judged = case_of("models.py:Model", inputs="fn")
    training = case_of("models.py:Model", inputs="fn", settings=trained)
    assert [judged.mode, training.mode] == ["no_grad", "train"]
    assert [one.callables.training for one in (judged, training)] == [False, True]  # type: ignore[union-attr] # modules


def test_training_reaches_the_module_of_a_method() -> None:
    module = nn.Linear(1, 1).eval()
    case = case_of((module, torch.ones(1)), call="extra_repr", settings=Settings(train=True))

    assert module.training
    assert case.mode == "train"


# Mistakes


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("model.py:make", "no file model.py; did you mean models.py?"),
        ("gone/x.py:make", "no file gone/x.py; correct the path"),
        ("models.py", "models.py names no object in it; name what to run: models.py:make"),
        ("models.py:", "models.py names no object in it; name what to run: models.py:make"),
        ("models", "models names no object in it; name what to run: models:make"),
        ("./cases:make", "./cases is a folder; name a file in it: ./cases/FILE.py:make"),
        ("./notes.txt:make", "./notes.txt is not a Python file; name one that ends in .py"),
        ("models.py:mak", "models.py has no 'mak'; did you mean make?"),
        ("models:mak", "models has no 'mak'; did you mean make?"),
        ("models.py:Holder.mk", "models.py:Holder has no 'mk'; did you mean make?"),
        (
            "models.py:number.x",
            "models.py:number has no 'x'; name a factory, a module or a Case in it",
        ),
        ("few.py:zzz", "few.py has no 'zzz'; it has build, Net"),
        ("models.py:number", "models.py:number is an int; name a factory, a module or a Case"),
        (
            "models.py:Holder",
            "models.py:Holder is the class Holder; name a factory, a module or a Case",
        ),
        (
            "models.py:Wide",
            (
                "models.py:Wide needs arguments (width, depth); name a factory that makes it: "
                "def make(): return Wide(...), inputs"
            ),
        ),
        (
            "models.py:configured",
            (
                "models.py:configured needs arguments (config, path); give them defaults: only device, "
                "seed and batch_size are passed"
            ),
        ),
        (
            "models.py:Model",
            (
                "no inputs for models.py:Model; add --inputs FILE.py:NAME, or name a factory that "
                "returns (module, inputs)"
            ),
        ),
        (
            "models.py:bare",
            (
                "models.py:bare returned a Model without inputs; return (module, inputs) or a "
                "capturelint.Case, or add --inputs FILE.py:NAME"
            ),
        ),
        ("models.py:raising", "models.py:raising raised ValueError: no weights at models.py:50"),
        ("models.py:leaving", "models.py:leaving raised SystemExit: 3 at models.py:53"),
        (
            "models.py:wrong_case",
            (
                "models.py:wrong_case: inputs is an int; give a function of seed, a list of recorded "
                "inputs, or one example"
            ),
        ),
        (
            "nowhere.mod:make",
            "no module 'nowhere'; run from the folder that holds it, or name a file: path/to/file.py:make",
        ),
        (
            "cases.mod:make",
            "no module 'cases.mod'; run from the folder that holds it, or name a file: path/to/file.py:make",
        ),
    ],
)
def test_each_mistake_has_its_line(target: str, message: str) -> None:
    write("models.py")
    write("few.py", "import os\n\ndef build(): ...\n\nclass Net: ...\n")
    write("notes.txt", "")
    write("cases/__init__.py", "")

    assert mistake(target) == message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("import torch\ndef make(:\n", "bad.py:2: invalid syntax; correct it first"),
        (
            "\nimport not_there.sub\n",
            "bad.py:2: no module 'not_there'; install it where capturelint runs",
        ),
        ("1 / 0\n", "importing bad.py raised ZeroDivisionError: division by zero at bad.py:1"),
        ("import sys\nsys.exit(2)\n", "importing bad.py raised SystemExit: 2 at bad.py:2"),
        ("from os import nothing\n", "importing bad.py raised ImportError: "),
        ("import worse\n", "worse.py:1: invalid syntax; correct it first"),
        ("assert False\n", "importing bad.py raised AssertionError at bad.py:1"),
    ],
)
def test_a_file_that_cannot_be_imported_is_named(text: str, message: str) -> None:
    write("bad.py", text)
    write("worse.py", "def (\n")

    assert mistake("bad.py:make").startswith(message)
    assert "bad" not in sys.modules


@pytest.mark.parametrize(
    ("returned", "words"),
    [
        ("None", "None"),
        ("{}", "a dict"),
        ("(1, Model())", "(int, Model)"),
        ("(Model(), 1, 2)", "(Model, int, int)"),
        ("[Model(), fn]", "a list"),
    ],
)
def test_a_wrong_return_says_what_came(returned: str, words: str) -> None:
    write("models.py", f"{MODELS}\ndef odd():\n    return {returned}\n")

    assert mistake("models.py:odd") == (
        f"models.py:odd returned {words}; return (module, inputs) or a capturelint.Case"
    )


def test_a_pair_with_wrong_inputs_says_so() -> None:
    write("models.py", f"{MODELS}\ndef odd():\n    return Model(), 3\n")

    assert mistake("models.py:odd") == (
        "models.py:odd: inputs is an int; give a function of seed, a list of recorded inputs, or "
        "one example"
    )


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ("nothing", "models.py has no 'nothing'; it has "),
        ("gone.py:fn", "no file gone.py; correct the path"),
        ("gone.py", "gone.py names no object in it; name what makes inputs: gone.py:make"),
        ("number", "models.py:Model: inputs is an int; "),
    ],
)
def test_inputs_that_are_not_there_are_named(inputs: str, message: str) -> None:
    write("models.py")

    assert mistake("models.py:Model", inputs=inputs).startswith(message)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("generate", "--call generate: a Model has no 'generate'; did you mean generate_step?"),
        ("zzzzzz", "--call zzzzzz: a Model has no 'zzzzzz'; it has forward, generate_step"),
        ("size", "--call size: it is an int; name a method"),
    ],
)
def test_a_method_that_is_not_there_is_named(call: str, message: str) -> None:
    write("models.py")

    assert mistake("models.py:make", call=call) == message


def test_one_method_cannot_stand_for_several_callables() -> None:
    several = Case({"a": print, "b": print}, ())

    assert mistake(several, call="step") == (
        "--call step: the case has a, b; name the methods as its callables"
    )


def test_another_package_of_the_same_name_is_told_apart() -> None:
    write("one/pkg/__init__.py", "")
    write("one/pkg/models.py")
    write("two/pkg/__init__.py", "")
    write("two/pkg/models.py")
    case_of("one/pkg/models.py:make")

    assert mistake("two/pkg/models.py:make") == (
        "pkg.models was imported from one/pkg/models.py, not from two/pkg/models.py; "
        "uninstall the other or name it as a module"
    )


def test_what_a_backend_cannot_tell_stays_undecided() -> None:
    def make() -> None:
        raise CannotTellError("a custom kernel")

    with pytest.raises(CannotTellError):
        case_of(make)
