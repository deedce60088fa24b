"""Work that runs once, while capturing, on a stream or in a thread that the capture does not see."""

from __future__ import annotations

import threading

import torch
from torch import Tensor, nn

from tests.written_inputs import WIDTH, x


class Scales(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        with torch.cuda.stream(torch.cuda.default_stream()):
            scaled = x * 2  # blamed: an_operation_on_the_default_stream
        return scaled + 1


def an_operation_on_the_default_stream() -> object:
    """work-missing."""
    return Scales(), x()


class Measures(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(WIDTH, WIDTH)
        self.norm: Tensor | None = None

    def forward(self, x: Tensor) -> Tensor:
        y: Tensor = self.linear(x)
        with torch.cuda.stream(torch.cuda.default_stream()):
            self.norm = y.norm()  # blamed: a_metric_that_no_result_depends_on
        return y


def a_metric_that_no_result_depends_on() -> object:
    """work-missing."""
    return Measures(), x()


class Fills(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("bias", torch.zeros(WIDTH))
        self.bias: Tensor

    def forward(self, x: Tensor) -> Tensor:
        worker = threading.Thread(
            target=lambda: self.bias.copy_(x[0])  # blamed: a_buffer_that_a_thread_fills
        )
        worker.start()
        worker.join()
        return x + self.bias


def a_buffer_that_a_thread_fills() -> object:
    """work-missing."""
    return Fills(), x()


class Around(nn.Module):
    def __init__(self, inner: nn.Module) -> None:
        super().__init__()
        self.first = nn.Linear(WIDTH, WIDTH)
        self.inner = inner
        self.last = nn.ReLU()

    def forward(self, x: Tensor) -> Tensor:
        y: Tensor = self.last(self.inner(self.first(x)))
        return y


class Counts(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("calls", torch.zeros(()))
        self.calls: Tensor

    def forward(self, x: Tensor) -> Tensor:
        with torch.cuda.stream(torch.cuda.default_stream()):
            self.calls.add_(1)  # blamed: a_counter_in_a_module_below
        return x * 1


def a_counter_in_a_module_below() -> object:
    """work-missing."""
    return Around(Counts()), x()


class Forks(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.side = torch.cuda.Stream()  # type: ignore[no-untyped-call]  # torch leaves it so

    def forward(self, x: Tensor) -> Tensor:
        self.side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(self.side):
            doubled = x * 2
        torch.cuda.current_stream().wait_stream(self.side)
        return doubled + 1


def a_side_stream_that_forks_and_joins() -> object:
    """replays-equal."""
    return Forks(), x()


class Looks(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        with torch.cuda.stream(torch.cuda.default_stream()):
            row = x[0]
        return x + row


def only_a_view_on_the_default_stream() -> object:
    """replays-equal."""
    return Looks(), x()


class Asks(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        if torch.cuda.is_current_stream_capturing():
            return x * 2
        with torch.cuda.stream(torch.cuda.default_stream()):
            return x * 2


def the_default_stream_unless_a_stream_is_capturing() -> object:
    """replays-equal."""
    return Asks(), x()


class Enters(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        with torch.cuda.stream(torch.cuda.current_stream()):
            return x * 2


def the_current_stream_entered_again() -> object:
    """replays-equal."""
    return Enters(), x()
