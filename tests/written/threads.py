"""Work in other threads, which a capture does not see."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

from torch import Tensor, nn

from tests.written_inputs import x


class Starts(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        out: list[Tensor] = []
        thread = threading.Thread(target=lambda: out.append(x * 2))  # blamed: a_thread
        thread.start()
        thread.join()
        return out[0]


def a_thread() -> object:
    """empty-graph."""
    return Starts(), x()


class Submits(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.pool: ThreadPoolExecutor | None = None

    def forward(self, x: Tensor) -> Tensor:
        if self.pool is None:
            self.pool = ThreadPoolExecutor(1)
        return x + self.pool.submit(self.doubled, x).result()

    def doubled(self, x: Tensor) -> Tensor:
        return x * 2  # blamed: a_pool_of_threads


def a_pool_of_threads() -> object:
    """work-missing."""
    return Submits(), x()


class Waits(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        thread = threading.Thread(target=lambda: sum(range(9)))
        thread.start()
        thread.join()
        return x * 2


def a_thread_that_works_on_the_host() -> object:
    """replays-equal."""
    return Waits(), x()
