"""Files that bench reads: of itself, of a server, of shapes; and what is wrong with them, in one line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from capturelint.errors import CapturelintError
from capturelint.measure.bench.saved import compared
from capturelint.measure.bench.serving import Load, Pair, Served, servers
from capturelint.measure.bench.shapes import Price, price, read_shapes
from capturelint.measure.times import read_costs
from capturelint.report import bench_json
from tests.unit.measure.bench.made import bench, size


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def written(name: str, text: object) -> Path:
    path = Path(name)
    path.write_text(text if isinstance(text, str) else json.dumps(text), encoding="utf-8")
    return path


def test_ladder_reads_what_bench_writes() -> None:
    found = bench(size(1, 8, 2), size(4, 9, 3), size(8, 9, 3, wrong="refuses-capture"))
    costs = read_costs(written("b.json", bench_json.render(found)))

    assert (costs.eager.sizes, costs.graph.values) == ((1, 4), (2.1, 3.1500000000000004))
    assert costs.memory is not None
    assert costs.memory.values == (2.0, 2.0)
    assert dict(costs.environment)["expandable segments"] == "off"


def test_two_files_are_compared_where_both_have_a_size() -> None:
    before = written("a.json", bench_json.render(bench(size(1, 8, 2), size(4, 9, 3))))
    other = json.loads(bench_json.render(bench(size(4, 9, 1.5), size(8, 9, 3))))
    other["environment"] |= {"torch": "2.12.0", "date": "later", "cuda": "13"}
    both = compared(before, written("b.json", other))

    assert both.sizes == (4,)
    assert both.differing == {"torch": ("2.11.0", "2.12.0"), "cuda": ("", "13")}
    assert both.notes == (
        "eager steps at 4 differ by no more than they vary (p10 to p90)",
        "1: only in a.json",
        "8: only in b.json",
    )


def test_another_case_and_a_graph_that_is_wrong_in_one_of_two_files_are_told() -> None:
    before = written("a.json", bench_json.render(bench(size(1, 8, 2), size(4, 9, 3))))
    wrong = bench(size(1, 8, 2), size(4, 9, 3, wrong="stale-on-replay"), eager=("head",))
    other = {**json.loads(bench_json.render(wrong)), "case": "other.py:make"}
    both = compared(before, written("b.json", other))

    assert both.differing == {
        "case": ("case.py:make", "other.py:make"),
        "eager modules": ("", "head"),
    }
    assert both.notes[2:] == ("4: b.json has no graph that is right: stale-on-replay",)


def test_a_file_without_a_right_graph_says_why() -> None:
    wrong = written("w.json", bench_json.render(bench(size(1, 8, 2, wrong="refuses-capture"))))
    with pytest.raises(CapturelintError) as raised:
        compared(wrong, wrong)

    assert str(raised.value) == "w.json: has no graph that is right: refuses-capture"


def test_files_without_a_common_size_are_no_comparison() -> None:
    first = written("a.json", bench_json.render(bench(size(1, 8, 2))))
    second = written("b.json", bench_json.render(bench(size(2, 8, 2))))
    with pytest.raises(CapturelintError, match=r"a\.json and b\.json have no size in common"):
        compared(first, second)


def run_of(rate: object, tpot: object, **more: object) -> dict[str, object]:
    return {"request_rate": rate, "median_tpot_ms": tpot, "median_itl_ms": 4.0, **more}


def result_of(tpot: float, **more: object) -> dict[str, object]:
    """Return a result as `main_async` and `benchmark` in vllm/benchmarks/serve.py (0.33.0) make it."""
    found: dict[str, object] = {
        "date": "20261130-101010", "endpoint_type": "vllm", "backend": "vllm", "label": None,
        "model_id": "m/7b", "tokenizer_id": "m/7b", "num_prompts": 100, "request_rate": "inf",
        "burstiness": 1.0, "max_concurrency": None, "duration": 9.5, "completed": 100, "failed": 0,
        "total_input_tokens": 51200, "total_output_tokens": 12800, "request_throughput": 10.5,
        "request_goodput": None, "output_throughput": 1347.3, "total_token_throughput": 6736.8,
        "max_output_tokens_per_s": 1500.0, "max_concurrent_requests": 100, "rtfx": 0.0,
    }  # fmt: skip
    for name, median in (("ttft", 90.0), ("tpot", tpot), ("itl", tpot - 1)):
        mean = {f"mean_{name}_ms": median + 1, f"median_{name}_ms": median}
        found |= {**mean, f"std_{name}_ms": 1.0, f"p99_{name}_ms": median + 9}
    return {**found, **more}


def test_servers_are_compared_by_load() -> None:
    eager = written("e.json", "\n".join(json.dumps(run_of(r, 20)) for r in ("inf", 4, 1)))
    graph = written("g.json", [run_of(4.0, 10), run_of(2, 9), run_of("inf", 12)])
    found = servers(eager, graph)

    assert found.pairs == (
        Pair(Load("4", ""), Served(20, 4), Served(10, 4)),
        Pair(Load("inf", ""), Served(20, 4), Served(12, 4)),
    )
    assert found.notes == (
        "only in e.json: 1 requests/s, concurrency any",
        "only in g.json: 2 requests/s, concurrency any",
    )


def test_results_as_vllm_writes_them_are_read_and_what_makes_them_unlike_is_told() -> None:
    ramp = {
        "ramp_up_strategy": "linear", "ramp_up_start_rps": 1, "ramp_up_end_rps": 9
    }  # fmt: skip
    eager = [result_of(20.0, max_concurrency=8), result_of(30.0), result_of(40.0, **ramp)]
    graph = [
        result_of(10.0, max_concurrency=8, failed=3, model_id="m/8b"), result_of(25.0, **ramp)
    ]  # fmt: skip
    found = servers(
        written("e.json", "\n".join(map(json.dumps, eager))),
        written("g.json", "\n".join(map(json.dumps, graph))),
    )

    told = [(one.load, one.eager.tpot, one.graph.tpot, one.graph.itl) for one in found.pairs]
    assert told == [
        (Load("inf", "8"), 20.0, 10.0, 9.0),
        (Load("inf", "", "linear 1 9"), 40.0, 25.0, 24.0),
    ]
    assert found.notes == (
        "inf requests/s, concurrency 8: model_id is 'm/7b' and 'm/8b'",
        "inf requests/s, concurrency 8: 3 requests of the graph server failed",
        "only in e.json: inf requests/s, concurrency any",
    )


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{", "line 1 is not JSON"),
        ("", "holds no run"),
        ("[3]", "holds 3, not an object"),
        ({"request_rate": 1}, "has neither median_tpot_ms nor median_itl_ms"),
        (run_of(1, "fast"), "`median_tpot_ms` is 'fast', not a number of ms"),
        (run_of("many", 1), "`request_rate` is 'many', not a number"),
        ([run_of(1, 1), run_of(1, 1)], "holds two runs with 1 requests/s, concurrency any"),
        (run_of(1, 0.0), "`median_tpot_ms` is 0: no request gave two tokens or more"),
        (run_of(9, 1), "no request rate and concurrency as in e.json"),
    ],
)
def test_what_is_no_result_of_a_server_is_one_line(text: object, problem: str) -> None:
    eager = written("e.json", run_of(1, 20))
    with pytest.raises(CapturelintError) as raised:
        servers(eager, written("g.json", text))

    assert str(raised.value).startswith(f"g.json: {problem}")
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    "text", ["# names\n4x512 2\n\n1*100\n4x512", '{"4x512": 1, "1x100": 1, "4x512": 2}', "[[4, 512], [1, 100], [4, 512], [4, 512]]"]
)  # fmt: skip
def test_shapes_are_counted_the_most_frequent_first(text: str) -> None:
    found = read_shapes(written("s.txt", text))

    assert found.counts == (((4, 512), 3), ((1, 100), 1))
    assert found.covered(1) == 0.75
    assert found.rounded().counts == (((4, 512), 3), ((1, 128), 1))


def test_a_graph_for_each_shape_costs_what_its_elements_cost() -> None:
    full = {"eager_ms": 1, "graph_ms": 1, "mib": 2, "capture_ms": 100}
    sizes = [{"size": 1, "pool_mib": 0, **full}, {"size": 4096, "pool_mib": 4095, **full}]
    costs = read_costs(written("b.json", {"version": 1, "sizes": sizes}))
    found = read_shapes(written("s.txt", "4x512\n1x100"))

    assert price(found, costs) == Price(0.2, 2 * 2 + 2047)
    assert price(found, None) == Price(None, None)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", ": holds no shapes"),
        ("4\n4x", ":2: '4x' is no shape"),
        ("0x4", ":1: '0x4' is no shape"),
        ("4x5 1 1", ":1: '4x5 1 1' is more than a shape and a count"),
        ("4x5 -1", ":1: the count '-1' is not a whole number"),
        ('{"4x5": 1.5}', ": the count '1.5' is not a whole number"),
        ("[4", ":1: is not JSON"),
    ],
)
def test_what_is_no_shape_is_one_line(text: str, problem: str) -> None:
    with pytest.raises(CapturelintError) as raised:
        read_shapes(written("s.txt", text))

    assert str(raised.value).startswith(f"s.txt{problem}")


@pytest.mark.parametrize("read", [read_shapes, lambda path: servers(path, path)])
def test_a_file_that_is_not_there_is_one_line(read: Callable[[Path], object]) -> None:
    with pytest.raises(CapturelintError, match=r"none\.txt: cannot be read: No such file"):
        read(Path("none.txt"))
