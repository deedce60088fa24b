"""A runner and `bench` on a device: right results, and figures that only a device has."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from capturelint import CapturelintError, Case, GraphRunner
from capturelint.cli.main import main
from capturelint.debug.cuda import CudaBackend
from capturelint.debug.settings import Settings
from capturelint.measure.bench.cuda_meter import CudaMeter
from capturelint.measure.bench.measuring import Edge, Measuring
from capturelint.measure.bench.plan import Plan
from capturelint.measure.bench.result import Bench, Way
from capturelint.measure.times import read_costs

W = 64  # width
SIZES = (1, 4, 16)


def model(layers: int = 8) -> nn.Sequential:
    return nn.Sequential(*(nn.Linear(W, W) for _ in range(layers)))


def inputs(seed: int, batch_size: int = 1) -> tuple[Tensor]:
    return (torch.randn(batch_size, W, generator=torch.Generator().manual_seed(seed)),)


def assert_as_eager(run: GraphRunner, module: nn.Module, rows: int, seed: int = 3) -> None:
    x = inputs(seed, rows)[0].cuda()
    with torch.no_grad():
        torch.testing.assert_close(run(x), module(x))


@pytest.mark.parametrize("pad", ["zero", "repeat-last", "keep"])
@pytest.mark.parametrize("choices", [{}, {"result": "view"}, {"eager": ["3"]}])
def test_each_size_gives_what_eager_gives(pad: str, choices: dict[str, Any]) -> None:
    module = model()
    with GraphRunner((module, inputs), SIZES, pad=pad, **choices) as run:
        for rows in (0, 1, 2, 4, 5, 16, 17, 3):
            assert_as_eager(run, module, rows)


def test_results_and_views_stay_until_their_own_graph_runs_again() -> None:
    both = {"draft": model(2), "target": model(6)}
    case = Case(both, lambda seed, batch_size: {name: inputs(seed, batch_size) for name in both})
    x = inputs(3, 16)[0].cuda()
    for result in ("copy", "view"):
        with GraphRunner(case, SIZES, result=result) as run:
            draft = run.call("draft", x)
            before = draft.clone()
            for rows in (16, 4, 1):
                run.call("target", x[:rows])
            torch.cuda.synchronize()

            assert torch.equal(draft, before)


def test_nan_in_pad_rows_does_not_move_real_rows() -> None:
    module = model()
    with GraphRunner((module, inputs), (16,), pad="keep") as run:
        run(inputs(1, 16)[0].cuda() * torch.nan)
        assert_as_eager(run, module, 5)


def test_another_dtype_or_device_is_refused() -> None:
    with GraphRunner((model(), inputs), SIZES) as run:
        x = inputs(1, 2)[0]
        with pytest.raises(CapturelintError, match="`input` is on cpu instead of cuda:0"):
            run(x)
        with pytest.raises(CapturelintError, match="`input` is float16 instead of float32"):
            run(x.cuda().half())


def test_threads_on_streams_of_their_own_wait_for_each_other() -> None:
    module = model()
    failed: list[BaseException] = []
    with GraphRunner((module, inputs), SIZES) as run:

        def work(seed: int) -> None:
            try:
                stream: Any = torch.cuda.Stream()  # type: ignore[no-untyped-call]
                with torch.cuda.stream(stream):
                    for rows in (1, 2, 16, 3, 8) * 10:
                        assert_as_eager(run, module, rows, seed)
                stream.synchronize()
            except BaseException as error:  # noqa: BLE001 - the test tells
                failed.append(error)

        threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    assert failed == []


@pytest.fixture
def measure() -> Iterator[Callable[..., Bench]]:
    backend = CudaBackend()

    def run(case: Case, **more: Any) -> Bench:
        plan = Plan(**{"sizes": SIZES, "repeats": 20, "warmup": 3, **more})
        edge = Edge(backend, CudaMeter(), backend.session)
        return Measuring(edge, plan, Settings(replays=4), lambda _text: None).bench(
            lambda: case, "case"
        )

    with backend.session():
        yield run


def test_a_launch_bound_model_is_faster_as_a_graph(measure: Callable[..., Bench]) -> None:
    found = measure(Case(model(layers=60), inputs))

    for one in found.sizes:
        eager, graph = one.timings[Way.EAGER], one.timings[Way.GRAPH]
        gain = one.speedup(Way.GRAPH)
        assert one.wrong == {}
        assert gain is not None
        assert gain.p50 > 1.5
        assert eager.activity is not None
        assert graph.activity is not None
        assert eager.activity.kernels >= 60
        assert graph.activity.kernels >= 60
        assert eager.activity.launches >= 60
        assert graph.activity.launches <= 4  # copy in, the graph, copy out
        assert 0 < graph.activity.busy_ms <= 1.5 * graph.step.p50
        assert one.cost is not None
        assert one.cost.capture_ms > 0
        assert one.cost.free_mib >= 0
    assert found.whole is not None
    assert found.environment["expandable segments"] in ("on", "off")


def test_what_refuses_capture_has_no_graph_time(measure: Callable[..., Bench]) -> None:
    found = measure(Case(lambda x: x * x.sum().item(), inputs))

    assert all(set(one.timings) == {Way.EAGER} for one in found.sizes)
    assert all(one.wrong[Way.GRAPH].startswith("refuses-capture") for one in found.sizes)


@pytest.mark.filterwarnings("ignore")  # the compiler's, such as of TF32 that is off
def test_compiled_steps_are_measured_beside_the_others(measure: Callable[..., Bench]) -> None:
    found = measure(Case(model(layers=4), inputs), sizes=(1, 4), compiled=True)

    assert found.ways == tuple(Way)
    assert all(one.wrong == {} for one in found.sizes)


def test_the_command_writes_what_ladder_reads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    text = (
        "import torch\n"
        "def make():\n"
        "    return torch.nn.Linear(8, 8), inputs\n"
        "def inputs(seed, batch_size=1):\n"
        "    return (torch.randn(batch_size, 8),)\n"
    )
    Path("case.py").write_text(text, encoding="utf-8")
    options = ["case.py:make", "--batch-sizes", "1,8", "--repeats", "5"]
    code = main(["bench", *options, "--format", "json", "--output", "b.json", "--svg", "b.svg"])

    assert (code, capsys.readouterr().err) == (0, "")
    document = json.loads(Path("b.json").read_text(encoding="utf-8"))
    assert [one["size"] for one in document["sizes"]] == [1, 8]
    assert read_costs(Path("b.json")).eager.sizes == (1, 8)
    assert Path("b.svg").read_text(encoding="utf-8").startswith("<svg")
