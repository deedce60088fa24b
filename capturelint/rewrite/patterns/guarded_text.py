"""A statement that only prints or logs a tensor, left out while a stream is capturing.

Eagerly nothing changes. A graph never prints, so what is left out of it is missed by nobody; only an
expression that changes something else must stay.
"""

from __future__ import annotations

import ast

import libcst as cst

from capturelint.finding import Edit, Span
from capturelint.rewrite.bindings import Way, bindings, parameter
from capturelint.rewrite.form import Form, Grade, Refusal
from capturelint.rewrite.lines import lines_in_strings
from capturelint.rewrite.plain_data import PlainData
from capturelint.rewrite.site import Site
from capturelint.rule import method_call
from capturelint.source import SourceFile

CODES = ("CL101", "CL102", "CL103")

_WRITERS = frozenset(("builtins.print", "warnings.warn"))
_LEVELS = frozenset(
    ("debug", "info", "warning", "warn", "error", "critical", "exception", "fatal", "log")
)
# Of Python, and what packages call theirs.
_MAKERS = frozenset(("getLogger", "get_logger", "init_logger"))
_HINT = "keep it out of the captured region, or print after `graph.replay()`"


def match(site: Site) -> tuple[Form, ...] | Refusal:
    """Offer a test for capture around a statement that does nothing but print or log."""
    line = site.facts.nearest(site.node, cst.SimpleStatementLine)
    small = line.body[0] if line is not None else None
    if line is None or not isinstance(small, cst.Expr) or not isinstance(small.value, cst.Call):
        return ()
    call = small.value
    if not is_writer(site, call):
        return ()
    if _is_scripted(site):
        return site.refusal("SCRIPT", "TorchScript has no test for a capture", _HINT)
    if len(line.body) > 1:
        return site.refusal("LINE", "it shares its line with other statements", _HINT)
    for arg in call.args:
        unknown = PlainData(site.facts).unknown(arg.value)
        if unknown is not None:
            return site.refusal("IMPURE", _why(site, unknown), _HINT)
    torch = site.facts.torch_at(site.node)
    if torch is None:
        return site.refusal(
            "NAME", "what `torch` is called here cannot be told", "write `import torch` on top"
        )
    return site.form(Grade.PROVEN, *_guard(site, line, torch.name), *torch.edits)


def _why(site: Site, unknown: cst.BaseExpression) -> str:
    text = site.facts.text(unknown)
    if isinstance(unknown, cst.Call):
        text = f"{site.facts.text(unknown.func)}()"
    return f"`{text}` may change something"


def _is_scripted(site: Site) -> bool:
    """Return whether the function is, or may be, compiled to something other than Python."""
    if site.facts.is_scripted:
        return True
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
    inside = lines_in_strings(line, site.facts)
    for number in range(span.line + 1, span.end_line + 1):
        if number not in inside and site.facts.source.line(number).strip():
            edits.append(Edit(Span(number, 0, number, 0), unit))
    return edits


def is_writer(site: Site, call: cst.Call) -> bool:
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
    return isinstance(logger, cst.Name) and _is_logger(site, logger)


def _is_logger(site: Site, logger: cst.Name) -> bool:
    """Return whether a name surely stands for a logger: one that was asked for right here."""
    name, facts = logger.value, site.facts
    if facts.value(logger).refs or parameter(facts.tree, name) is not None:
        return False
    places = bindings(facts.tree, name)
    if places:
        return all(
            way is Way.VALUE
            and isinstance(source, cst.Call)
            and facts.text(source.func).rpartition(".")[2] in _MAKERS
            for way, source in places
        )
    return places is not None and _made_in_file(facts.file, name) <= _MAKERS


def _made_in_file(source: SourceFile, name: str) -> set[str]:
    """Return what functions make the global `name` of a file; "" for all else that binds it."""
    found = set()
    for node in ast.walk(ast.parse(source.text)):
        if isinstance(node, ast.Assign) and [ast.unparse(one) for one in node.targets] == [name]:
            maker = node.value.func if isinstance(node.value, ast.Call) else node.value
            found.add(ast.unparse(maker).rpartition(".")[2])
    return found or {""}
