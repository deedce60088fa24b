"""Where captured code starts and what it reaches."""

from __future__ import annotations

from pathlib import Path

import pytest

from capturelint.config import Scope
from tests.unit.lint.probe import IMPORTS, captured, roots


def _text(text: str) -> str:
    return IMPORTS + text


def test_forward_and_call_of_modules_are_roots(tmp_path: Path) -> None:
    text = """
class Base(nn.Module):
    pass

class Model(Base):
    def __init__(self): self.prepare()
    def forward(self, x): return x
    def prepare(self): pass

class Callable(nn.Linear):
    def __call__(self, x): return x

class Plain:
    def forward(self, x): return x
    def __call__(self, x): return x

def forward(x): return x
"""

    assert roots(tmp_path, {"m.py": _text(text)}) == {
        "m.Model.forward": "forward of an nn.Module",
        "m.Callable.__call__": "__call__ of an nn.Module",
    }


def test_a_forward_of_a_class_that_is_a_module_by_another_file_is_a_root(tmp_path: Path) -> None:
    files = {
        "base.py": "from torch import nn\nclass Base(nn.Module): pass\n",
        "m.py": "import base\nclass Model(base.Base):\n    def forward(self, x): return x\n",
    }

    assert set(roots(tmp_path, files)) == {"m.Model.forward"}


def test_the_body_of_a_graph_context_is_captured_and_the_rest_of_its_function_is_not(
    tmp_path: Path,
) -> None:
    text = """
def capture(model_step, x: Tensor):
    graph = torch.cuda.CUDAGraph()
    before(x)
    with torch.cuda.graph(graph, stream=None):
        y = inside(x)
        inner(y)
    after(y)
    return graph

def before(x): pass
def inside(x): return x
def inner(x): pass
def after(x): pass
"""
    files = {"m.py": _text(text)}

    assert roots(tmp_path, files) == {"m.capture": "holds `with torch.cuda.graph(...)`"}
    assert captured(tmp_path, files) == {"m.capture", "m.inside", "m.inner"}


@pytest.mark.parametrize(
    "context",
    [
        "torch.cuda.graph(g)",
        "torch.cuda.graphs.graph(g)",
        "graph(g)",
        "torch.no_grad(), torch.cuda.graph(g)",
    ],
)
def test_a_graph_context_is_known_however_it_is_written(context: str, tmp_path: Path) -> None:
    text = f"""
from torch.cuda import graph

def capture(x, g):
    with {context}:
        inside(x)

def inside(x): pass
"""

    assert "m.inside" in captured(tmp_path, {"m.py": _text(text)})


@pytest.mark.parametrize("context", ["mine.graph(g)", "graph", "torch.profiler.graph(g)"])
def test_another_context_called_graph_captures_nothing(context: str, tmp_path: Path) -> None:
    text = f"""
import mine

def capture(x, g, graph=None):
    with {context}:
        inside(x)

def inside(x): pass
"""

    assert captured(tmp_path, {"m.py": _text(text)}) == set()


def test_what_is_given_to_make_graphed_callables_is_a_root(tmp_path: Path) -> None:
    text = """
class Layer(nn.Module):
    def step(self, x): return x

def one(x): return x
def two(x): return x
def three(x): return x

def main(x):
    torch.cuda.make_graphed_callables(one, (x,))
    layer = Layer()
    torch.cuda.make_graphed_callables((two, layer.step), ((x,), (x,)))
    three(x)
"""

    assert roots(tmp_path, {"m.py": _text(text)}) == dict.fromkeys(
        ["m.one", "m.two", "m.Layer.step"],
        "given to make_graphed_callables or to torch.compile with a graph mode",
    )


@pytest.mark.parametrize(
    ("mode", "is_root"),
    [
        ("mode='reduce-overhead'", True),
        ("mode='max-autotune', fullgraph=True", True),
        ("backend='cudagraphs'", True),
        ("mode='max-autotune-no-cudagraphs'", False),
        ("backend='eager'", False),
        ("mode='default'", False),
        ("", False),
    ],
)
def test_torch_compile_captures_in_some_modes(mode: str, is_root: bool, tmp_path: Path) -> None:
    text = f"""
def called(x): return x

@torch.compile({mode})
def decorated(x): return x

def main():
    return torch.compile(called{", " if mode else ""}{mode})
"""

    wanted = {"m.called", "m.decorated"} if is_root else set()
    assert captured(tmp_path, {"m.py": _text(text)}) == wanted


@pytest.mark.parametrize("compiled", ["second", "first"])
def test_a_function_that_compiles_may_itself_be_compiled(compiled: str, tmp_path: Path) -> None:
    text = f"""
def first(x): return torch.compile({compiled}, mode="reduce-overhead")
def second(x): return torch.compile(inside, mode="reduce-overhead")
def inside(x): return x
"""

    assert set(roots(tmp_path, {"m.py": _text(text)})) >= {f"m.{compiled}", "m.inside"}


