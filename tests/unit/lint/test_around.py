"""What `--scope step` looks at, what it says there, and what it leaves alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from capturelint.config import Scope
from capturelint.finding import Effect
from capturelint.lint.engine import check
from capturelint.lint.listing import list_roots
from capturelint.lint.registry import builtin_rules
from capturelint.rewrite.mend import mended
from tests.unit.lint.probe import IMPORTS, config_for, found, written

_RUNNER = (
    IMPORTS
    + """
class Model(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x * 2

class Runner:
    def __init__(self, model: Model) -> None:
        self.model = model
        self.input = torch.zeros(8, device="cuda")
        self.graph = torch.cuda.CUDAGraph()

    def capture(self) -> None:
        torch.cuda.synchronize()
        with torch.cuda.graph(self.graph):
            self.output = self.model(self.input)

    def run(self, rows: list[float]) -> Tensor:
        self.input.copy_(torch.tensor(rows))
        self.graph.replay()
        return self.kept(self.output)

    def kept(self, x: Tensor) -> Tensor:
        return x[x > 0]
"""
)


def around(folder: Path, text: str, **settings: object) -> list[str]:
    """Return `line code` of what is found in the steps of one file."""
    settings.setdefault("scope", Scope.STEP)
    return [one.partition(":")[2] for one in found(folder, {"m.py": text}, **settings)]


def lines_of(text: str) -> str:
    """Return a source whose function `step` is marked as one."""
    return f"{IMPORTS}\n# capturelint: step\n{text}"


def test_what_replays_a_graph_and_what_it_calls_is_looked_at(tmp_path: Path) -> None:
    assert around(tmp_path, _RUNNER) == ["21 CL202", "26 CL302"]
    assert around(tmp_path, _RUNNER, scope=Scope.CAPTURED) == []


def test_a_finding_in_a_step_is_slow_and_speaks_of_no_capture(tmp_path: Path) -> None:
    written(tmp_path, {"m.py": _RUNNER})
    config = config_for(tmp_path, scope=Scope.STEP)

    first = check([tmp_path], config, builtin_rules()).findings[0]

    assert first.effects == (Effect.SLOW,)
    assert first.message == (
        "`.copy_()` copies unpinned host memory to the device, for which the host waits each step"
    )
    assert [step.function for step in first.chain] == ["Runner.run"]


def test_captured_code_is_reported_as_without_the_scope(tmp_path: Path) -> None:
    text = _RUNNER.replace("return x * 2", "return x * x.max().item()")

    assert around(tmp_path, text, scope=Scope.CAPTURED) == ["7 CL101"]
    assert around(tmp_path, text) == ["7 CL101", "21 CL202", "26 CL302"]


def test_of_a_function_that_captures_only_the_loop_that_replays_is_a_step(tmp_path: Path) -> None:
    text = (
        IMPORTS
        + """
def main(x: Tensor) -> None:
    graph = torch.cuda.CUDAGraph()
    torch.cuda.synchronize()
    with torch.cuda.graph(graph):
        y = x * 2
    for _ in range(3):
        graph.replay()
        print(y.max().item())
    print(y.sum().item())
"""
    )

    assert around(tmp_path, text) == ["12 CL101"]


def test_what_captures_and_replays_without_a_loop_is_no_step(tmp_path: Path) -> None:
    text = (
        IMPORTS
        + """
def once(x: Tensor) -> float:
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        y = x * 2
    graph.replay()
    return y.max().item()
"""
    )

    assert around(tmp_path, text) == []


def test_a_replay_with_arguments_is_that_of_a_buffer(tmp_path: Path) -> None:
    text = IMPORTS + "\ndef learn(buffer, x: Tensor):\n    buffer.replay(8)\n    return x.item()\n"

    assert around(tmp_path, text) == []


def test_a_marked_class_runs_each_step_but_for_its_constructor(tmp_path: Path) -> None:
    text = lines_of(
        """class Sampler(nn.Module):
    def __init__(self, x: Tensor) -> None:
        self.n = x.item()

    def forward(self, logits: Tensor) -> list[int]:
        return logits.argmax(-1).tolist()
"""
    )

    assert around(tmp_path, text, scope=Scope.CAPTURED) == []
    assert around(tmp_path, text) == ["11 CL101"]


def test_names_in_the_settings_are_steps_and_not_captured(tmp_path: Path) -> None:
    text = (
        IMPORTS
        + """
class Sampler(nn.Module):
    def forward(self, logits: Tensor) -> list[int]:
        return self._ids(logits)

    def _ids(self, logits: Tensor) -> list[int]:
        return logits.argmax(-1).tolist()

    def _unused(self, logits: Tensor) -> list[int]:
        return logits.argmin(-1).tolist()
"""
    )

    assert around(tmp_path, text, step=("m.Sampler",)) == ["10 CL101"]
    assert around(tmp_path, text, step=("m.Sampler",), scope=Scope.CAPTURED) == []
    assert around(tmp_path, text, step=("m.Sampler._unused",)) == ["10 CL101", "13 CL101"]


def test_the_step_of_an_optimizer_runs_each_step(tmp_path: Path) -> None:
    text = (
        IMPORTS
        + """
class Plain(torch.optim.Optimizer):
    def step(self, norm: Tensor) -> None:
        if norm.isnan():
            return
"""
    )

    assert around(tmp_path, text) == ["7 CL401"]


@pytest.mark.parametrize(
    "body",
    [
        "return x.to('cpu', non_blocking=True)",
        "rows_cpu.copy_(x, non_blocking=True)",
        "x.copy_(rows_cpu, non_blocking=True)",
        "return rows_cpu.to(x.device, non_blocking=True)",
        "return rows_cpu.max().item()",
        "counts_cpu = count(x)\n    return counts_cpu.tolist()",
        "return rows.tolist()",
        "return rows.lens_cpu.max().item()",
        "return np.argmax(rows).item()",
        "return rows.numpy()",
        "return torch.linalg.eigh(torch.eye(3) * rows)",
        "return (x & rows_cpu).any().item()",
        "torch.cuda.Event().synchronize()",
        "copied_event.synchronize()",
        "return torch.cuda.Event().query()",
        "if torch.cuda.is_current_stream_capturing():\n        return x.item()",
        "if isinstance(rows, Tensor):\n        return rows.tolist()",
        "with torch.cuda.graph(g):\n        y = x.item()",
        "g.capture_begin()\n    y = x.item()\n    g.capture_end()",
        "return x.item()  # capturelint: ignore[CL101] the ids that this step returns",
    ],
)
def test_what_need_not_wait_is_not_reported(tmp_path: Path, body: str) -> None:
    text = lines_of(f"def step(x: Tensor, rows_cpu: Tensor, rows, copied_event, g):\n    {body}\n")
    written(tmp_path, {"m.py": text})

    result = check([tmp_path], config_for(tmp_path, scope=Scope.STEP), builtin_rules())

    assert result.step_functions == 1
    assert [f.code for f in result.findings if Effect.SLOW in f.effects] == []


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ("return x.cpu()", "CL102"),
        ("return loss(x).item()", "CL101"),
        ("rows_cpu.copy_(x)", "CL102"),
        ("x.copy_(rows_cpu)", "CL202"),
        ("return rows_cpu.to(x.device)", "CL202"),
        ("return rows_cpu.to(x.device, non_blocking=False)", "CL202"),
        ("return torch.tensor(rows, device=x.device)", "CL201"),
        ("return x.nonzero()", "CL301"),
        ("return torch.linalg.eigh(x)", "CL801"),
        ("torch.cuda.synchronize()", "CL701"),
        ("torch.cuda.current_stream().synchronize()", "CL701"),
        ("if not torch.cuda.is_current_stream_capturing():\n        return x.item()", "CL101"),
    ],
)
def test_what_makes_the_host_wait_is_reported(tmp_path: Path, body: str, code: str) -> None:
    text = lines_of(f"def step(x: Tensor, rows_cpu: Tensor, rows: list[int]):\n    {body}\n")

    assert [one.partition(" ")[2] for one in around(tmp_path, text)] == [code]


def test_a_helper_of_the_region_is_judged_by_what_a_step_gives_it(tmp_path: Path) -> None:
    text = (
        IMPORTS
        + """
def longest(x: Tensor) -> Tensor:
    return x.max()

class Model(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return longest(x)

# capturelint: step
def step(lens_cpu: Tensor) -> float:
    return longest(lens_cpu).item()
"""
    )

    assert around(tmp_path, text) == []


def test_a_pattern_that_matches_nothing_is_an_error(tmp_path: Path) -> None:
    written(tmp_path, {"m.py": _RUNNER})
    config = config_for(tmp_path, scope=Scope.STEP, step=("m.Runer",))

    errors = check([tmp_path], config, builtin_rules()).errors

    assert errors == (
        "step: 'm.Runer' matches nothing in the checked files; did you mean 'm.Runner.run'?",
    )


def test_steps_are_listed_with_why_and_what_they_reach(tmp_path: Path) -> None:
    written(tmp_path, {"m.py": _RUNNER})

    listed = list_roots([tmp_path], config_for(tmp_path, scope=Scope.STEP)).roots

    assert [(r.function, r.why) for r in listed if r.scope is Scope.STEP] == [
        ("m.Runner.run", "replays a graph")
    ]
    assert [one.function for one in listed[-1].reached] == ["m.Runner.kept"]
    assert {r.scope for r in list_roots([tmp_path], config_for(tmp_path)).roots} == {Scope.CAPTURED}


def test_no_rule_speaks_of_capture_in_a_step() -> None:
    folder = Path(__file__).parents[3] / "fixtures"
    config = config_for(folder, scope=Scope.STEP, step=("*",))

    result = check(sorted(folder.glob("cl*.py")), config, builtin_rules())
    said = {f.message for f in result.findings if f.effects == (Effect.SLOW,)}

    assert len(said) > 40
    assert [text for text in said if "captur" in text] == []
    assert [text for text in said if not text.endswith(" each step")] == []


_EACH_STEP = """
import torch

# capturelint: step
def sample(x: torch.Tensor):
    return x.tolist()

def serve(graph: torch.cuda.CUDAGraph, x: torch.Tensor):
    graph.replay()
    print(x)
    return helper(x)

def helper(x: torch.Tensor):
    return x.item()

def other(x: torch.Tensor):
    return x.item()
"""


def _told(folder: Path, scope: Scope) -> list[tuple[int, str, bool, list[Effect], bool]]:
    written(folder, {"m.py": _EACH_STEP})
    result = check([folder], config_for(folder, scope=scope), builtin_rules(), mend=mended)
    return [
        (f.span.line, f.code, f.if_captured, [*f.effects], f.fix is not None)
        for f in result.findings
    ]


def test_all_functions_include_what_runs_each_step(tmp_path: Path) -> None:
    steps = _told(tmp_path, Scope.STEP)
    everything = _told(tmp_path, Scope.ALL)

    assert [one[:-1] for one in steps] == [
        (6, "CL101", False, [Effect.SLOW]),
        (10, "CL103", False, [Effect.SLOW]),
        (14, "CL101", False, [Effect.SLOW]),
    ]
    assert [one[:-1] for one in everything] == [
        *(one[:-1] for one in steps),
        (17, "CL101", True, [Effect.REFUSES]),
    ]


def test_a_step_among_all_functions_keeps_its_fix(tmp_path: Path) -> None:
    assert [one[-1] for one in _told(tmp_path, Scope.ALL)] == [False, True, False, False]
