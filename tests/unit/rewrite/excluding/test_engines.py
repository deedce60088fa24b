"""What is suggested for servers is Python, and leaves nothing out."""

from __future__ import annotations

import ast

import pytest

from capturelint.rewrite.excluding.engines import SNIPPETS, Module, suggestion

GATE = Module("layers.0.gate", "Gate", (("x", "torch.Tensor"), ("scale", "float")), like="x")


@pytest.mark.parametrize("form", SNIPPETS)
def test_a_suggestion_is_code_that_hands_all_over(form: str) -> None:
    head, _, code = suggestion(form, GATE).partition("\n")

    ast.parse(code)
    assert head.startswith("layers.0.gate (Gate) could run eagerly in ")
    assert "(not run here)" in head
    assert "output.copy_(self._eager_forward(x, scale))" in code
    assert "output = torch.empty_like(x)" in code


def test_what_is_not_known_is_said() -> None:
    head = suggestion("vllm", Module("a", "A", (("x", "torch.Tensor"),), ("cache",))).split("\n")[0]

    assert "fill in the shape and dtype of `output`" in head
    assert "keep cache on the module" in head


def test_an_operation_of_vllm_is_registered_with_its_types() -> None:
    code = SNIPPETS["vllm"](GATE)

    assert "def gate_with_output(\n    x: torch.Tensor,\n    scale: float,\n    output" in code
    assert 'config.splitting_ops.append("vllm::gate_with_output")' in code
