"""What driver code around a capture is read into."""

from __future__ import annotations

from pathlib import Path

from capturelint.lint.sites.reading import read_sites
from capturelint.site import Deed, Inside, Site, always_after, excludes
from tests.unit.lint.probe import IMPORTS, linked


def site_of(folder: Path, text: str) -> Site:
    run = linked(folder, {"m.py": IMPORTS + text})
    sites = [site for _, site in read_sites(run)]
    assert len(sites) == 1
    return sites[0]


def told(site: Site, deed: Deed) -> list[str]:
    return [step.about for step in site.steps if step.deed is deed]


SCRIPT = """
def run(xs: list[Tensor]):
    model = nn.Linear(2, 2, device="cuda")
    x = torch.zeros(2, device="cuda")
    graph = torch.cuda.CUDAGraph()
    with torch.no_grad(), torch.cuda.graph(graph):
        y = model(x)
    for one in xs:
        x.copy_(one)
        graph.replay()
        xs[0] = y
    return y
"""


def test_a_function_is_read_in_the_order_of_its_source(tmp_path: Path) -> None:
    site = site_of(tmp_path, SCRIPT)

    assert site.name == "m.run"
    assert told(site, Deed.BIND) == ["model", "x", "graph", "y", "one"]
    assert told(site, Deed.REPLAY) == ["graph"]
    assert told(site, Deed.WRITE) == ["xs"]
    assert [s.name for s in site.steps if s.deed is Deed.CALL and s.name] == [
        "torch.nn.Linear",
        "torch.zeros",
        "torch.cuda.CUDAGraph",
        "torch.no_grad",
    ]


def test_a_region_knows_its_graph_and_what_goes_in_and_out(tmp_path: Path) -> None:
    site = site_of(tmp_path, SCRIPT)
    (region,) = site.regions

    assert region.graph == "graph"
    assert list(site.inputs(region)) == ["x"]
    assert site.inputs(region)["x"].value.is_device_tensor
    assert list(site.outputs(region)) == ["y"]


def test_capture_begin_and_end_bound_a_region(tmp_path: Path) -> None:
    site = site_of(
        tmp_path,
        """
def run(x: Tensor, graph):
    graph.capture_begin(capture_error_mode="relaxed")
    y = x + 1
    graph.capture_end()
    z = y + 1
""",
    )
    (region,) = site.regions

    assert list(site.outputs(region)) == ["y"]
    assert region.keywords == (("capture_error_mode", "relaxed"),)


def test_the_methods_of_a_class_are_one_site(tmp_path: Path) -> None:
    site = site_of(
        tmp_path,
        """
class Runner:
    def capture(self, x: Tensor):
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph):
            self.y = x + 1

    def run(self):
        self.graph.replay()
        return self.y
""",
    )
    (replay,) = [step for step in site.steps if step.deed is Deed.REPLAY]

    assert replay.about == site.regions[0].graph == "self.graph"
    assert replay.function.name == "run"
    assert excludes(site.regions[0].blocks, replay.blocks)


def test_arms_of_one_branch_exclude_each_other(tmp_path: Path) -> None:
    site = site_of(
        tmp_path,
        """
def run(x: Tensor, graph, is_first: bool):
    if is_first:
        with torch.cuda.graph(graph):
            y = x + 1
    else:
        graph.replay()
    graph.replay()
""",
    )
    inside, after = [step for step in site.steps if step.deed is Deed.REPLAY]
    region = site.regions[0]

    assert excludes(region.blocks, inside.blocks)
    assert not excludes(region.blocks, after.blocks)
    assert not always_after(after.blocks, region.blocks)
    assert [block.inside for block in inside.blocks] == [Inside.FUNCTION, Inside.BRANCH]


def test_a_graph_context_may_be_one_arm_of_a_choice(tmp_path: Path) -> None:
    site = site_of(
        tmp_path,
        """
def run(x: Tensor, graph, n: int):
    with torch.cuda.graph(graph) if n else torch.no_grad():
        y = x + 1
""",
    )

    assert [region.graph for region in site.regions] == ["graph"]


def test_places_count_characters_though_python_counts_bytes(tmp_path: Path) -> None:
    site = site_of(
        tmp_path,
        """
def run(x: Tensor, graph):
    with torch.cuda.graph(graph):
        y = ("é", x + 1)
""",
    )
    (read,) = [step for step in site.steps if step.about == "x"]

    assert (read.span.column, read.span.end_column) == (18, 19)
