"""Which sizes to capture, as text for people: a table of ladders, options to paste, what could go."""

from __future__ import annotations

from collections.abc import Sequence

from capturelint.measure import engines
from capturelint.measure.advice import Advice, Drop
from capturelint.measure.ladder import Ladder
from capturelint.report.ladder_notes import notes, percent
from capturelint.report.place import one_line
from capturelint.report.style import Style
from capturelint.report.table import aligned

_DROPS = 3  # named at most
_WORTHLESS = "no size: eager steps are as fast"
_TOO_DEAR = "no size: none fits into the limits, or saves time there"


def render(advice: Advice, *, source: str, color: bool = False) -> str:
    """Return the advice as text. `source`: the file that the traffic was read from."""
    style = Style(color)
    parts = [
        [style.strong(_traffic(advice, source)), _times(advice)],
        aligned([_head(advice, "ladder"), *_ladders(advice)], left=_LEFT),
        _flags(advice, style),
        _choices(advice),
        _drops(advice),
        [f"note: {note}" for note in notes(advice)],
    ]
    return "\n\n".join("\n".join(lines) for lines in parts if lines)


def _traffic(advice: Advice, source: str) -> str:
    low, high = advice.traffic.counts[0][0], advice.traffic.counts[-1][0]
    rows = f"{low} to {high} rows" if low < high else f"{low} rows"
    idle = f", {_count(advice.traffic.idle)} idle ones left out" if advice.traffic.idle else ""
    sizes = f"sizes up to {advice.largest}"
    if advice.rows_per_request > 1:
        sizes += f", multiples of {advice.rows_per_request}"
    steps = advice.traffic.steps
    noun = "step" if steps == 1 else "steps"
    return f"{source}: {_count(steps)} {noun} of {rows}{idle}; {sizes}"


def _times(advice: Advice) -> str:
    if advice.costs.is_measured:
        where = one_line(", ".join(f"{name} {text}" for name, text in advice.costs.environment))
        told = "times are measured, linear between measured sizes"
        return f"{told} ({where})" if where else told
    return (
        "times are assumed, not measured, and relative: a replay takes 1 + rows/256, an eager step"
        " that or 3; `--times` gives measured ones"
    )


def _head(advice: Advice, first: str) -> list[str]:
    time = "step ms" if advice.costs.is_measured else "step time"
    return [
        first,
        "graphs",
        time,
        "slower",
        "pad rows",
        "eager steps",
        *_dear(advice),
        "never used",
    ]


def _dear(advice: Advice) -> list[str]:
    """Return the columns of what capturing costs, as far as that is known."""
    known = (("MiB", advice.best.memory), ("start-up s", advice.best.startup))
    return [name for name, value in known if value is not None]


def _ladders(advice: Advice) -> list[list[str]]:
    named = [
        ("recommended", advice.best, None),
        *((one.name, one.ladder, one.enough) for one in advice.customary),
        ("every size", advice.every, None),
    ]
    rows = []
    for name, ladder, enough in named:
        row = [name, str(len(ladder.sizes)), _time(ladder), _slower(advice, ladder)]
        row += [_percent(ladder.padded), _percent(ladder.eager), *_cost(ladder)]
        row.append(str(len(ladder.unused)) if ladder.unused else "")
        told = [] if advice.limits.allow(ladder) else ["over the limits"]
        if enough is not None and enough < len(ladder.sizes):
            told.append(f"as fast with {enough}")
        row.append(", ".join(told))
        rows.append(row)
    return rows


def _choices(advice: Advice) -> list[str]:
    """Return the best ladder of each number of graphs; how much slower than with every size."""
    if not advice.choices:
        return []
    rows = [["graphs", _head(advice, "")[2], "slower than every size", *_dear(advice), "sizes"]]
    for ladder in advice.choices:
        row = [str(len(ladder.sizes)), _time(ladder)]
        row += [_more(ladder.step / advice.every.step - 1), *_cost(ladder), _short(ladder.sizes)]
        rows.append(row)
    return ["best ladders by number of graphs:", *aligned(rows, left=_LEFT)]


def _flags(advice: Advice, style: Style) -> list[str]:
    sizes = advice.best.sizes
    if not sizes:
        has_limits = any(
            limit is not None
            for limit in (advice.limits.rungs, advice.limits.startup, advice.limits.memory)
        )
        return [style.loud(f"capture {_TOO_DEAR if has_limits else _WORTHLESS}")]
    sglang = engines.sglang_flag(sizes, advice.rows_per_request)
    return [f"vLLM:   {engines.vllm_flag(sizes)}", f"SGLang: {sglang}"]


def _drops(advice: Advice) -> list[str]:
    if len(advice.drops) < 2:
        return []
    return [f"cheapest to drop: {'; '.join(_drop(one) for one in advice.drops[:_DROPS])}"]


def _drop(drop: Drop) -> str:
    saved = []
    if drop.memory is not None:
        saved.append(f"{_figure(drop.memory)} MiB")
    if drop.startup is not None:
        saved.append(f"{_figure(drop.startup)} s")
    less = f", saves {' and '.join(saved)}" if saved else ""
    return f"{drop.size} (steps {percent(drop.slower)} slower{less})"


def _cost(ladder: Ladder) -> list[str]:
    return [_figure(value) for value in (ladder.memory, ladder.startup) if value is not None]


def _slower(advice: Advice, ladder: Ladder) -> str:
    return "" if ladder is advice.best else _more(ladder.step / advice.best.step - 1)


def _more(share: float) -> str:
    return f"{100 * share:+.2f} %"


def _time(ladder: Ladder) -> str:
    return f"{ladder.step:.4g}"


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def _figure(value: float) -> str:
    return f"{value:.3g}" if value < 1000 else f"{value:.0f}"


def _count(steps: float) -> str:
    return f"{steps:,.0f}" if float(steps).is_integer() else f"{steps:,.6g}"


def _short(sizes: Sequence[int]) -> str:
    words = [str(size) for size in sizes]
    return " ".join(words if len(words) <= 9 else [*words[:4], "...", *words[-4:]])


_LEFT = ("ladder", "sizes")
