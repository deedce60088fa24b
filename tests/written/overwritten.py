"""Outputs of graphs that are kept: by reference they change with the next replay, as copies they stay."""

from __future__ import annotations

import torch
from torch import Tensor, nn

import capturelint
from tests.written_inputs import SHAPE, WIDTH


def _rows(seed: int, more: int = 0) -> tuple[Tensor]:
    return (torch.randn(SHAPE, generator=torch.Generator().manual_seed(100 * more + seed)),)


class Feeds(nn.Module):
    """Adds what `hidden` holds, and leaves its own hidden state in `last`."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(WIDTH, WIDTH)
        self.register_buffer("hidden", torch.zeros(SHAPE))
        self.hidden: Tensor
        self.last: Tensor | None = None

    def forward(self, x: Tensor) -> Tensor:
        y: Tensor = self.linear(x + self.hidden).tanh()
        self.last = y * 2
        return y * 3


def the_last_output_copied_in() -> object:
    """replays-equal."""
    model = Feeds()

    def prepare(_: int) -> None:
        if model.last is not None:
            model.hidden.copy_(model.last)

    return capturelint.Case(model, _rows, prepare=prepare)


def the_output_before_kept_by_reference() -> object:
    """overwritten."""
    model = Feeds()
    kept: list[Tensor] = []

    def prepare(_: int) -> None:
        if model.last is not None:
            kept.append(model.last)
        if len(kept) > 1:
            model.hidden.copy_(kept[-2])  # blamed: the_output_before_kept_by_reference

    return capturelint.Case(model, _rows, prepare=prepare)


def the_output_before_kept_as_a_copy() -> object:
    """replays-equal."""
    model = Feeds()
    kept: list[Tensor] = []

    def prepare(_: int) -> None:
        if model.last is not None:
            kept.append(model.last.clone())
        if len(kept) > 1:
            model.hidden.copy_(kept[-2])

    return capturelint.Case(model, _rows, prepare=prepare)


class History:
    """Keeps what it is given, by reference or as copies."""

    def __init__(self, *, copies: bool) -> None:
        self.copies = copies
        self.kept: list[Tensor] = []

    def add(self, output: Tensor | None) -> None:
        if output is not None:
            self.kept.append(output.clone() if self.copies else output)

    def mean(self) -> Tensor:
        return torch.stack(self.kept[-3:]).mean(0)  # blamed: a_mean_of_outputs_kept_by_reference


def _smoothed(*, copies: bool) -> object:
    model, history = Feeds(), History(copies=copies)

    def prepare(_: int) -> None:
        history.add(model.last)
        if history.kept:
            model.hidden.copy_(history.mean())

    return capturelint.Case(model, _rows, prepare=prepare)


def a_mean_of_outputs_kept_by_reference() -> object:
    """overwritten."""
    return _smoothed(copies=False)


def a_mean_of_outputs_kept_as_copies() -> object:
    """replays-equal."""
    return _smoothed(copies=True)


class Draft(nn.Module):
    """Guesses from `hint`, and leaves its hidden state for the target."""

    def __init__(self, box: dict[str, Tensor]) -> None:
        super().__init__()
        self.box = box
        self.linear = nn.Linear(WIDTH, WIDTH)
        self.register_buffer("hint", torch.zeros(SHAPE))
        self.hint: Tensor

    def forward(self, x: Tensor) -> Tensor:
        y: Tensor = self.linear(x).relu() + self.hint
        self.box["hidden"] = y * 2
        return y


class Target(nn.Module):
    """Goes on from the hidden state of the draft, and leaves its own."""

    def __init__(self, box: dict[str, Tensor]) -> None:
        super().__init__()
        self.box = box
        self.linear = nn.Linear(WIDTH, WIDTH)

    def forward(self, x: Tensor) -> Tensor:
        y: Tensor = self.linear(x) + self.box["hidden"]
        self.box["verified"] = y + 1
        return y


def _pair() -> tuple[Draft, Target, dict[str, Tensor]]:
    box = {name: torch.zeros(SHAPE, device="cuda") for name in ("hidden", "verified")}
    return Draft(box), Target(box), box


def _for_both(seed: int) -> dict[str, tuple[Tensor]]:
    return {"draft": _rows(seed), "target": _rows(seed, more=1)}


def a_hidden_state_handed_on() -> object:
    """replays-equal."""
    draft, target, _ = _pair()
    return capturelint.Case({"draft": draft, "target": target}, _for_both)


def a_verified_state_copied_for_the_next_step() -> object:
    """replays-equal."""
    draft, target, box = _pair()

    def prepare(_: int) -> None:
        draft.hint.copy_(box["verified"])

    return capturelint.Case({"draft": draft, "target": target}, _for_both, prepare=prepare)


def a_verified_state_of_two_steps_ago() -> object:
    """overwritten."""
    draft, target, box = _pair()
    before: dict[str, Tensor] = {}

    def prepare(_: int) -> None:
        if "verified" in before:
            draft.hint.copy_(before["verified"])  # blamed: a_verified_state_of_two_steps_ago
        before["verified"] = box["verified"]

    return capturelint.Case({"draft": draft, "target": target}, _for_both, prepare=prepare)


def drafts_compared_with_those_before() -> object:
    """overwritten."""
    draft, target, box = _pair()
    drafts = [box["hidden"]]

    def prepare(_: int) -> None:
        gained = box["hidden"] - drafts[-1]  # blamed: drafts_compared_with_those_before
        drafts.append(box["hidden"])
        draft.hint.copy_(gained)

    return capturelint.Case({"draft": draft, "target": target}, _for_both, prepare=prepare)


def drafts_kept_and_never_read() -> object:
    """replays-equal."""
    draft, target, box = _pair()
    drafts: list[Tensor] = []

    def prepare(_: int) -> None:
        drafts.append(box["hidden"])

    return capturelint.Case({"draft": draft, "target": target}, _for_both, prepare=prepare)


class Returns(nn.Module):
    """Adds what the target of the step before left, at whatever address that is."""

    def __init__(self, box: dict[str, Tensor]) -> None:
        super().__init__()
        self.box = box

    def forward(self, x: Tensor) -> Tensor:
        return x + self.box["verified"]


class Verifies(nn.Module):
    def __init__(self, box: dict[str, Tensor]) -> None:
        super().__init__()
        self.box = box
        self.linear = nn.Linear(WIDTH, WIDTH)

    def forward(self, x: Tensor) -> Tensor:
        y: Tensor = self.linear(x)
        self.box["verified"] = y + 1  # blamed: an_address_of_the_step_before
        return y


def an_address_of_the_step_before() -> object:
    """stale-on-replay."""
    box = {"verified": torch.zeros(SHAPE, device="cuda")}
    return capturelint.Case({"draft": Returns(box), "target": Verifies(box)}, _for_both)


class Fills(Verifies):
    def forward(self, x: Tensor) -> Tensor:
        y: Tensor = self.linear(x)
        self.box["verified"].copy_(y + 1)
        return y


def a_buffer_that_the_step_before_filled() -> object:
    """replays-equal."""
    box = {"verified": torch.zeros(SHAPE, device="cuda")}
    return capturelint.Case({"draft": Returns(box), "target": Fills(box)}, _for_both)
