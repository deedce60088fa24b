"""Random programs through `bisect --fix`, each rewrite held against the old program by other means."""

from __future__ import annotations

import gc
import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple, NoReturn

from tests.before_forks import prepare
from tests.programs import program

MAKER = """

def inputs(seed):
    g = torch.Generator().manual_seed(seed)
    return torch.randn(3, 4, generator=g), torch.randn(3, 4, generator=g), torch.rand(3, 4, generator=g) > 0.5
"""
_LONGEST = 120  # seconds for one program


class Outcome(NamedTuple):
    """What became of one program. `kind`: patched, kept, clean, broken, wrong or died.

    `broken`: it does not run eagerly. `wrong`: a patch that something tells from the old program.
    """

    seed: int
    kind: str
    why: str


def outcomes(seeds: Iterable[int], folder: Path, *, is_proven: bool = True) -> Iterator[Outcome]:
    """Yield what became of each program; each runs in a process of its own.

    `is_proven`: False to leave out the proof, so that the source's conditions alone decide.
    """
    prepare("capturelint.rewrite.proof.judge", "tests.program_judge")

    for seed in seeds:
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reading)
            _answer(seed, folder, writing, is_proven=is_proven)
        os.close(writing)
        with os.fdopen(reading, encoding="utf-8") as pipe:
            said = pipe.read()
        os.waitpid(child, 0)
        kind, why = json.loads(said) if said else ("died", "")
        yield Outcome(seed, kind, why)


def _answer(seed: int, folder: Path, writing: int, *, is_proven: bool) -> NoReturn:
    import signal

    import torch

    signal.alarm(_LONGEST)
    torch.set_num_threads(1)
    gc.disable()  # what lives a second leaves little garbage
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 1)
    os.dup2(nothing, 2)
    try:
        answer = _outcome(program(seed) + MAKER, seed, folder, is_proven=is_proven)
    except BaseException as error:  # noqa: BLE001 - the parent tells
        answer = ("broken", f"{type(error).__name__}: {error}"[:200])
    with os.fdopen(writing, "w", encoding="utf-8") as pipe:
        pipe.write(json.dumps(answer))
    os._exit(0)


def _outcome(text: str, seed: int, folder: Path, *, is_proven: bool) -> tuple[str, str]:
    from capturelint.rewrite.proof import observing
    from capturelint.rewrite.proof.kept import KeptError
    from tests.program_judge import difference

    path = folder / f"program_{seed}.py"
    trains = seed % 2 == 0
    # Half the inputs of the proof, in half the time, let no fewer patches through.
    observing._STEPS = 1  # noqa: SLF001
    if not is_proven:
        _leave_out_the_proof()
    try:
        new = rewritten(path, text, trains=trains)
    except KeptError as error:
        return "kept", str(error)
    if new == text:
        return "clean", ""
    why = difference(text, new, trains=trains)
    return ("wrong", f"{why}\n{text}\n{new}") if why else ("patched", "")


def rewritten(path: Path, text: str, *, trains: bool) -> str:
    """Return a program whose `M.forward` is rewritten, whatever of it is to blame. Writes it to `path`.

    The search for what is to blame and the second judgement are left out: they take as long as the
    rewriting, and could only drop a patch. Raises `KeptError`, or `CaseError` for one that does not run.
    """
    from capturelint.debug import backends
    from capturelint.debug.attempts.attempt import Tally
    from capturelint.debug.cases.loading import load
    from capturelint.debug.instance import Current
    from capturelint.debug.ledger import Ledger
    from capturelint.debug.modules import Modules
    from capturelint.debug.settings import Settings
    from capturelint.debug.warmup import warmed_up
    from capturelint.rewrite.buffers import with_buffers
    from capturelint.rewrite.origins import origins_of
    from capturelint.rewrite.proof.function import Rewriting
    from capturelint.rewrite.proof.trial import Bench

    path.write_text(text, encoding="utf-8")
    settings = Settings(backend="simulated", train=trains)
    backend, _ = backends.chosen(settings)
    make = load(f"{path}:M", inputs=f"{path}:inputs", settings=settings)
    with backend.session():
        warm = warmed_up(Current(make, backend, settings), make, backend, settings, Tally())
        ledger = Ledger({}, lambda _: None, backend.spent)
        modules = Modules(warm, backend, settings, ledger, Tally())
        (part,) = warm.instance.parts.values()
        bench = Bench(part, warm.instance, modules, backend, settings, lambda: None)
        rewriting = Rewriting(str(path), "M.forward", text, bench, (), origins_of(text))
        rewriting.run()
    return with_buffers(rewriting.text, rewriting.buffers)


def _leave_out_the_proof() -> None:
    from capturelint.rewrite.proof import function
    from capturelint.rewrite.proof.comparison import Comparison

    for owner, name, answer in (
        (Comparison, "forward", ""),
        (Comparison, "backward", ""),
        (Comparison, "with_others", ""),
        (function, "check_both_ways", None),
    ):
        setattr(owner, name, lambda *_, answer=answer: answer)
