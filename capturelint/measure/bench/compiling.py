"""A case under `torch.compile`."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module
from typing import Any

import torch

from capturelint.debug.cases.case import Case


def compiled(case: Case, sizes: int) -> Case:
    """Return the case with its callables compiled, each anew for so many sizes. Imports for seconds."""
    config: Any = import_module("torch._dynamo").config
    # One compilation for each size; above the limit torch would run eagerly without a word.
    config.cache_size_limit = max(config.cache_size_limit, 4 * sizes)
    made = {name: torch.compile(run, dynamic=False) for name, run in case.named.items()}
    return replace(case, callables=made.get("", made))
