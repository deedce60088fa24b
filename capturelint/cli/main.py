"""The command line: find the command, load only what it needs, run it, return the exit code.

A command is a module of this package with `add_arguments(parser)`, which declares its options, and
`run(options)`, which prints and returns an exit code: 0 nothing wrong, 1 findings, 2 the user's
mistake, 3 our bug, 4 undecided.
"""

from __future__ import annotations

import argparse
import atexit
import gc
import io
import sys
from collections.abc import Callable, Sequence
from importlib import import_module

from capturelint import __version__
from capturelint.cli.output import complain
from capturelint.errors import CapturelintError, UnknownCommandError, UnknownOptionError

_COMMANDS = (
    ("check", "report code that breaks under CUDA graph capture"),
    ("bisect", "run a model and name the module and line that a CUDA graph breaks on"),
    ("bench", "measure what a graph is worth for a model, by batch size"),
    ("roots", "list captured regions and how each captured function is reached"),
    ("ladder", "choose the batch sizes to capture for a traffic"),
    ("rule", "explain a rule, or list them all"),
    ("doctor", "say what is there to run models with, and what a missing piece takes away"),
)
# They are short, and what they make stays: walking it for garbage is a tenth of their time.
_UNCOLLECTED = frozenset({"check", "roots"})


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code. `argv` defaults to that of the process."""
    _survive_any_encoding()
    words = list(sys.argv[1:] if argv is None else argv)
    if argv is None and not _UNCOLLECTED.isdisjoint(words[:1]):
        gc.disable()
        # Python collects once more when it ends.
        atexit.register(gc.freeze)
    try:
        return _run(words)
    except CapturelintError as error:
        complain(str(error))
        return 2
    except KeyboardInterrupt:
        return 130  # what a shell reports for a program that was interrupted
    except Exception:  # noqa: BLE001 - without it Python would exit with 1, which means findings
        _report_bug()
        return 3


def _run(argv: list[str]) -> int:
    options = _parser(argv).parse_args(argv)
    run: Callable[[argparse.Namespace], int] = options.run
    return run(options)


def _parser(argv: Sequence[str]) -> argparse.ArgumentParser:
    """Return the parser, with options only for the command that `argv` asks for."""
    wanted = argv[0] if argv and not argv[0].startswith("-") else None
    known = [name for name, _ in _COMMANDS]
    if wanted is not None and wanted not in known:
        raise UnknownCommandError(wanted, known)
    parser = argparse.ArgumentParser(
        prog="capturelint", description="Find code that breaks under CUDA graph capture."
    )
    parser.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    commands = parser.add_subparsers(required=True, metavar="command")
    for name, summary in _COMMANDS:
        description = f"{summary[0].upper()}{summary[1:]}."
        command = commands.add_parser(name, help=summary, description=description)
        if name == wanted:
            module = import_module(f"capturelint.cli.{name}")
            module.add_arguments(command)
            _check_options(name, argv[1:], tuple(command._option_string_actions))  # noqa: SLF001 - has no public name
            command.set_defaults(run=module.run)
    return parser


def _check_options(command: str, words: Sequence[str], known: Sequence[str]) -> None:
    """Raise `UnknownOptionError` for the first option in `words` that is none, nor begins one."""
    for word in words:
        if word == "--":
            return
        option = word.partition("=")[0]
        if word.startswith("--") and not any(one.startswith(option) for one in known):
            raise UnknownOptionError(command, option, known)


def _survive_any_encoding() -> None:
    """Print what the terminal cannot show as an escape instead of failing on it."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _report_bug() -> None:
    """Print the traceback of the current exception and ask for a report."""
    import traceback  # only on a bug: the import would cost every start

    traceback.print_exc()
    complain("this is a bug in capturelint; please report the lines above")
