"""Nodes of a graph by kind, from a driver that stands in, and kernels in the events of a profile."""

# ruff: noqa: SLF001 - what `byref` points to has no public name
from __future__ import annotations

import ctypes
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import pytest

from capturelint.debug.backend import Counts
from capturelint.debug.cuda import nodes
from capturelint.debug.cuda.nodes import kernels_in, nodes_of, work_in

KERNEL, MEMCPY, MEMSET, CHILD, EMPTY, RECORD = 0, 1, 2, 4, 5, 7


class Driver:
    """Knows graph 1, whose second node is a graph of its own, graph 2."""

    graphs = {1: [10, 11, 12, 13], 2: [20, 21]}  # noqa: RUF012 - never written
    kinds = {10: KERNEL, 11: CHILD, 12: EMPTY, 13: MEMSET, 20: KERNEL, 21: MEMCPY}  # noqa: RUF012

    def __init__(self, status: int = 0) -> None:
        self._status = status

    def cuGraphGetNodes(self, graph: Any, into: Any, count: Any) -> int:
        found = self.graphs[graph.value]
        if into is None:
            count._obj.value = len(found)
        else:
            into[:] = found
        return self._status

    def cuGraphNodeGetType(self, node: Any, kind: Any) -> int:
        kind._obj.value = self.kinds[node.value]
        return 0

    def cuGraphChildGraphNodeGetGraph(self, _node: Any, child: Any) -> int:
        child._obj.value = 2
        return 0


@dataclass
class Kept:
    def raw_cuda_graph(self) -> int:
        return 1


def test_nodes_inside_a_node_count_and_idle_ones_do_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ctypes, "CDLL", lambda _: Driver())

    assert nodes_of(Kept()) == (2, 2)  # type: ignore[arg-type] # stands in for a graph


@pytest.mark.parametrize("status", [1, 999])
def test_a_driver_that_refuses_tells_nothing(status: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ctypes, "CDLL", lambda _: Driver(status))

    assert nodes_of(Kept()) is None  # type: ignore[arg-type] # as above


def test_without_a_driver_nothing_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nodes, "_DRIVER", "libnowhere.so.1")

    assert nodes_of(Kept()) is None  # type: ignore[arg-type] # as above


def test_events_are_no_work() -> None:
    assert work_in({EMPTY: 2, RECORD: 1}) == (0, 0)


def test_copies_and_fills_are_no_kernels() -> None:
    names = ["gemm", "Memcpy DtoD", "Memset (Device)", "cudaLaunchKernel"]
    events = [
        SimpleNamespace(
            name=name, device_type=SimpleNamespace(name="CPU" if "cuda" in name else "CUDA")
        )
        for name in names
    ]

    assert kernels_in(events) == 1
    assert kernels_in(events[-1:]) is None


@pytest.mark.parametrize(
    ("counts", "words"),
    [
        (Counts(3, 2, 0), "an eager call runs 3 kernels, a graph holds 2 kernels"),
        (Counts(1, 0, 2), "an eager call runs 1 kernel, a graph holds 0 kernels and 2 other nodes"),
    ],
)
def test_counts_are_told_in_words(counts: Counts, words: str) -> None:
    assert str(counts) == words
