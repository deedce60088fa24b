"""What bench found, as text, JSON, CSV, bars and tables of files."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from xml.etree import ElementTree

from capturelint.measure.bench.saved import Compared, Saved
from capturelint.measure.bench.serving import Load, Pair, Served, Servers
from capturelint.measure.bench.shapes import Shapes
from capturelint.report import bench_chart, bench_csv, bench_json, bench_tables, bench_text
from tests.unit.measure.bench.made import bench, size

FOUND = bench(size(1, 8, 2), size(4, 9, 8.9), size(8, 9, 3, wrong="refuses-capture at m.py:3"))


def test_text_tells_steps_costs_padding_and_advice() -> None:
    lines = bench_text.render(FOUND).splitlines()

    assert lines[0] == (
        "case.py:make: made up, torch 2.11.0, driver 1, expandable segments off, 2026-11-30"
    )
    assert lines[2:5] == [
        "size  way    step ms    (p10-p90)  speedup    (p10-p90)  issue ms  busy ms  waiting  kernels  launches",
        "   1  eager      8.4  (8.08-8.72)                             4.2        1     88 %        7         7",
        "   1  graph      2.1  (2.02-2.18)     4.00  (4.00-4.00)      1.05        1     52 %        7         1",
    ]
    assert "   8  graph    wrong" in lines
    assert "graph, replays compared with eager: equal at 1, 4; wrong at 8" in lines
    assert "   4          50              6            4        0.01" in lines
    assert (
        "  2 to 4 rows run at 4: 25 % pad rows on average, 50 % at 2, +7.25 ms over a step of 1"
        in lines
    )
    assert "1: graph: 4.00 times as fast; the GPU waits 88 % of an eager step" in lines
    assert (
        "4: leave eager: a step is 1.01 times as fast; the GPU works 11 % of an eager step" in lines
    )
    assert "8: leave eager: refuses-capture at m.py:3" in lines
    assert lines[-3] == (
        "all graphs in one pool: 10 MiB predicted from 1, 4; measured 8 MiB less free, 4 MiB of pool, +25 %"
    )  # fmt: skip
    assert lines[-1] == "note: held: x"


def test_a_wrong_graph_has_no_time_anywhere() -> None:
    document = json.loads(bench_json.render(FOUND))
    (left_out,) = document["left_out"]
    rows = list(csv.DictReader(bench_csv.render(FOUND).splitlines()))

    assert [one["size"] for one in document["sizes"]] == [1, 4]
    assert list(left_out["ways"]) == ["eager"]
    assert left_out["wrong"] == {"graph": "refuses-capture at m.py:3"}
    assert (rows[5]["size"], rows[5]["way"], rows[5]["p50_ms"], rows[5]["speedup_p50"]) == (
        "8", "graph", "", ""
    )  # fmt: skip
    assert rows[5]["wrong"] == "refuses-capture at m.py:3"
    assert not any(line.startswith("8 graph") for line in bench_chart.lines(FOUND))
    replays = [
        {way: told["replay"] for way, told in one["ways"].items()} for one in document["sizes"]
    ]
    assert replays == [{"eager": None, "graph": "equal"}] * 2


def test_an_undecided_graph_is_not_called_wrong() -> None:
    lines = bench_text.render(bench(size(8, 9, 3, wrong="undecided: it hangs"))).splitlines()

    assert "   8  graph  undecided" in lines
    assert "graph, replays compared with eager: undecided at 8" in lines


def test_bars_are_as_long_as_the_steps() -> None:
    lines = bench_chart.lines(bench(size(1, 8, 2)))

    assert lines == [f"1 eager  {'#' * 50} 8.4 ms", f"1 graph  {'=' * 12} 2.1 ms"]


def test_the_image_is_well_formed_and_has_a_bar_for_each_step() -> None:
    image = ElementTree.fromstring(bench_chart.svg(FOUND))
    bars = [one for one in image.iter() if one.tag.endswith("rect")]

    assert len(bars) == 1 + 5  # the ground, and what was timed


def test_the_image_is_well_formed_whatever_the_case_is_called() -> None:
    found = replace(FOUND, case="a&b\x00<\ud800>\n'\".py:" + "make" * 99)
    image = ElementTree.fromstring(bench_chart.svg(found))
    title = image.findtext("{*}text") or ""

    assert title.startswith(r"""a&b\x00<\ud800>\n'".py:make""")
    assert int(image.attrib["width"]) > 6 * len(title)
    assert bench_text.render(found).splitlines()[0].startswith(r"a&b\x00<\ud800>\n")


def test_files_side_by_side_say_what_else_differs() -> None:
    before = Saved("a.json", {1: (8.0, 2.0)}, {})
    after = Saved("b.json", {1: (8.0, 4.0)}, {})
    text = bench_tables.compared(Compared(before, after, (1,), {"torch": ("2.11", "")}))

    assert text.splitlines() == [
        "a.json / b.json",
        "",
        "size  eager ms     faster  graph ms     faster  speedup",
        "   1         8  8   1.00x         2  4   0.50x     4.00  2.00",
        "",
        "measured in other surroundings:",
        "torch: 2.11 / not told",
    ]


def test_servers_side_by_side() -> None:
    pair = Pair(Load("inf", "8"), Served(20, 4), Served(10, None))
    found = Servers((pair,), ("only in e.json: 1",))
    text = bench_tables.served(found, eager="e.json", graph="g.json")

    assert text.splitlines()[2:] == [
        "requests/s  concurrency  TPOT ms  graph  speedup  ITL ms  graph  speedup",
        "       inf            8       20     10     2.00       4      ?        ?",
        "",
        "note: only in e.json: 1",
    ]


def test_shapes_tell_how_many_graphs_it_would_take() -> None:
    found = Shapes((((4, 512), 3), ((1, 100), 1)))

    assert bench_tables.shapes(found, None, source="s.txt").splitlines() == [
        "s.txt: 4 calls of 2 distinct shapes",
        "a graph for each: 2 graphs",
        "each number rounded up to a power of two: 2 distinct shapes, 0 % of what is computed is padding; 2 graphs",
        "graphs for the most frequent shapes: 1 serve 75 % of the calls",
        "note: `--times` of a bench run tells seconds and MiB",
    ]  # fmt: skip
