"""How often a step of each batch size runs, read from JSON or from lines of sizes and counts.

JSON is an object of counts by size, `{"1": 120, "4": 33}`, or a list of sizes, one for each step.
Text is a line for each: a size, or a size and a count, with a comma, semicolon or space between. Empty
lines, lines that begin with `#` and a first line of names are passed over. Sizes are rows of the step
that is captured: tokens, which without speculative decoding are the requests that decode.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from capturelint.errors import CapturelintError, shown, shown_path
from capturelint.measure.given import text_in

LARGEST = 2**20  # rows; more in one step is a mistake in the file
_MOST = 1e15  # steps; more are a mistake too
_SPACE = re.compile(r"[\s,:]*")
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)(e[+-]?[0-9]+)?", re.IGNORECASE)
_NAMES = re.compile(r"[A-Za-z_][\w ]*([,;\t][A-Za-z_][\w ]*)?")


class BadTrafficError(CapturelintError):
    """A traffic file cannot be read or says what cannot be. `line`: from 1, None where none is to blame."""

    def __init__(self, path: Path, problem: str, *, line: int | None = None) -> None:
        place = shown_path(path) if line is None else f"{shown_path(path)}:{line}"
        super().__init__(f"{place}: {problem}")


@dataclass(frozen=True, slots=True)
class Traffic:
    """How many steps of each size ran. `counts`: (rows, steps), by rows ascending; not empty.

    `idle`: steps without any row, which run no graph and are left out.
    """

    counts: tuple[tuple[int, float], ...]
    idle: float = 0

    @property
    def steps(self) -> float:
        """Return how many steps there are, idle ones left out."""
        return sum(count for _, count in self.counts)


def read_traffic(path: Path) -> Traffic:
    """Return the traffic that a file says. Raises `BadTrafficError`."""
    text = text_in(path, BadTrafficError)
    is_json = text.lstrip()[:1] in ("{", "[")
    counts: dict[int, float] = {}
    for line, size, count in _from_json(path, text) if is_json else _from_lines(path, text):
        rows, steps = _size(path, size, line), _count(path, count, line)
        counts[rows] = counts.get(rows, 0) + steps
    idle = counts.pop(0, 0)
    busy = tuple(sorted((size, count) for size, count in counts.items() if count))
    if not busy:
        raise BadTrafficError(path, "holds no steps; give a size, or a size and a count, per line")
    return Traffic(busy, idle)


def _from_lines(path: Path, text: str) -> Iterator[tuple[int, object, object]]:
    is_first = True
    for number, line in enumerate(text.splitlines(), start=1):
        words = line.replace('"', "").strip()  # some write cells in quotes
        if not words or words.startswith("#"):
            continue
        if is_first and _NAMES.fullmatch(words):
            is_first = False
            continue
        is_first = False
        cells = re.split(r"\s*[,;]\s*|\s+", words)
        if len(cells) > 2:
            raise BadTrafficError(
                path, f"{shown(words)} is not a size, or a size and a count", line=number
            )
        yield number, cells[0], cells[1] if len(cells) == 2 else 1


def _from_json(path: Path, text: str) -> Iterator[tuple[int, object, object]]:
    try:
        document = json.loads(text)
    except json.JSONDecodeError as error:
        raise BadTrafficError(path, f"is not JSON: {error.msg}", line=error.lineno) from error
    except RecursionError as error:
        raise BadTrafficError(path, "is nested too deeply; give a flat list or object") from error
    del document  # that it can be read is all that was asked: it has no lines
    pairs = text.lstrip().startswith("{")
    entries = _placed(text)
    for line, value in entries:
        yield (line, value, next(entries)[1]) if pairs else (line, value, 1)


def _placed(text: str) -> Iterator[tuple[int, object]]:
    """Yield each entry of the list or object of valid JSON, keys and values alike, with its line."""
    decoder = json.JSONDecoder()
    place = len(text) - len(text.lstrip()) + 1
    line, counted = 1, 0
    while True:
        found = _SPACE.match(text, place)
        assert found is not None  # it also matches nothing
        place = found.end()
        if text[place] in "]}":
            return
        line, counted = line + text.count("\n", counted, place), place
        value, place = decoder.raw_decode(text, place)
        yield line, value


def _size(path: Path, value: object, line: int) -> int:
    number = _number(value)
    if number is None or not 0 <= number <= LARGEST or number != int(number):
        problem = f"the size {shown(value)} is not a whole number of rows, 1 to {LARGEST}"
        raise BadTrafficError(path, problem, line=line)
    return int(number)


def _count(path: Path, value: object, line: int) -> float:
    number = _number(value)
    if number is None or not 0 <= number <= _MOST:
        problem = f"the count {shown(value)} is not a number of steps, 0 or more"
        raise BadTrafficError(path, problem, line=line)
    return number


def _number(value: object) -> float | None:
    """Return the number that a JSON value or a text says, or None."""
    if isinstance(value, str):
        # float() also takes digits of other scripts and `1_000`, which nobody means.
        if not _NUMBER.fullmatch(value):
            return None
        value = int(value) if value.isdigit() and len(value) < 20 else float(value)
    return None if isinstance(value, bool) or not isinstance(value, int | float) else value
