"""What every test starts from."""

from __future__ import annotations

import gc
import os
import traceback
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn, TypeAlias

import pytest

from tests.before_forks import prepare

InFork: TypeAlias = Callable[[Callable[[], object]], None]
ALL_CASES = "--all-cases"
SHARE = "CAPTURELINT_TESTS_SHARE"  # "1/6": every sixth test is run, from the second on


# Threads of torch in each of several processes wait for each other, and compute while they wait.
os.environ.setdefault("OMP_NUM_THREADS", "1")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option that runs whole sweeps."""
    told = "of tests marked `sweep`, run every case and not one in so many"
    parser.addoption(ALL_CASES, action="store_true", help=told)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Skip, of the many cases of a sweep, all but one in so many: each takes seconds.

    Inside another Python one test in so many is run. Files with slow tests come first, so that no
    worker is left with one of them when the others have nothing more to do.
    """
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: item.path not in slow)
    if config.getoption(ALL_CASES):
        return
    first, _, every = os.environ.get(SHARE, "0/1").partition("/")
    items[:] = items[int(first) :: int(every)]
    seen: Counter[str] = Counter()
    for item in items:
        mark = item.get_closest_marker("sweep")
        if mark is None:
            continue
        (every,) = mark.args
        name = item.nodeid.partition("[")[0]
        if not every or seen[name] % every:
            reason = f"{f'one case in {every}' if every else 'a part'} is run; {ALL_CASES} runs all"
            item.add_marker(pytest.mark.skip(reason=reason))
        seen[name] += 1


def pytest_collection_finish() -> None:
    """Spare every later collection of garbage the modules and tests that are here to stay.

    They are half a million objects, and what is tested collects garbage often.
    """
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def _own_secret(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep the user's folder for caches out of the tests, and what one test caches from others."""
    home: Path = tmp_path_factory.mktemp("user-cache")
    monkeypatch.setenv("XDG_CACHE_HOME", str(home))


@pytest.fixture(autouse=True)
def _no_device(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Hide GPUs from all tests but those marked `gpu`: what they expect is what the simulator says."""
    if request.node.get_closest_marker("gpu") is None:
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")


@pytest.fixture
def in_fork() -> InFork:
    """Return what runs a function in a forked process, where it may leave traces.

    A backward starts threads of torch, after which no process forked from here can run one.
    """
    prepare("capturelint.rewrite.proof.judge")
    return _run


def _run(body: Callable[[], object]) -> None:
    reading, writing = os.pipe()
    with warnings.catch_warnings():
        # Python 3.12 warns of torch's threads, which have nothing to do in the child.
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        os.close(reading)
        _answer(body, writing)
    os.close(writing)
    with os.fdopen(reading, encoding="utf-8") as pipe:
        answer = pipe.read()
    _, status = os.waitpid(child, 0)
    if answer != "passed":
        ended = os.waitstatus_to_exitcode(status)
        pytest.fail(answer or f"the process ended with status {ended}", pytrace=False)


def _answer(body: Callable[[], object], writing: int) -> NoReturn:
    import torch

    torch.set_num_threads(1)  # a pool of threads does not survive a fork
    gc.freeze()  # what the parent holds, which is much, is not looked through
    try:
        body()
        answer = "passed"
    except BaseException:  # noqa: BLE001 - the parent tells
        answer = traceback.format_exc()
    with os.fdopen(writing, "w", encoding="utf-8") as pipe:
        pipe.write(answer)
    os._exit(0)  # nothing of the parent's may run in the child
