"""Files of `bench`: what is read of them, what is assumed without one, and mistakes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from capturelint.measure.curves import Curve
from capturelint.measure.times import BadTimesError, Costs, assumed_costs, read_costs


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return Path("bench.json")


def entry(size: int, graph: float, **more: float | None) -> dict[str, object]:
    return {"size": size, "eager_ms": 4, "graph_ms": graph, **more}


def document(*sizes: object, **more: object) -> str:
    return json.dumps({"version": 1, "sizes": list(sizes), **more})


def test_figures_are_read_by_size_in_any_order(file: Path) -> None:
    full = {"capture_ms": 50, "mib": 2.5, "pool_mib": 30}
    file.write_text(document(entry(8, 2, **full), entry(1, 1, **full), environment={"gpu": "H200"}))

    assert read_costs(file) == Costs(
        eager=Curve((1, 8), (4.0, 4.0)),
        graph=Curve((1, 8), (1.0, 2.0)),
        capture=Curve((1, 8), (50.0, 50.0)),
        memory=Curve((1, 8), (2.5, 2.5)),
        pool=Curve((1, 8), (30.0, 30.0)),
        largest=8,
        environment=(("gpu", "H200"),),
    )


def test_a_figure_that_one_size_lacks_is_not_known(file: Path) -> None:
    file.write_text(document(entry(1, 1, mib=2), entry(8, 2, mib=None)))
    costs = read_costs(file)

    assert (costs.capture, costs.memory, costs.pool) == (None, None, None)


def test_a_figure_of_two_sizes_is_predicted_for_the_others(file: Path) -> None:
    file.write_text(document(entry(1, 1, mib=2), entry(4, 2), entry(9, 3, mib=10, pool_mib=5)))
    costs = read_costs(file)

    assert costs.memory == Curve((1, 9), (2.0, 10.0))
    assert costs.pool is None
    assert costs.predicted == (("mib", (4,)),)


def test_a_larger_size_that_was_cheaper_is_averaged_and_named(file: Path) -> None:
    file.write_text(document(entry(1, 1), entry(2, 5), entry(4, 3), entry(8, 9)))
    costs = read_costs(file)

    assert costs.graph == Curve((1, 2, 4, 8), (1.0, 4.0, 4.0, 9.0))
    assert costs.levelled == (("graph_ms", (2, 4)),)


def test_assumed_costs_are_what_they_are_said_to_be() -> None:
    costs = assumed_costs()

    assert not costs.is_measured
    assert costs.unit == "relative"
    for rows in (1, 8, 256, 511, 512, 513, 4096):
        assert costs.graph.at(rows) == 1 + rows / 256
        assert costs.eager.at(rows) == max(3, 1 + rows / 256)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "line 1 is not JSON: Expecting property name enclosed in double quotes"),
        (
            "[]",
            (
                "is not a file of `bench`: it has no `sizes`, such as "
                '[{"size": 1, "eager_ms": 4.0, "graph_ms": 1.5}, ...]'
            ),
        ),
        ('{"sizes": []}', "`version` is None; this release reads 1"),
        ('{"version": 2, "sizes": []}', "`version` is 2; this release reads 1"),
        ('{"version": 1, "sizes": 3}', "`sizes` is not a list"),
        (document(), "`sizes` must hold two sizes or more, to tell how costs grow"),
        (document(entry(1, 1)), "`sizes` must hold two sizes or more, to tell how costs grow"),
        (document(7), "`sizes[0]` is 7, not an object"),
        (document(entry(0, 1)), "`sizes[0].size` is 0; it must be a whole number, 1 or more"),
        (document({"size": 1}), "`sizes[0].eager_ms` is None; it must be a number, more than 0"),
        (document(entry(1, -1)), "`sizes[0].graph_ms` is -1; it must be a number, more than 0"),
        (document(entry(1, 0)), "`sizes[0].graph_ms` is 0; it must be a number, more than 0"),
        (document(entry(1, 1, mib=-1)), "`sizes[0].mib` is -1; it must be a number, 0 or more"),
        (document(entry(1, 1, mib=True)), "`sizes[0].mib` is true; it must be a number, 0 or more"),
        (
            document(entry(1, float("nan"))),
            "`sizes[0].graph_ms` is nan; it must be a number, more than 0",
        ),
        (
            document(entry(1, 1), entry(1, 1)),
            "`sizes[1].size` is 1, which is there before",
        ),
        (
            document(entry(1, 1), entry(2, 1), environment=3),
            "`environment` is 3, not an object",
        ),
        ("[" * 100_000, "is nested too deeply to be a file of `bench`"),
    ],
)
def test_a_mistake_is_one_line_that_says_where(file: Path, text: str, message: str) -> None:
    file.write_text(text, encoding="utf-8")

    with pytest.raises(BadTimesError) as caught:
        read_costs(file)

    assert str(caught.value) == f"bench.json: {message}"


def test_a_file_that_cannot_be_read_is_named(file: Path) -> None:
    with pytest.raises(BadTimesError, match=r"^bench\.json: cannot be read: No such file"):
        read_costs(file)
