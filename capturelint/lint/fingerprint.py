"""What a finding is known by when the lines around it move."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable

from capturelint.finding import Finding


def fingerprints(findings: Iterable[Finding]) -> list[str]:
    """Return a fingerprint for each finding, in their order: 32 hexadecimal digits.

    It is made of the code, the qualified function, the line without its spaces, and which of
    several such findings in its file this is. Two files can hold findings of one fingerprint: their
    paths tell them apart.
    """
    seen: Counter[tuple[str, ...]] = Counter()
    result = []
    for finding in findings:
        parts = (finding.code, finding.function, normalised(finding.source))
        key = (finding.path, *parts)
        seen[key] += 1
        text = "\0".join([*parts, str(seen[key])])
        digest = hashlib.sha256(text.encode("utf-8", "surrogatepass"))
        result.append(digest.hexdigest()[:32])
    return result


def normalised(source: str) -> str:
    """Return source without what a formatter changes inside a line: spaces, the kind of quotes."""
    return "".join(source.split()).replace("'", '"')
