"""Cases for the models of other libraries, by name: `hf:llama`, `timm:resnet18`."""

from __future__ import annotations

from collections.abc import Callable

from capturelint.debug.cases.case import Case
from capturelint.debug.cases.hub.hf import hf_case
from capturelint.debug.cases.hub.timm_models import timm_case


def named_case(target: str) -> Callable[[], Case]:
    """Return what makes a fresh case of the model that `target` names. Raises `CaseError`."""
    library, _, name = target.partition(":")
    return hf_case(name) if library == "hf" else timm_case(name)
