"""Turning a tensor into text reads all of its values on the host.

`print(t)`, `str(t)`, `repr(t)`, f-strings, `"...".format(t)`, `"..." % t`, `warnings.warn(t)` and
`logger.info("%s", t)` with a tensor on the device.

## Why capture cares

Text holds the numbers, and while a stream is capturing there are none yet: CUDA refuses the read
and the capture is lost. A graph would not print again in any case, since a replay runs no Python.
Where a logger does the formatting it swallows the error, and the next operation is blamed for it.

Measured on an H200 with torch 2.11: each form refuses at its own line, also of a 0-d tensor. The
text of `x.shape`, `x.dtype` and `x.device` reads nothing and is not reported.

## What to do instead

Print shapes and dtypes, or print after `graph.replay()`, or only where
`not torch.cuda.is_current_stream_capturing()`.

Text that is made only when something goes wrong is not reported: messages of `raise` and `assert`,
and all of an `except` block. `logger.debug("%s", t)` makes no text while that level is off, and is not
reported either.
"""

from __future__ import annotations

from collections.abc import Iterable

import libcst as cst

from capturelint.rule import (
    About,
    Effect,
    Rule,
    Subject,
    Trait,
    Triggers,
    method_call,
    names,
)

_FUNCTIONS = frozenset(
    {"builtins.print", "builtins.str", "builtins.repr", "builtins.format", "warnings.warn"}
)


# Methods of a logger that are on in most programs. What `debug` is given is seldom made text.
_LEVELS = ("info", "warning", "warn", "error", "critical", "exception", "fatal", "log")
_LOGGERS = ("logger", "log", "logging")


class TensorFormatting(Rule):
    about = About(
        code="CL103", name="tensor-formatting", effects=(Effect.REFUSES,), since="0.1", waits=True
    )
    triggers = Triggers(
        names=names(["print(tensor) str(tensor) repr(tensor) format(tensor)"])
        | names(f"{level}(tensor)" for level in _LEVELS),
        traits=frozenset({Trait.TENSOR_FORMAT}),
    )

    def __init__(self, subject: Subject) -> None:
        super().__init__(subject)
        # Parts of the tree that run only when something has gone wrong.
        self._after_failure: set[cst.CSTNode] = set()

    def visit_Raise(self, node: cst.Raise) -> None:
        self._skip(node)

    def visit_ExceptHandler(self, node: cst.ExceptHandler) -> None:
        self._skip(node)

    def visit_Assert(self, node: cst.Assert) -> None:
        if node.msg is not None:
            self._skip(node.msg)

    def visit_Call(self, node: cst.Call) -> None:
        name = self.full_name(node.func)
        given = [arg.value for arg in node.args if not arg.star]
        if name in _FUNCTIONS:
            self._judge(node, given, f"{name.removeprefix('builtins.')}()")
            return
        called = method_call(node)
        if called is not None and called[1] == "format" and self._is_text(called[0]):
            self._judge(node, given, '"...".format()')
        elif called is not None and called[1] in _LEVELS and self._is_logger(called[0]):
            self._judge(node, given, f".{called[1]}()", ending="; CUDA blames a later line")

    def visit_FormattedString(self, node: cst.FormattedString) -> None:
        fields = [
            part.expression
            for part in node.parts
            if isinstance(part, cst.FormattedStringExpression)
        ]
        self._judge(node, fields, 'f"..."')

    def visit_BinaryOperation(self, node: cst.BinaryOperation) -> None:
        if not isinstance(node.operator, cst.Modulo) or not self._is_text(node.left):
            return
        right = node.right
        fields = (
            [part.value for part in right.elements] if isinstance(right, cst.Tuple) else [right]
        )
        self._judge(node, fields, '"..." % tensor')

    def _judge(
        self,
        node: cst.CSTNode,
        fields: Iterable[cst.BaseExpression],
        form: str,
        *,
        ending: str = "",
    ) -> None:
        if node in self._after_failure:
            return
        for field in fields:
            value = self.value(field)
            if value.is_device_tensor and not value.weak and not value.optional:
                self.report(node, f"`{form}` reads a tensor's values to make text of them{ending}")
                return

    def _is_logger(self, node: cst.BaseExpression) -> bool:
        """Return whether something is the logging module, or is called as loggers are."""
        if self.full_name(node).partition(".")[0] in ("logging", "loguru"):
            return True
        word = node.attr.value if isinstance(node, cst.Attribute) else ""
        word = node.value if isinstance(node, cst.Name) else word
        return word.lower().strip("_") in _LOGGERS and not self.value(node).refs

    def _is_text(self, node: cst.BaseExpression) -> bool:
        if isinstance(node, cst.SimpleString | cst.ConcatenatedString | cst.FormattedString):
            return True
        constant = self.value(node).constant
        return bool(constant) and isinstance(constant[0], str)

    def _skip(self, node: cst.CSTNode) -> None:
        self._after_failure.add(node)
        for child in node.children:
            self._skip(child)
