"""The options of commands that run a case, read one by one: each mistake is one clear line."""

from __future__ import annotations

import argparse
import math
from collections.abc import Collection, Sequence
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from capturelint.errors import CapturelintError

if TYPE_CHECKING:
    from capturelint.debug.settings import Settings

_BACKENDS = ("auto", "cuda", "simulated")
_DTYPES = ("float16", "bfloat16", "float32", "float64")
_AUTOCAST = ("float16", "bfloat16")
_MODES = ("global", "thread_local", "relaxed")
_AUTO = "auto"
_LARGEST_SEED = 2**32 - 1  # the largest that numpy takes
_LONGEST_SHOWN = 60  # characters of a wrong value
_OFTEN = "repeat, or separate by commas"

# Name, what stands for its value, the value that is used if it is not given, and what it does.
_ONCE = (
    (
        "--backend",
        "|".join(_BACKENDS),
        _AUTO,
        "simulated needs no GPU; auto: a GPU where there is one",
    ),
    ("--dtype", "TYPE", None, f"run in {', '.join(_DTYPES)}; left out: as the case is"),
    ("--autocast", "TYPE", None, f"run under autocast to {' or '.join(_AUTOCAST)}"),
    ("--replays", "N", "6", "replays on fresh inputs"),
    ("--warmup", "N|auto", _AUTO, "eager calls before a capture; auto: until state is stable"),
    ("--seed", "N", "0", "seed of inputs and random numbers"),
    ("--rtol", "X", None, "relative tolerance; left out: by dtype"),
    ("--atol", "X", None, "absolute tolerance; left out: by dtype"),
    ("--timeout", "SECONDS", "300", "that one step may take"),
    ("--capture-error-mode", "|".join(_MODES), "global", "what CUDA forbids while capturing"),
    ("--soak", "N", "0", "more replays after a pass, each on new inputs and compared with eager"),
    (
        "--record-limit",
        "MiB",
        "4096",
        "of inputs kept for the modules of one level, in host memory",
    ),
)
_REPEATED = (
    ("--modules", "GLOB", "judge only modules with such paths"),
    ("--skip", "GLOB", "leave out modules with such paths"),
    ("--redraw", "NAME", "also draw the integers of this input anew"),
    (
        "--batch-dim",
        "[NAME=]DIM",
        "with --pad: the dimension that is the batch, of all inputs or of one",
    ),
)


class BadOptionError(CapturelintError):
    """An option has a value that it cannot have. `known`: values to suggest a near one from."""

    def __init__(self, option: str, value: str, allowed: str, *, known: Sequence[str] = ()) -> None:
        near = get_close_matches(value, known, n=1)
        hint = f"; did you mean {near[0]}?" if near else ""
        shown = value if len(value) <= _LONGEST_SHOWN else f"{value[:_LONGEST_SHOWN]}..."
        super().__init__(f"`{option}` is {shown!r}; it must be {allowed}{hint}")


def add_case_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what to run and how. All values are text, which `case_settings` reads."""
    parser.add_argument(
        "target",
        metavar="TARGET",
        help="FILE.py:NAME or package.module:NAME of a function that returns (module, inputs) or a"
        " Case, or of a module, with --inputs; hf:TYPE or timm:NAME for a small random model",
    )
    add_source_arguments(parser)
    run = parser.add_argument_group("how to run it")
    add_run_arguments(run, [name for name, *_ in _ONCE])
    for name, metavar, effect in _REPEATED:
        run.add_argument(name, metavar=metavar, action="append", help=f"{effect} ({_OFTEN})")
    run.add_argument("--train", action="store_true", help="in training mode, with gradients")
    run.add_argument(
        "--pad", action="store_true", help="also judge whether what pad rows hold moves real rows"
    )
    run.add_argument("--cold", action="store_true", help="also capture without warm-up")


def add_source_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what, besides the target, says what to run."""
    parser.add_argument(
        "--inputs", metavar="FILE.py:NAME", help="a function of a seed that makes the inputs"
    )
    parser.add_argument("--call", metavar="METHOD", help="the method to call (default: forward)")