def test_a_script_may_capture_outside_functions(tmp_path: Path) -> None:
    text = """
def step(x): return x
def inside(x): return x
def outside(x): return x

fast = torch.compile(step, mode="reduce-overhead")
x = outside(torch.zeros(2, device="cuda"))
with torch.cuda.graph(torch.cuda.CUDAGraph()):
    inside(x)
"""
    found = captured(tmp_path, {"m.py": _text(text)})

    assert {"m.step", "m.inside"} <= found
    assert "m.outside" not in found


@pytest.mark.parametrize(
    ("pattern", "wanted"),
    [
        ("m.step", {"m.step", "m.helper"}),
        ("m.Engine.run", {"m.Engine.run"}),
        ("m.Engine", {"m.Engine.run", "m.Engine.stop"}),
        ("*.run", {"m.Engine.run", "m.Other.run"}),
        ("subclasses:m.Engine", {"m.Engine.run", "m.Engine.stop", "m.Below.more"}),
        ("subclasses:m.Engine.run", {"m.Engine.run"}),
        ("subclasses:m.Below", {"m.Below.more"}),
        ("step", set()),
        ("run", set()),
    ],
)
def test_configured_names_are_roots(pattern: str, wanted: set[str], tmp_path: Path) -> None:
    text = """
def step(x): return helper(x)
def helper(x): return x
class Engine:
    def run(self, x): return x
    def stop(self): pass
class Below(Engine):
    def more(self): pass
class Other:
    def run(self, x): return x
"""

    assert captured(tmp_path, {"m.py": _text(text)}, roots=(pattern,)) == wanted


def test_markers_make_and_end_roots(tmp_path: Path) -> None:
    text = """
# capturelint: captured
def step(x): return helper(x), logged(x)

def helper(x): return x

# capturelint: eager
def logged(x): return deeper(x)

def deeper(x): return x

# capturelint: captured
class Engine:
    def forward(self, x): return x
    def __call__(self, x): return x
    def stop(self): pass

# capturelint: captured
class Sampler:
    def __init__(self): pass
    def draw(self, x): return x

class Model(nn.Module):
    # capturelint: eager
    def forward(self, x): return x

# capturelint: eager
class Whole(nn.Module):
    def forward(self, x): return x
"""
    files = {"m.py": _text(text)}

    assert roots(tmp_path, files) == {
        "m.step": "marked `# capturelint: captured`",
        "m.Engine.forward": "its class is marked `# capturelint: captured`",
        "m.Engine.__call__": "its class is marked `# capturelint: captured`",
        "m.Sampler.draw": "its class is marked `# capturelint: captured`",
    }
    assert captured(tmp_path, files) == {*roots(tmp_path, files), "m.helper"}


def test_eager_patterns_end_what_is_followed(tmp_path: Path) -> None:
    text = """
class Model(nn.Module):
    def forward(self, x): return self.part(x), self.log(x)
    def part(self, x): return x
    def log(self, x): return deeper(x)

class Loss(nn.Module):
    def forward(self, x): return x

def deeper(x): return x
"""

    assert captured(tmp_path, {"m.py": _text(text)}, eager=("m.*.log", "m.*Loss")) == {
        "m.Model.forward",
        "m.Model.part",
    }


@pytest.mark.parametrize(
    "decorator",
    [
        "torch.compiler.disable",
        "torch._dynamo.disable()",
        "functools.lru_cache(maxsize=None)",
        "triton.jit",
    ],
)
def test_some_decorators_keep_a_function_out(decorator: str, tmp_path: Path) -> None:
    text = f"""
import functools
import triton

class Model(nn.Module):
    def forward(self, x): return outside(x)

@{decorator}
def outside(x): return x
"""

    assert captured(tmp_path, {"m.py": _text(text)}) == {"m.Model.forward"}


@pytest.mark.parametrize(("preset", "is_in"), [(("vllm",), True), ((), False), (None, True)])
def test_a_preset_names_roots_of_its_package(
    preset: tuple[str, ...] | None, is_in: bool, tmp_path: Path
) -> None:
    files = {
        "vllm/__init__.py": "",
        "vllm/_custom_ops.py": "def rms_norm(x): return x\n",
        "vllm/benchmarks/__init__.py": "",
        "vllm/benchmarks/m.py": """
            from torch import nn

            class Model(nn.Module):
                def forward(self, x): return x
        """,
    }
    found = captured(tmp_path, files, preset=preset)

    assert ("vllm.benchmarks.m.Model.forward" not in found) is is_in


