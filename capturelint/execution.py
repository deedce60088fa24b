"""What a run is asked to watch of a file, and how often it ran there."""

from __future__ import annotations

from dataclasses import dataclass

from capturelint.finding import Effect


@dataclass(frozen=True, slots=True)
class Asked:
    """A stretch of a file that a run is to watch.

    `path`: real and absolute. Lines from 1; columns from 0 in bytes of UTF-8, the end exclusive, as
    Python tells the positions of its instructions.
    """

    path: str
    line: int
    column: int
    end_line: int
    end_column: int

    def has_line(self, line: int) -> bool:
        """Return whether it covers a line, or a part of it."""
        return self.line <= line <= self.end_line

    def is_beside(self, span: tuple[int, int, int, int]) -> bool:
        """Return whether another stretch of its file, as an `Act` has it, lies before or after it."""
        line, column, end_line, end_column = span
        is_before = (end_line, end_column) <= (self.line, self.column)
        return is_before or (self.end_line, self.end_column) <= (line, column)


@dataclass(frozen=True, slots=True)
class Noted:
    """What a line that was watched did in an eager run made as if capturing, as a hazard tells it.

    `is_beside`: an expression on the line did it that has no part in common with what was watched.
    """

    module: str
    operation: str
    effect: Effect
    message: str
    is_beside: bool = False


@dataclass(frozen=True, slots=True)
class Ran:
    """What an eager run made as if capturing did of one stretch that was asked about.

    `calls`: how often the expression was evaluated; None where Python does not tell, which it does
    from 3.11 on. `entered`: how often its function was called, `lines`: how often one of its lines
    began. `modules`: paths of the modules that were running then. `noted`: hazards of its lines.
    `is_file_run`: some function of its file was called.
    """

    calls: int | None = None
    entered: int = 0
    lines: int = 0
    modules: tuple[str, ...] = ()
    noted: tuple[Noted, ...] = ()
    is_file_run: bool = False


@dataclass(frozen=True, slots=True)
class Executed:
    """What one run says about all that was asked, in that order.

    `broke`: how the run as if capturing ended early, or "". `unplaced`: hazards of which no line is
    known. `changes`: state that each call changes, by name. `held`: inputs that were the same in
    all steps, so that replays say nothing about them.
    """

    ran: tuple[Ran, ...]
    broke: str = ""
    unplaced: tuple[Noted, ...] = ()
    changes: tuple[str, ...] = ()
    held: tuple[str, ...] = ()
