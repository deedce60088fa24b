"""Modules that run eagerly between captured pieces, on the simulator."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

torch = pytest.importorskip("torch")

if TYPE_CHECKING:
    from capturelint.verdict import Report
    from tests.conftest import InFork

SOURCE = '''\
"""Models with a module that no rewrite mends."""

import torch
from torch import Tensor, nn


class Inner(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.count = 0

    def forward(self, x: Tensor, scale: float = 1.0) -> Tensor:
        self.count += 1
        for _ in range(int(x.abs().max().item() * 10) % 3):
            x = x * 1.5 + self.count
        return x * scale


class Wide(Inner):
    def forward(self, x: Tensor, scale: float = 1.0) -> Tensor:
        return super().forward(x, scale).repeat(2, 1)


class Model(nn.Module):
    def __init__(self, inner: type[nn.Module] = Inner) -> None:
        super().__init__()
        self.first = nn.Linear(4, 4)
        self.inner = inner()

    def forward(self, x: Tensor) -> Tensor:
        return self.inner(torch.relu(self.first(x)), scale=0.5) + 1


class Widened(Model):
    def __init__(self) -> None:
        super().__init__(Wide)


class Both(Model):
    def forward(self, x: Tensor) -> Tensor:
        x = super().forward(x)
        return x * len(str(x.sum().item()))


def inputs(seed: int) -> Tensor:
    return torch.randn(2, 4, generator=torch.Generator().manual_seed(seed))
'''


def judged(path: Path, name: str, form: str) -> Report:
    from capturelint.debug import backends
    from capturelint.debug.cases.loading import load
    from capturelint.debug.settings import Settings
    from capturelint.rewrite.allowed import Allowed
    from capturelint.rewrite.proof.judge import judge_and_rewrite

    path.write_text(SOURCE, encoding="utf-8")
    settings = Settings(backend="simulated")
    backend, _ = backends.chosen(settings)
    made = load(f"{path}:{name}", inputs=f"{path}:inputs", call=None, settings=settings)
    with backend.session():
        return judge_and_rewrite(
            made, backend, settings, known={}, emit=lambda _: None, allowed=Allowed(exclude_as=form)
        )


def test_a_module_runs_eagerly_between_pieces_whose_replays_are_equal(
    tmp_path: Path, in_fork: InFork
) -> None:
    def body() -> None:
        report = judged(tmp_path / "m.py", "Model", "torch")

        (rewrite,) = report.rewrites
        assert "class Inner(nn.Module):\n" in rewrite.text
        assert "        output = torch.empty_like(x)\n" in rewrite.text
        assert rewrite.notes[0].endswith("6 replays on fresh inputs were equal")
        assert (report.kept, len(rewrite.places)) == ((), 1)

    in_fork(body)


def test_a_buffer_that_is_not_filled_at_each_replay_is_no_proof(
    tmp_path: Path, in_fork: InFork, monkeypatch: pytest.MonkeyPatch
) -> None:
    from capturelint.rewrite.excluding.breaking import broken_out
    from capturelint.rewrite.proof import excluding

    def unfilled(*given: object, **named: str) -> str:
        return broken_out(*given, **named).replace("output.view_as(result).copy_(result)", "pass")  # type: ignore[arg-type] # as it was called

    monkeypatch.setattr(excluding, "broken_out", unfilled)

    def body() -> None:
        report = judged(tmp_path / "m.py", "Model", "torch")

        assert report.rewrites == ()
        assert (
            "not run eagerly: captured in pieces, the case is still stale-on"
            in report.kept[0].reason
        )

    in_fork(body)


@pytest.mark.parametrize(
    ("name", "why"),
    [
        (
            "Both",
            [
                "captured in pieces, the case is still refuses-capture at ",
                "it is the whole model that is to blame",
            ],
        ),
        ("Widened", ["its result has not the shape and type of an input"]),
    ],
)
def test_what_is_not_proven_stays_with_the_reason(
    name: str, why: list[str], tmp_path: Path, in_fork: InFork
) -> None:
    def body() -> None:
        report = judged(tmp_path / "m.py", name, "torch")

        assert report.rewrites == ()
        reasons = [one.reason.partition("; not run eagerly: ")[2] for one in report.kept]
        assert len(reasons) == len(why)
        assert all(reason.startswith(words) for reason, words in zip(reasons, why, strict=True))

    in_fork(body)


def test_what_pad_rows_leak_is_not_mended_by_running_it_eagerly() -> None:
    from capturelint.finding import Effect
    from capturelint.rewrite.proof.exclusions import Exclusions
    from capturelint.verdict import Certainty, Culprit, Kept, Place

    place = Place("m.py", 3)
    leaking = Culprit("inner", "Inner", place, "", Effect.LEAKS, Certainty.SHOWN, "")
    nothing: Any = SimpleNamespace(instance=SimpleNamespace(parts={"": None}))
    exclusions = Exclusions(nothing, nothing, nothing, nothing, nothing, nothing)

    assert exclusions.classes([leaking], [Kept(place, "why")]) == []
    assert exclusions.kept({}, "torch") == [Kept(place, "why")]


def test_for_a_server_it_is_said_what_to_write(tmp_path: Path, in_fork: InFork) -> None:
    def body() -> None:
        report = judged(tmp_path / "m.py", "Model", "vllm")

        (words,) = report.suggestions
        assert "    x: torch.Tensor,\n    scale: float,\n    output: torch.Tensor,\n" in words
        assert (report.rewrites, len(report.kept)) == ((), 1)

    in_fork(body)