@pytest.mark.parametrize(
    ("body", "wanted"),
    [
        ("return partial(helper, 1)(x)", {"m.helper"}),
        ("return apply(helper, x)", {"m.apply", "m.helper"}),
        ("return unheard_of(helper, x)", {"m.helper"}),
        ("return unheard_of(callback=self.part)", {"m.Model.part"}),
        ("return [f(x) for f in (helper, other)]", {"m.helper", "m.other"}),
        ("return {'a': helper}['a'](x)", {"m.helper"}),
        ("f = helper if x else other\n        return f(x)", {"m.helper", "m.other"}),
        ("return self.layers[0](x)", {"m.Layer.forward"}),
        ("return [layer(x) for layer in self.layers]", {"m.Layer.forward"}),
        ("return self.named['a'](x)", {"m.Layer.forward"}),
        ("return self.chain(x)", {"m.Layer.forward"}),
        ("return self.made(x)", {"m.Layer.forward"}),
        ("return self.size", {"m.Model.size", "m.helper"}),
        ("return self.act(x)", {"m.helper"}),
        ("return wrapped(x)", {"m.wrapped"}),
        ("return Point(x).moved()", {"m.Point.__init__", "m.Point.moved"}),
        ("return Point.build(x)", {"m.Point.build", "m.Point.__init__"}),
        ("return (lambda y: helper(y))(x)", {"m.helper"}),
        ("return TABLE['a'](x)", {"m.helper"}),
        ("return helper", set()),
        ("return x.part(x)", set()),
        ("return x.helper()", set()),
        ("return unheard_of.part(x)", set()),
        ("return torch.helper(x)", set()),
        ("return self.config.part(x)", set()),
    ],
)
def test_a_call_is_followed_by_what_it_calls_never_by_a_bare_name(
    body: str, wanted: set[str], tmp_path: Path
) -> None:
    text = f"""
from functools import partial

def helper(x, y=None): return x
def other(x): return x
def apply(f, x): return f(x)
def build(n): return Layer()

TABLE = {{"a": helper}}

@torch.no_grad()
def wrapped(x): return x

class Point:
    def __init__(self, x): self.x = x
    def moved(self): return self.x
    @classmethod
    def build(cls, x): return cls(x)

class Layer(nn.Module):
    def forward(self, x): return x

class Model(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config = config
        self.layers = nn.ModuleList([Layer() for _ in range(2)])
        self.named = nn.ModuleDict({{"a": Layer()}})
        self.chain = nn.Sequential(Layer(), Layer())
        self.made = build(3)
        self.act = helper

    @property
    def size(self): return helper(1)

    def part(self, x): return x

    # capturelint: captured
    def step(self, x):
        {body}
"""
    found = captured(tmp_path, {"m.py": _text(text)})

    assert found - {"m.Layer.forward"} == wanted - {"m.Layer.forward"} | {"m.Model.step"}


@pytest.mark.parametrize(
    "call",
    ["self.layers[0](x)", "self.named['a'](x)", "self.chain(x)", "self.made(x)", "self.one(x)"],
)
def test_a_layer_is_reached_from_the_module_that_holds_it(call: str, tmp_path: Path) -> None:
    text = f"""
def build(n): return Layer()

class Layer:
    def __call__(self, x): return x

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.one = Layer()
        self.layers = nn.ModuleList([Layer() for _ in range(2)])
        self.named = nn.ModuleDict({{"a": Layer()}})
        self.chain = nn.Sequential(Layer(), Layer())
        self.made = build(3)

    def forward(self, x):
        return {call}
"""

    assert captured(tmp_path, {"m.py": _text(text)}) == {
        "m.Model.forward",
        "m.Layer.__call__",
    }


def test_a_nested_function_is_captured_when_it_is_called(tmp_path: Path) -> None:
    text = """
class Model(nn.Module):
    def forward(self, x):
        def called(y): return y
        def passed(y): return y
        def kept(y): return y
        unheard_of(passed)
        return called(x)
"""

    assert captured(tmp_path, {"m.py": _text(text)}) == {
        "m.Model.forward",
        "m.Model.forward.called",
        "m.Model.forward.passed",
    }


def test_scope_all_looks_at_everything_and_captures_no_more(tmp_path: Path) -> None:
    text = """
class Model(nn.Module):
    def __init__(self): pass
    def forward(self, x): return x
    def load(self): pass

def alone(x): return x
"""
    files = {"m.py": _text(text)}

    assert captured(tmp_path, files, scope=Scope.ALL) == {"m.Model.forward"}


@pytest.mark.parametrize(
    "given", ["step", "lambda x: step(x)", "functools.partial(step)", "Layer()"]
)
def test_what_a_wrapper_is_given_is_captured_where_its_region_calls_it(
    given: str, tmp_path: Path
) -> None:
    text = f"""
import functools

def inner(x): return x

def step(x): return inner(x)

def unused(x): return x

class Layer:
    def __call__(self, x): return step(x)

def capture(call, x):
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        y = call(x)
    return graph, y

def main(x):
    unused(x)
    return capture({given}, x)
"""

    assert captured(tmp_path, {"m.py": _text(text)}) >= {"m.capture", "m.step", "m.inner"}
    assert "m.unused" not in captured(tmp_path, {"m.py": _text(text)})


def test_what_a_wrapper_is_given_and_only_calls_eagerly_is_not_captured(tmp_path: Path) -> None:
    text = """
def step(x): return x

def prepare(x): return x

def capture(call, before, x):
    before(x)
    with torch.cuda.graph(torch.cuda.CUDAGraph()):
        call(x)

capture(step, prepare, 1)
"""

    assert captured(tmp_path, {"m.py": _text(text)}) == {"m.capture", "m.step"}