# What every command that runs a case lets choose.
RUN_OPTIONS = ("--dtype", "--autocast", "--seed", "--capture-error-mode")


def add_run_arguments(group: argparse._ArgumentGroup, names: Collection[str]) -> None:
    """Declare those options of how to run it that `names` holds."""
    for name, metavar, default, effect in _ONCE:
        if name in names:
            shown = f"{effect} (default: {default})" if default else effect
            group.add_argument(name, metavar=metavar, default=default, help=shown)


def run_choices(options: argparse.Namespace) -> dict[str, Any]:
    """Return the settings that `RUN_OPTIONS` say. Raises `BadOptionError`, also for `--call`."""
    _check_method("--call", options.call)
    return {
        "dtype": _dtype("--dtype", options.dtype, _DTYPES),
        "autocast": _dtype("--autocast", options.autocast, _AUTOCAST),
        "seed": whole_number("--seed", options.seed, least=0, most=_LARGEST_SEED),
        "capture_error_mode": _choice("--capture-error-mode", options.capture_error_mode, _MODES),
    }


def case_settings(options: argparse.Namespace) -> Settings:
    """Return the settings that were asked for. Raises `BadOptionError` for the first wrong value."""
    # Not while options are declared: both would slow down `--help`.
    from capturelint.cli.settings import words
    from capturelint.debug.settings import Settings

    return Settings(
        **run_choices(options),
        backend=_choice("--backend", options.backend, _BACKENDS),
        train=options.train,
        replays=whole_number("--replays", options.replays, least=1),
        warmup=_warmup("--warmup", options.warmup),
        cold=options.cold,
        modules=words(options.modules),
        skip=words(options.skip),
        rtol=_tolerance("--rtol", options.rtol),
        atol=_tolerance("--atol", options.atol),
        redraw=words(options.redraw),
        batch_dim=words(options.batch_dim),
        timeout=amount("--timeout", options.timeout, "seconds"),
        first=options.first,
        pad=options.pad,
        soak=whole_number("--soak", options.soak, least=0),
        record_limit=whole_number("--record-limit", options.record_limit, least=1),
    )


def whole_number(option: str, value: str, *, least: int, most: int | None = None) -> int:
    """Return the whole number that an option says. Raises `BadOptionError`."""
    # isdecimal() also holds for digits of other scripts, which nobody means.
    number = int(value) if value.isascii() and value.isdecimal() and len(value) < 20 else -1
    if number < least or (most is not None and number > most):
        bound = "or more" if most is None else f"to {most}"
        raise BadOptionError(option, value, f"a whole number, {least} {bound}")
    return number


def amount(option: str, value: str, unit: str) -> float:
    """Return the amount that an option says, more than 0. Raises `BadOptionError`."""
    number = _number(value)
    if number is None or number <= 0:
        raise BadOptionError(option, value, f"a number of {unit}, more than 0")
    return number


def _choice(option: str, value: str, allowed: Sequence[str]) -> str:
    if value not in allowed:
        raise BadOptionError(option, value, f"one of {', '.join(allowed)}", known=allowed)
    return value


def _dtype(option: str, value: str | None, allowed: Sequence[str]) -> str | None:
    return None if value is None else _choice(option, value, allowed)


def _warmup(option: str, value: str) -> int | None:
    if value == _AUTO:
        return None
    try:
        return whole_number(option, value, least=0)
    except BadOptionError:
        allowed = "auto or a whole number, 0 or more"
        raise BadOptionError(option, value, allowed, known=[_AUTO]) from None


def _tolerance(option: str, value: str | None) -> float | None:
    if value is None:
        return None
    number = _number(value)
    if number is None or number < 0:
        raise BadOptionError(option, value, "a number, 0 or more, such as 1e-3")
    return number


def _number(text: str) -> float | None:
    """Return the finite number that `text` says, or None."""
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _check_method(option: str, value: str | None) -> None:
    if value is not None and not value.isidentifier():
        raise BadOptionError(option, value, "the name of a method, such as generate_step")
