"""Random programs through `bisect --fix`, each rewrite held against the old program by other means.

`python -m tests.rewritten_programs FIRST COUNT` prints what became of each kind, and those that are wrong.
"""

from __future__ import annotations

import copy
import json
import os
import random
import sys
import tempfile
import time
import types
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from tests.programs import program
from tests.unit.rewrite.cases import Example, judged

_TRIALS = 80
_MAKER = """

def inputs(seed):
    g = torch.Generator().manual_seed(seed)
    return torch.randn(3, 4, generator=g), torch.randn(3, 4, generator=g), torch.rand(3, 4, generator=g) > 0.5
"""


def outcomes(seeds: range, folder: Path) -> Iterator[tuple[int, str, str]]:
    """Yield for each seed `patched`, `kept`, `clean`, `broken` or `wrong`, and in words why.

    Each program runs in a process of its own. `broken`: it does not run eagerly.
    """
    import capturelint.debug.simulated
    import capturelint.rewrite.proof.judge  # noqa: F401 - imported once, before the forks

    for seed in seeds:
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reading)
            _answer(seed, folder, writing)
        os.close(writing)
        with os.fdopen(reading, encoding="utf-8") as pipe:
            said = pipe.read()
        os.waitpid(child, 0)
        kind, why = json.loads(said) if said else ("died", "")
        yield seed, kind, why


def _answer(seed: int, folder: Path, writing: int) -> None:
    import torch

    torch.set_num_threads(1)
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 1)
    os.dup2(nothing, 2)
    try:
        answer = _outcome(seed, folder)
    except BaseException as error:  # noqa: BLE001 - the parent tells
        answer = ("broken", f"{type(error).__name__}: {error}"[:200])
    with os.fdopen(writing, "w", encoding="utf-8") as pipe:
        pipe.write(json.dumps(answer))
    os._exit(0)


def _outcome(seed: int, folder: Path) -> tuple[str, str]:
    text = program(seed) + _MAKER
    path = folder / f"program_{seed}.py"
    path.write_text(text, encoding="utf-8")
    trains = seed % 2 == 0
    example = Example(path, "M", "inputs", text, "", is_clean=False, trains=trains)
    report = judged(replace(example))
    if not report.rewrites:
        why = report.kept[0].reason if report.kept else ""
        return ("kept" if report.verdict.is_failure else "clean"), why
    new = report.rewrites[0].text
    for trial in range(_TRIALS):
        why = _difference(text, new, trial, trains=trains)
        if why:
            return "wrong", f"trial {trial}: {why}\n{text}\n{new}"
    return "patched", report.rewrites[0].notes[0]


def _made(text: str) -> Any:
    module = types.ModuleType("program")
    exec(compile(text, "program", "exec"), module.__dict__)
    return module


def _difference(old: str, new: str, trial: int, *, trains: bool) -> str:
    """Return what tells two programs apart on one input, "" if nothing does."""
    import torch

    came = []
    for text in (old, new):
        module = _made(text)
        model = module.M().train(trains)
        given = _drawn(module.inputs(5000 + trial), random.Random(trial))
        came.append((_ran(model, given), _slopes(copy.deepcopy(model), given, trial)))
    for mine, theirs in zip(*came, strict=True):
        if len(mine) != len(theirs):
            return f"{mine[:1]} and {theirs[:1]}"
        for one, other in zip(mine, theirs, strict=True):
            if isinstance(one, str) or isinstance(other, str):
                if one != other:
                    return f"{one} and {other}"
            elif (one.dtype, one.shape) != (other.dtype, other.shape):
                return "another type or shape"
            elif not torch.allclose(one, other, rtol=1e-3, atol=1e-5, equal_nan=True):
                return f"{one} and {other}"
    return ""


def _drawn(given: tuple[Any, ...], rng: random.Random) -> list[Any]:
    found = []
    for one in given:
        if one.is_floating_point():
            found.append(one * rng.choice((1.0, 0.1, 5.0)) + rng.choice((0.0, 0.5, -0.5, 2.0)))
            if rng.random() < 0.15:
                found[-1] = found[-1].round()
        else:
            found.append(rng.choice((one, ~one, one & False, one | True)))
    return found


def _ran(model: Any, given: list[Any]) -> list[Any]:
    import torch

    own = [one.clone() for one in given]
    try:
        with torch.no_grad():
            results = model(*own)
    except Exception as error:  # noqa: BLE001 - the other must raise the same
        return [type(error).__name__]
    return [*results, *own, model.seen.clone()]


def _slopes(model: Any, given: list[Any], trial: int) -> list[Any]:
    """Return gradients where the results are finite."""
    import torch

    if trial % 2:
        return []
    own = [one.clone().requires_grad_() if one.is_floating_point() else one for one in given]
    wanted = [one for one in (*own, *model.parameters()) if one.requires_grad]
    try:
        results = model(*(one * 1 if one.is_floating_point() else one for one in own))
        total = sum((one.double() * 0.7).sum() for one in results)
        if not bool(torch.isfinite(torch.as_tensor(total))):
            return []
        return list(torch.autograd.grad(total, wanted, materialize_grads=True, allow_unused=True))
    except Exception as error:  # noqa: BLE001 - the other must raise the same
        return [type(error).__name__]


def main() -> int:
    """Run programs from a first seed on, and print the counts and all that is wrong."""
    first, count = int(sys.argv[1]), int(sys.argv[2])
    counts, started = Counter[str](), time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        for seed, kind, why in outcomes(range(first, first + count), Path(folder)):
            counts[kind] += 1
            if kind in ("wrong", "died"):
                print(f"{seed}: {kind}: {why}", flush=True)  # noqa: T201 - its answer
    print(dict(counts), f"{time.monotonic() - started:.0f} s")  # noqa: T201 - its answer
    return 1 if counts["wrong"] or counts["died"] else 0


if __name__ == "__main__":
    sys.exit(main())
