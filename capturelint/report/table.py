"""Rows of cells as aligned lines."""

from __future__ import annotations

from collections.abc import Collection, Sequence


def aligned(rows: Sequence[Sequence[str]], *, left: Collection[str] = ()) -> list[str]:
    """Return rows as lines; the first is the head. Columns whose head is in `left` stand to the left.

    The others stand to the right; cells past the head are put as they are.
    """
    widths = [max(len(row[i]) for row in rows if i < len(row)) for i in range(len(rows[0]))]
    lines = []
    for row in rows:
        cells = []
        for index, cell in enumerate(row):
            if index >= len(widths):
                cells.append(cell)
            elif rows[0][index] in left:
                cells.append(cell.ljust(widths[index]))
            else:
                cells.append(cell.rjust(widths[index]))
        lines.append("  ".join(cells).rstrip())
    return lines
