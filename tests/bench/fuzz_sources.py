"""Sources that nobody would write: made from a grammar, or real ones with something broken in them."""

from __future__ import annotations

import io
import random
import textwrap
import tokenize
from collections.abc import Callable, Sequence

_NAMES = "x y n é self.a self.rows torch nn helper Model other.alone None 0 1.5 'cpu' () []".split()
_FORMS = (
    "{}.item() {}.cpu() {}.sum() {}.shape[0] {}.tolist() -({}) len({}) float({}) [i_for_{}] {}[0] "
    "torch.zeros({}) helper({}) helper(*{}) self.part({}) super().part({}) print({}) {}.a.b.c({}) "
    "({})+({}) ({})and({}) ({})==({}) ({})in({}) ({})[{}:] ({},{}) {{'a':{},{}:1}} max({},{}) "
    "torch.where({},{},0) (lambda_i:i+({})) (z:=({})) f'{{{}}}' torch.tensor([{},{}]) {}.to({}) "
    "torch.tensor({},device=x.device) other.helper({},y={}) {}.nonzero() {}.replay()"
).split()
_STATEMENTS = (
    "return {} | {} = {} | x += {} | y: Tensor = {} | assert {} | {} | del y | global G | pass | "
    "raise ValueError({}) | x[{}] = {} | self.a = {} | x, *y = {}, {} | import torch as n | yield {}"
).split(" | ")
_HEADS = (
    "if {}: | while {}: | for x in {}: | with torch.cuda.graph({}): | with {} as y: | def inner(x=1): | "
    "class Local: | if torch.cuda.is_current_stream_capturing(): | async def later(): | match {}: | try:"
).split(" | ")
_ODD = (
    "\x00",
    "\ufeff",
    "\x0c",
    "\r",
    "\t",
    "\\\n",
    "\u2028",
    "名",
    "e\u0301",
    "\ud800",
    "'''",
    '"',
    "#",
    "# capturelint: ignore[",
    "# capturelint: step\n",
    "# coding: latin-1\n",
    "\x1a",
    "@",
    ":=",
    "*",
    "lambda: ",
    "async ",
    "f'{",
    "match x:\n",
)


def generated(rng: random.Random, *, other: str) -> str:
    """Return a module with a model and a helper. `other` is a module that it imports."""
    methods = "".join(
        f"\n    def {name}(self, x{rng.choice(['', ': Tensor', '=None'])}, *rest, n=1, **more):\n"
        + textwrap.indent(_block(rng, 3), " " * 8)
        for name in ("__init__", "forward", "part")
    )
    base = rng.choice(["nn.Module", "other.Model", "nn.ModuleList", "torch.optim.Optimizer"])
    return (
        "import torch\nfrom torch import Tensor, nn\n"
        f"import {other} as other\nfrom {other} import helper as {rng.choice(['z', 'helper'])}\n"
        f"G = {_expression(rng, 2)}\nclass Model({base}):{methods}\n"
        f"def helper(x, y=None):\n{textwrap.indent(_block(rng, 3), '    ')}\n"
        "def alone(x):\n    return x.item()\n"
    )


def mutated(rng: random.Random, text: str, other: str) -> bytes:
    """Return a real source with one to three things broken, as bytes of some encoding."""
    for _ in range(rng.randint(1, 3)):
        text = rng.choice(_MUTATIONS)(rng, text, other)
    encoding = rng.choice(["utf-8"] * 12 + ["utf-8-sig", "latin-1", "utf-16"])
    errors = "replace" if encoding == "latin-1" else "surrogatepass"
    return text.encode(encoding, errors)


def _expression(rng: random.Random, depth: int) -> str:
    if depth == 0 or rng.random() < 0.25:
        return rng.choice(_NAMES)
    form = rng.choice(_FORMS).replace("lambda_i", "lambda i").replace("i_for_", "i for i in ")
    return form.format(*(_expression(rng, depth - 1) for _ in range(3)))


def _block(rng: random.Random, depth: int) -> str:
    lines: list[str] = []
    for _ in range(rng.randint(1, 4)):
        if depth == 0 or rng.random() < 0.6:
            parts = [_expression(rng, 3) for _ in range(3)]
            form = rng.choice(_STATEMENTS)
            if form.startswith("{} = "):
                parts[0] = rng.choice(["x", "y", "self.a", "self.rows[n]", "x[y]", "n"])
            lines.append(form.format(*parts))
            continue
        head = rng.choice(_HEADS).format(_expression(rng, 2))
        inner = _block(rng, depth - 1)
        if head.startswith("match"):
            inner = "case n if x:\n" + textwrap.indent(inner, "    ")
        lines.append(f"{head}\n{textwrap.indent(inner, '    ')}")
        if head == "try:":
            lines.append("except ValueError as y:\n    x = y")
    return "\n".join(lines)


