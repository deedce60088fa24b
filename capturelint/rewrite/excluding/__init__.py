"""Let a module run eagerly between captured pieces, where nothing mends what it does."""

from __future__ import annotations

PACKAGE = "breakable_cuda_graphs"  # what the form `torch` needs
FORMS = ("torch", "vllm", "sglang")
