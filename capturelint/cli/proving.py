"""`bisect --fix` and `--diff`: rewrite what a run has proven, or show how."""

from __future__ import annotations

import argparse
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from capturelint.cli import output
from capturelint.cli.case_options import BadOptionError
from capturelint.cli.fixing import FixOptionError, is_asked, original_of
from capturelint.errors import shown_path
from capturelint.rewrite.excluding import FORMS, PACKAGE

if TYPE_CHECKING:
    from capturelint.verdict import Report


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options that speak of rewrites."""
    group = parser.add_argument_group("rewrites, proven by running old and new code")
    group.add_argument("--fix", action="store_true", help="rewrite files in place")
    group.add_argument("--diff", action="store_true", help="show what `--fix` would do, as a patch")
    group.add_argument(
        "--partial",
        action="store_true",
        help="also rewrite a part of a function of which another part stays",
    )
    group.add_argument(
        "--all-experts",
        action="store_true",
        help="also rewrite loops over experts, each of which then runs on all rows",
    )
    group.add_argument(
        "--unsafe-fixes",
        action="store_true",
        help="also write what no longer raises where it did, and may end the CUDA context instead",
    )
    group.add_argument(
        "--exclude-as",
        metavar="|".join(FORMS),
        help="where lines stay, let their modules run eagerly between captured pieces: a patch for"
        " `breakable_cuda_graphs`, or what to write for vLLM or SGLang",
    )
    group.add_argument(
        "--allow-dirty",
        action="store_true",
        help="also rewrite files whose text git could not give back",
    )


def check_options(options: argparse.Namespace) -> None:
    """Raise `FixOptionError` for options that do not go together."""
    if options.fix and options.diff:
        raise FixOptionError("`--fix` writes and `--diff` shows; leave one of them out")
    for name in ("allow_dirty", "partial", "all_experts", "unsafe_fixes", "exclude_as"):
        if getattr(options, name) and not is_asked(options):
            flag = name.replace("_", "-")
            raise FixOptionError(f"`--{flag}` needs `--fix` or `--diff` beside it")
    form = options.exclude_as
    if form is not None and form not in FORMS:
        raise BadOptionError("--exclude-as", form, f"one of {', '.join(FORMS)}", known=FORMS)
    if form == "torch" and options.fix and find_spec(PACKAGE) is None:
        raise FixOptionError(
            f"what `--exclude-as torch` writes imports {PACKAGE}, which is not installed:"
            " `pip install breakable-cuda-graphs`, or see the patch with `--diff`"
        )
    if options.diff and options.format != "text":
        raise FixOptionError("`--diff` prints a patch; leave out `--format`")
    if is_asked(options) and options.target.startswith(("hf:", "timm:")):
        raise FixOptionError(
            "the model of a library is not yours to rewrite; name a case of your own"
        )


def made(report: Report, options: argparse.Namespace, root: Path) -> bool:
    """Write or show what was proven, and tell which lines stay. Return whether all was written."""
    from capturelint.report.text import counted
    from capturelint.rewrite.compose import unified_diff
    from capturelint.rewrite.writing import UnwritableError

    patches: list[str] = []
    lines, is_done = 0, True
    for rewrite in report.rewrites:
        shown = shown_path(rewrite.path)
        original = original_of(Path(rewrite.path), shown, rewrite.digest, root, options)
        if original is None:
            is_done = False
            continue
        patches.append(unified_diff(original.text, rewrite.text, shown.lstrip("/")))
        if options.fix:
            try:
                original.replace(rewrite.text)
            except UnwritableError as error:
                output.complain(f"{shown} not rewritten: it {error}")
                is_done = False
                continue
        lines += len(rewrite.places)
        for note in rewrite.notes:
            output.complain(f"{shown}: {note}")
    for kept in report.kept:
        output.complain(f"{shown_path(str(kept.place))} stays: {kept.reason}")
    for words in report.suggestions:
        output.complain(words)
    if options.diff and patches:
        output.write("".join(patches).removesuffix("\n"), options.output)
    deed = "rewrote" if options.fix else "would rewrite"
    output.complain(f"{deed} {counted(lines, 'line')} to blame" if lines else "nothing to rewrite")
    return is_done