def _drop_tokens(rng: random.Random, text: str, _other: str) -> str:
    tokens = _tokens(text)
    for _ in range(min(rng.randint(1, 4), len(tokens))):
        start, end = tokens.pop(rng.randrange(len(tokens)))
        text = text[:start] + " " * (end - start) + text[end:]
    return text


def _swap_tokens(rng: random.Random, text: str, _other: str) -> str:
    tokens = _tokens(text)
    if len(tokens) < 2:
        return text
    (a, b), (c, d) = sorted(rng.sample(tokens, 2))
    return text[:a] + text[c:d] + text[b:c] + text[a:b] + text[d:]


def _splice(rng: random.Random, text: str, other: str) -> str:
    lines, more = text.split("\n"), other.split("\n")
    at, start = rng.randrange(len(lines)), rng.randrange(len(more))
    return "\n".join([*lines[:at], *more[start : start + rng.randint(1, 60)], *lines[at:]])


def _drop_lines(rng: random.Random, text: str, _other: str) -> str:
    lines = text.split("\n")
    at = rng.randrange(len(lines))
    return "\n".join(lines[:at] + lines[at + rng.randint(1, 9) :])


def _shift_lines(rng: random.Random, text: str, _other: str) -> str:
    lines = text.split("\n")
    at = rng.randrange(len(lines))
    moved = [rng.choice([" ", "\t", "    "]) + line for line in lines[at : at + rng.randint(1, 20)]]
    return "\n".join([*lines[:at], *moved, *lines[at + len(moved) :]])


def _insert_odd(rng: random.Random, text: str, _other: str) -> str:
    at = rng.randrange(len(text) + 1)
    return text[:at] + rng.choice(_ODD) + text[at:]


def _nest(rng: random.Random, text: str, _other: str) -> str:
    depth = rng.choice([30, 95, 150, 800, 5000])
    inner = rng.choice(["x.item()", "1", "x[x > 0]"])
    deep = rng.choice(
        [
            "(" * depth + inner + ")" * depth,
            "-" * depth + inner,
            f"{inner}" + " + x" * depth,
            inner + ".t()" * depth,
            "not " * depth + inner,
            "[" * depth + inner + "]" * depth,
        ]
    )
    blocks = "".join("    " + " " * i + "if x:\n" for i in range(min(depth, 98)))
    body = rng.choice([f"    y = {deep}\n", f"{blocks}{' ' * 110}{inner}\n"])
    return (
        text + f"\n\nclass Deep(nn.Module):\n  def forward(self, x):\n{body}    return x.item()\n"
    )


def _lengthen(rng: random.Random, text: str, _other: str) -> str:
    size = rng.choice([2_000, 60_000])
    line = rng.choice(
        [
            f"LONG = '{'a' * size}'",
            f"LONG = [{'x, ' * (size // 3)}]",
            f"# {'é' * size}",
            f"def long({', '.join(f'a{i}' for i in range(size // 40))}): return a0.item()",
        ]
    )
    return f"{text}\n{line}\n"


def _change_ends(rng: random.Random, text: str, _other: str) -> str:
    return text.replace("\n", rng.choice(["\r\n", "\r", "\n\n", "\n\x0c"]))


def _tokens(text: str) -> list[tuple[int, int]]:
    """Return where the tokens of a text are, as far as it can be read."""
    starts = [0]
    text = text.encode("utf-8", "replace").decode()  # as Python 3.12 can read it, and as long
    for row in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(row))
    found: list[tuple[int, int]] = []
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            (line, column), (end_line, end) = token.start, token.end
            if token.string.strip() and end_line < len(starts):
                found.append((starts[line - 1] + column, starts[end_line - 1] + end))
    except (tokenize.TokenError, SyntaxError):
        return found
    return found


Mutation = Callable[[random.Random, str, str], str]
_MUTATIONS: Sequence[Mutation] = (
    _drop_tokens,
    _swap_tokens,
    _splice,
    _drop_lines,
    _shift_lines,
    _insert_odd,
    _nest,
    _lengthen,
    _change_ends,
)
