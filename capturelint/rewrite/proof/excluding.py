"""Let modules to blame run eagerly between captured pieces: change their classes, and run the case so."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from types import FunctionType
from typing import Any

import torch
from torch import Tensor, nn

from capturelint.debug.attempts.attempt import Tally, attempt
from capturelint.debug.attempts.part import Part, named
from capturelint.debug.frames import is_users_file
from capturelint.debug.outcome import Outcome
from capturelint.debug.paths import is_below
from capturelint.debug.trees.parked import back
from capturelint.debug.warmup import Warm
from capturelint.errors import shown_path
from capturelint.finding import Fix
from capturelint.rewrite.compose import applied
from capturelint.rewrite.excluding.breaking import BETWEEN, OLD, CannotExcludeError, broken_out
from capturelint.rewrite.excluding.engines import Module
from capturelint.rewrite.imports import torch_in_file
from capturelint.rewrite.proof.breaking import Breaks, breaking
from capturelint.rewrite.proof.kept import KeptError
from capturelint.rewrite.proof.swapping import CannotSwapError, code_in
from capturelint.rewrite.proof.trial import Bench, is_exact
from capturelint.source import SourceFile
from capturelint.verdict import Verdict

_PASSES = (Verdict.EQUAL, Verdict.ALIASES_INPUT)
_WHOLE = (
    "it is the whole model that is to blame: move what the line does into a module of its own, which"
    " can run eagerly"
)


@dataclass(frozen=True, slots=True)
class Excluded:
    """A module that is to run eagerly. `path`: of the file that holds its class. `told`: what it is like."""

    cls: type[nn.Module]
    path: str
    told: Module


def outermost(paths: Iterable[str]) -> list[str]:
    """Return the paths that are below no other."""
    found = list(dict.fromkeys(paths))
    return [
        one for one in found if not any(is_below(one, other) for other in found if other != one)
    ]


def excluded(path: str, warm: Warm, part: Part | None) -> Excluded:
    """Return what there is to know about the module at `path`. Raises `KeptError`.

    `part`: what it received and returned.
    """
    module = warm.instance.modules.get(path)
    if path in warm.instance.parts or module is None:
        raise KeptError(_WHOLE)
    if warm.instance.case.mode == "train":
        raise KeptError("a step with gradients is not captured in pieces")
    if part is None or part.varies or not part.results:
        raise KeptError("what its module receives or returns is not known, or varies")
    cls = type(module)
    file = _file_of(cls)
    like = _returned_like(part)
    given = named(part.run, part.steps[0][0])
    kinds = {name: _kind(one) for name, one in given.items()}
    typed = tuple((name, kind) for name, kind in kinds.items() if kind)
    others = tuple(name for name, kind in kinds.items() if not kind)
    return Excluded(cls, file, Module(path, cls.__name__, typed, others, like))


def _kind(value: object) -> str:
    """Return the type of an argument as the schema of an operation has it, "" where it has none."""
    if isinstance(value, Tensor):
        return "torch.Tensor"
    return type(value).__name__ if type(value) in (bool, int, float, str) else ""


def _file_of(cls: type) -> str:
    try:
        file = inspect.getsourcefile(cls) or ""
    except (OSError, TypeError):
        file = ""
    if not file or not is_users_file(file):
        raise KeptError(f"the source of {cls.__name__} is not yours")
    return file


def _returned_like(part: Part) -> str:
    """Return which argument the result of a module is always like, "" for none. Raises `KeptError`."""
    results = [back(one) for step in part.results for one in step]
    if not all(isinstance(one, Tensor) for one in results):
        raise KeptError("its module returns more than a tensor")
    calls = [named(part.run, call) for step in part.steps for call in step]
    pairs = list(zip(calls, results, strict=True))
    alike = (
        name
        for name in calls[0]
        if all(_form(call.get(name)) == _form(result) for call, result in pairs)
    )
    return next(alike, "")


def _form(value: object) -> object:
    if isinstance(value, Tensor):
        return tuple(value.shape), value.dtype, value.device.type
    return None


def changed(text: str, those: Sequence[Excluded]) -> str:
    """Return the text of a file with classes of it changed. Raises `KeptError`."""
    for one in those:
        known = torch_in_file(SourceFile.of(text))
        if known is None:
            raise KeptError("what `torch` is called in its file cannot be told")
        if not one.told.like:
            raise KeptError(
                "its result has not the shape and type of an input, so that no buffer can be made for it"
                " before it runs"
            )
        text = applied(text, [Fix("proven", known.edits)])
        try:
            text = broken_out(text, one.cls.__qualname__, like=one.told.like, torch=known.name)
        except CannotExcludeError as error:
            raise KeptError(str(error)) from error
    return text


def proven(
    texts: dict[str, str],
    those: Sequence[Excluded],
    warm: Warm,
    benches: Sequence[Bench],
) -> str:
    """Return what the proof came to, in words. Raises `KeptError` if there is none.

    `texts`: new texts of files by path. The callables run eagerly with old and new code, then are
    captured in pieces and replayed on all recorded steps.
    """
    breaks = Breaks()
    steps = [(bench, [*bench.part.steps]) for bench in benches]
    before = [bench.came(calls) for bench, each in steps for calls in each]
    with _classes(texts, those, breaks):
        after = [bench.came(calls) for bench, each in steps for calls in each]
        ways = [bench for bench, each in steps for _ in each]
        for bench, old, new in zip(ways, before, after, strict=True):
            found = bench.difference(old, new)
            if found or not is_exact(old, new):
                raise KeptError(f"run eagerly it is not the same: {found or 'not bit for bit'}")
        for bench in benches:
            _check_pieces(bench, warm, breaks)
    count = sum(len(each) - 1 for _, each in steps)
    return (
        f"proven with {benches[0].backend.name} captures in pieces of capturelint's own, which"
        f" `no_graph` ends as in the package: {count} replays on fresh inputs were equal"
    )


def _check_pieces(bench: Bench, warm: Warm, breaks: Breaks) -> None:
    bench.tell()
    with bench.modules.from_start():
        outcome = attempt(
            bench.part,
            backend=breaking(bench.backend, breaks),
            state=warm.instance.state,
            settings=replace(bench.settings, warmup=1),
            prepare=warm.instance.prepare,
            inputs=warm.inputs.get(bench.part.path),
            fresh=warm.fresh if bench.part.path in warm.inputs else None,
            tally=Tally(),
        )
    if outcome.verdict not in _PASSES:
        raise KeptError(f"captured in pieces, the case is still {_in_words(outcome)}")


def _in_words(outcome: Outcome) -> str:
    at = [f" at {shown_path(one.path)}:{one.line}" for one in outcome.places[:1]]
    why = outcome.why or outcome.message.partition("\n")[0]
    return f"{outcome.verdict.value}{''.join(at)}{f': {why}' if why else ''}"


@contextmanager
def _classes(texts: dict[str, str], those: Sequence[Excluded], breaks: Breaks) -> Iterator[None]:
    """Let classes have the methods that are written in `texts`. Raises `KeptError`."""
    put: list[tuple[type, str, Any]] = []
    try:
        for one in those:
            old = vars(one.cls)["forward"]
            known = torch_in_file(SourceFile.of(texts[one.path]))
            called = "torch" if known is None else known.name
            code = compile(texts[one.path], one.path, "exec")
            new, between = _methods(code, one.cls, old, called, breaks)
            for name, value in (("forward", new), (OLD, old), (BETWEEN, between)):
                put.append((one.cls, name, vars(one.cls).get(name)))
                setattr(one.cls, name, value)
        yield
    finally:
        for cls, name, value in reversed(put):
            if value is None:
                delattr(cls, name)
            else:
                setattr(cls, name, value)


def _methods(
    code: Any, cls: type, old: FunctionType, name: str, breaks: Breaks
) -> tuple[FunctionType, Callable[..., Any]]:
    try:
        codes = [code_in(code, f"{cls.__qualname__}.{one}") for one in ("forward", BETWEEN)]
    except CannotSwapError as error:
        raise KeptError(str(error)) from error
    names = {name: torch, "is_in_breakable_graph": breaks.is_in_breakable_graph}
    new, between = (FunctionType(one, {**old.__globals__, **names}) for one in codes)
    new.__defaults__, new.__kwdefaults__ = old.__defaults__, old.__kwdefaults__
    return new, breaks.no_graph(capture_stub=lambda *_args, **_kwargs: None)(between)


def notes_on(those: Sequence[Excluded], proof: str) -> Iterator[str]:
    """Yield what the user must know of modules that run eagerly."""
    paths: dict[str, list[str]] = {}
    for one in those:
        paths.setdefault(one.cls.__name__, []).append(one.told.path)
    for name, (first, *others) in paths.items():
        more = f" and {len(others)} more" if others else ""
        yield f"{name} ({first}{more}) runs eagerly between captured pieces; {proof}"
    yield (
        "capture with `breakable_graph` of breakable-cuda-graphs, which must be installed,"
        " in place of `torch.cuda.graph`; replay in the modes of the capture, such as `no_grad`"
    )
