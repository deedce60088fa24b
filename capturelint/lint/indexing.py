"""The facts of many files: from the cache, from this process, or from several."""

from __future__ import annotations

import gc
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from capturelint.lint.cache.content import Stamp, digest, stamp_of
from capturelint.lint.cache.facts import Named, decode, encode
from capturelint.lint.files import Problem, UnreadableFileError, parse, read_data
from capturelint.lint.files import decode as decoded_text
from capturelint.lint.index import facts_of
from capturelint.names import FileFacts

# Measured by tests/bench/bench_pool.py, with room for systems where a process starts slowly.
WORTH_A_POOL = 400
_CHUNK = 32


@dataclass(frozen=True, slots=True)
class Indexed:
    """What reading one file gave.

    `digest` is that of its bytes, or why there are none. `said` and `lines` are its facts as JSON,
    "" until they are asked for.
    """

    result: FileFacts | Problem
    digest: str
    stamp: Stamp | None
    said: str = ""
    lines: str = ""


def indexed(
    files: Sequence[Named], texts: Mapping[str, str], *, jobs: int, encoded: bool
) -> Iterator[Indexed]:
    """Yield what each file holds, in their order, by path in `texts` or on disk.

    `encoded`: also as JSON.
    """
    if jobs < 2 or len(files) < WORTH_A_POOL or texts:
        for named in files:
            found = index_one(named, texts.get(str(named[0])))
            yield _with_json(found) if encoded else found
        return
    from concurrent.futures import ProcessPoolExecutor  # only here: it takes long to load

    # Syntax trees hold no cycles for the collector to find.
    with ProcessPoolExecutor(jobs, initializer=gc.disable) as pool:
        results = pool.map(_sent, files, chunksize=_CHUNK)
        for named, (said, lines, held, stamp) in zip(files, results, strict=True):
            facts = decode(named, json.loads(said), json.loads(lines))
            yield Indexed(facts, held, stamp, said, lines)


def index_one(named: Named, text: str | None = None) -> Indexed:
    """Return what one file holds, or holds once it has the given text."""
    path, module, is_package = named
    held, stamp = "", None
    try:
        if text is None:
            data, status = read_data(path)
            held, stamp = digest(data), stamp_of(status)
            text = decoded_text(data, path)
        tree = parse(text, path)
        facts = facts_of(tree, text, path=str(path), module=module, is_package=is_package)
    except UnreadableFileError as error:
        return Indexed(error.problem, held or f"!{error.problem.message}", stamp)
    except RecursionError:
        problem = Problem(path, 1, 0, "is nested too deeply to be checked")
        return Indexed(problem, held, stamp)
    return Indexed(facts, held, stamp)


def _with_json(found: Indexed) -> Indexed:
    said, lines = encode(found.result)
    return replace(found, said=said, lines=lines)


def _sent(named: Named) -> tuple[str, str, str, Stamp | None]:
    """Return what a file holds as text: dataclasses take longer to send than to make again."""
    found = index_one(named)
    said, lines = encode(found.result)
    return said, lines, found.digest, found.stamp
