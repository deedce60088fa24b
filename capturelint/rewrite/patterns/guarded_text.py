"""A statement that only prints or logs a tensor, left out while a stream is capturing.

Eagerly nothing changes. A graph never prints, so what is left out of it is missed by nobody; only an
expression that changes something else must stay.
"""

from __future__ import annotations

import libcst as cst

from capturelint.finding import Edit, Span
from capturelint.rewrite.form import Form, Grade, Refusal
from capturelint.rewrite.purity import impurity
from capturelint.rewrite.site import Site
from capturelint.rule import method_call

CODES = ("CL101", "CL102", "CL103")

_WRITERS = frozenset(("builtins.print", "warnings.warn"))
_LEVELS = frozenset(
    ("debug", "info", "warning", "warn", "error", "critical", "exception", "fatal", "log")
)
_LOGGERS = ("logger", "log", "logging")
_HINT = "keep it out of the captured region, or print after `graph.replay()`"


def match(site: Site) -> tuple[Form, ...] | Refusal:
    """Offer a test for capture around a statement that does nothing but print or log."""
    line = site.facts.nearest(site.node, cst.SimpleStatementLine)
    small = line.body[0] if line is not None else None
    if line is None or not isinstance(small, cst.Expr) or not isinstance(small.value, cst.Call):
        return ()
    call = small.value
    if not _is_writer(site, call):
        return ()
    if _is_scripted(site):
        return site.refusal("SCRIPT", "TorchScript has no test for a capture", _HINT)
    if len(line.body) > 1:
        return site.refusal("LINE", "it shares its line with other statements", _HINT)
    for arg in call.args:
        why = impurity(arg.value, site.facts)
        if why:
            return site.refusal("IMPURE", why, _HINT)
    torch = site.facts.torch
    if torch is None:
        return site.refusal(
            "NAME", "what `torch` is called here cannot be told", "write `import torch` on top"
        )
    return site.form(Grade.PROVEN, *_guard(site, line, torch.name), *torch.edits)


def _is_scripted(site: Site) -> bool:
    """Return whether a decorator compiles the function to something other than Python."""
    functions = [one for one in site.facts.around(site.node) if isinstance(one, cst.FunctionDef)]
    names = [site.facts.text(mark.decorator) for one in functions for mark in one.decorators]
    return any("jit" in name for name in names)


def _guard(site: Site, line: cst.SimpleStatementLine, torch: str) -> list[Edit]:
    """Return edits that put a statement under a test, its later lines further in as well."""
    # torch without CUDA raises when it is asked whether a stream is capturing.
    test = f"{torch}.cuda.is_available() and {torch}.cuda.is_current_stream_capturing()"
    span = site.facts.span(line)
    before = site.facts.source.line(span.line)[: span.column]
    unit = "\t" if "\t" in before else "    "
    start = Span(span.line, span.column, span.line, span.column)
    edits = [Edit(start, f"if not ({test}):\n{before}{unit}")]
    inside = _lines_in_strings(site, line)
    for number in range(span.line + 1, span.end_line + 1):
        if number not in inside and site.facts.source.line(number).strip():
            edits.append(Edit(Span(number, 0, number, 0), unit))
    return edits


def _lines_in_strings(site: Site, line: cst.SimpleStatementLine) -> set[int]:
    """Return the lines that begin inside of a string, where an indent would be text."""
    found: set[int] = set()
    level: list[cst.CSTNode] = [line]
    while level:
        node = level.pop()
        if isinstance(node, cst.SimpleString | cst.FormattedString):
            span = site.facts.span(node)
            found.update(range(span.line + 1, span.end_line + 1))
        level.extend(node.children)
    return found


def _is_writer(site: Site, call: cst.Call) -> bool:
    """Return whether a call does nothing but print, warn or log."""
    name = site.facts.full_name(call.func)
    if name in _WRITERS:
        return True
    called = method_call(call)
    if called is None or called[1] not in _LEVELS:
        return False
    if name.partition(".")[0] in ("logging", "loguru"):
        return True
    logger = called[0]
    if site.facts.full_name(logger).partition(".")[0] in ("logging", "loguru"):
        return True
    word = logger.attr.value if isinstance(logger, cst.Attribute) else ""
    word = logger.value if isinstance(logger, cst.Name) else word
    return word.lower().strip("_") in _LOGGERS and not site.facts.value(logger).refs
