"""What the evaluation of one function was given, asked others for, and gave: its account.

Evaluation is one fixed sequence of steps. A function whose account is the same as before, answers to
its questions included, therefore leaves everything else as it was, whatever its body says.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from capturelint.kind import Ref, Source, Value
from capturelint.lint.values.arguments import Arguments
from capturelint.lint.values.coding import Coding, Places, UnsaidError, coded_source, mark_number
from capturelint.lint.values.kept import Kept

# What an entry of an account is.
CALL, READ, WORKED_OUT, CONSTANT, WORKED_OUT_CONSTANT, BOUND, GRAPHED = range(7)
# What was noted of changes from call to call, in whatever order.
USED, COUNTER, SET_ANEW, MADE = range(4)

Entry = tuple[int, ...]


class Account:
    """The account of one evaluation of a function. Numbers are those of `coding` and `places`.

    `head` is what it was given, `entries` what it asked, each with the answer, `noted` what it noted.

    `is_strict`: what is read twice may differ, so that each reading counts. `is_unsaid`: something
    cannot be kept, or rests on more than is noted.
    """

    __slots__ = (
        "_coding",
        "_read",
        "entries",
        "function",
        "head",
        "is_strict",
        "is_unsaid",
        "noted",
        "places",
    )

    def __init__(self, coding: Coding, places: Places, function: int, *, is_strict: bool) -> None:
        self._coding = coding
        self.function = function
        self.places = places
        self.head: list[int] = []
        self.entries: list[Entry] = []
        self.noted: dict[Entry, None] = {}
        self.is_strict = is_strict
        self.is_unsaid = False
        self._read: set[Entry] = set()

    def note(self, question: Entry, answer: Value | None) -> None:
        """Note what was asked, as one of the methods below gives it, and the answer."""
        if not question:
            return
        if question[0] == READ or question[0] == CONSTANT:
            # What was worked out before stays as it is, so one reading says it all.
            if question in self._read:
                return
            self._read.add(question)
        self.entries.append((*question, self.answer(answer)))

    def answer(self, answer: Value | None) -> int:
        """Return the number of an answer, -1 for None."""
        if answer is None:
            return -1
        try:
            return self._number(answer)
        except UnsaidError:
            self.is_unsaid = True
            return -1

    def call(
        self,
        ref: Ref,
        arguments: Arguments,
        line: int,
        *,
        captured: bool,
        is_bound: bool = False,
    ) -> Entry:
        """Return a call as a question, or the binding of arguments without a call; () if unsaid.

        `captured`: it runs under capture, so that what is called is evaluated as captured code.
        """
        if ref.at < 0:
            self.is_unsaid = True
            return ()
        place = self.places.line(line)
        kind = BOUND if is_bound else CALL
        head = (kind, int(captured), int(ref.role), ref.at, ref.owner, place)
        try:
            return (*head, *self._arguments(arguments))
        except UnsaidError:
            self.is_unsaid = True
            return ()

    def read(self, index: int, name: str, *, is_known: bool) -> Entry:
        """Return the reading of an attribute of a class; `is_known`: it was worked out before."""
        kind = READ if is_known and not self.is_strict else WORKED_OUT
        return (kind, index, self._coding.name(name))

    def constant(self, module: str, name: str, *, is_known: bool) -> Entry:
        """Return the reading of a name of a module; `is_known`: it was worked out before."""
        kind = CONSTANT if is_known and not self.is_strict else WORKED_OUT_CONSTANT
        return (kind, self._coding.name(module), self._coding.name(name))

    def graphed(self, values: Sequence[Value]) -> Entry:
        """Return what is made a root."""
        try:
            return (GRAPHED, *map(self._number, values))
        except UnsaidError:
            self.is_unsaid = True
            return ()

    def note_used(self, sources: Iterable[Source]) -> None:
        """Note that device work uses changing values."""
        for source in sources:
            said = (USED, *self._source(source))
            self.noted[said] = None

    def note_counter(self, source: Source, attribute: str) -> None:
        """Note which attribute a place counts up."""
        said = (COUNTER, self._coding.name(attribute), *self._source(source))
        self.noted[said] = None

    def note_set_anew(self, attribute: str, *, is_own: bool) -> None:
        """Note that an attribute is set, of self or of something else."""
        self.noted[SET_ANEW, self._coding.name(attribute), int(is_own)] = None

    def note_made(self, index: int) -> None:
        """Note that an object of a class is made."""
        self.noted[MADE, index] = None

    def given(self, values: Mapping[str, Value]) -> list[int]:
        """Return named values as numbers: how many, and name and value of each."""
        said = [len(values)]
        try:
            for name, value in values.items():
                said += (self._coding.name(name), self._number(value))
        except UnsaidError:
            self.is_unsaid = True
        return said

    def outcome(self, result: Value, stores: Mapping[str, Value]) -> list[int]:
        """Return what came of the evaluation, as numbers."""
        noted = [number for entry in sorted(self.noted) for number in (len(entry), *entry)]
        return [self.answer(result), *self.given(stores), *noted]

    def _source(self, source: Source) -> list[int]:
        return coded_source(source, self.places, self.function)

    def _arguments(self, arguments: Arguments) -> list[int]:
        rest = -1 if arguments.rest is None else self._number(arguments.rest)
        said = [int(arguments.is_open), rest, *map(self._number, arguments.positional)]
        for name, value in arguments.keywords:
            # Below zero, to be told from what is passed by position.
            said += (-2 - self._coding.name(name), self._number(value))
        return said

    def _number(self, value: Value) -> int:
        return self._coding.value(value, self.places, self.function)


def kept_of(kept: Kept, coding: Coding, places: Places, function: int) -> list[object]:
    """Return what other functions, or the marks, learn of attributes that a call reads and sets.

    Raises `UnsaidError` where it cannot be kept.
    """
    return [
        [
            [coding.name(name), calls, places.arms(arms, function)]
            for name, arms, calls in kept.reads
        ],
        [
            [coding.name(name), places.arms(arms, function), places.span(span), mark_number(mark)]
            for name, arms, span, mark in kept.stores
        ],
        [
            [at, places.arms(arms, function), sorted(map(coding.name, written))]
            for at, arms, written in kept.calls
        ],
        [coded_source(one, places, function) for one in kept.returned],
        [
            [coded_source(one, places, function), coding.name(text)]
            for one, text in kept.item_counters.items()
        ],
        sorted(map(coding.name, kept.item_numbers)),
        [[coding.name(name), places.span(span)] for name, span in kept.remembered],
        [places.span(span) for span in kept.moved],
        [int(kept.waits), *(places.span(span) for span in kept.streams)],
    ]
