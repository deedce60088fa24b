"""What to write so that vLLM or SGLang runs a module eagerly: words and code, never put into files.

After the sources of vLLM 0.33.0 (`vllm/compilation/breakable_cudagraph.py`, `short_conv.py`) and SGLang
0.5.23 (`sglang/srt/model_executor/runner_backend_utils/breakable_cuda_graph`). They were read, not run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Module:
    """A module to run eagerly. `parameters`: what it is given by name, with its type as code has it.

    `others`: names of what is no tensor, number or text. `like`: the parameter whose shape and dtype the
    result has, or "".
    """

    path: str
    cls: str
    parameters: tuple[tuple[str, str], ...]
    others: tuple[str, ...] = ()
    like: str = ""

    @property
    def given(self) -> str:
        """The parameters as a call has them."""
        return ", ".join(name for name, _ in self.parameters)


def vllm(module: Module) -> str:
    """Return how to make an operation of a module that ends vLLM's graphs."""
    op = _op(module)
    typed = "".join(f"    {name}: {kind},\n" for name, kind in module.parameters)
    given = module.given
    return f'''\
from vllm.compilation.breakable_cudagraph import eager_break_during_capture
from vllm.config import get_current_vllm_config
from vllm.forward_context import get_forward_context
from vllm.utils.torch_utils import direct_register_custom_op


@eager_break_during_capture  # outermost; for VLLM_USE_BREAKABLE_CUDAGRAPH=1
def {op}(
{typed}    output: torch.Tensor,
    layer_name: str,
) -> None:
    self = get_forward_context().no_compile_layers[layer_name]
    # While graphs are captured, what it is given holds any values: it must bear them.
    output.copy_(self._eager_forward({given}))


def {op}_fake(
{typed}    output: torch.Tensor,
    layer_name: str,
) -> None:
    return


direct_register_custom_op(
    op_name="{op}",
    op_func={op},
    mutates_args=["output"],
    fake_impl={op}_fake,
)

# In {module.cls}.__init__(self, ..., prefix):
config = get_current_vllm_config().compilation_config
config.static_forward_context[prefix] = self
self.prefix = prefix
if config.splitting_ops is not None and "vllm::{op}" not in config.splitting_ops:
    config.splitting_ops.append("vllm::{op}")

# {module.cls}.forward becomes _eager_forward, and the new one:
def forward(self, {given}):
    output = {_empty(module)}
    torch.ops.vllm.{op}({given}, output, self.prefix)
    return output'''


def sglang(module: Module) -> str:
    """Return how to let a module end SGLang's graphs."""
    given = module.given
    return f"""\
from sglang.srt.model_executor.runner_backend_utils.breakable_cuda_graph import eager_on_graph

# {module.cls}.forward becomes _eager_forward, and the new ones:
def forward(self, {given}):
    output = {_empty(module)}
    self._run_between_graphs({given}, output)
    return output

# While graphs are captured, what it is given holds nothing yet.
@eager_on_graph(capture_stub=lambda *args, **kwargs: None)
def _run_between_graphs(self, {given}, output) -> None:
    output.copy_(self._eager_forward({given}))"""


HEADS: Mapping[str, str] = {
    "vllm": "vLLM 0.33 (not run here): with cudagraph_mode PIECEWISE, as full graphs would capture it",
    "sglang": "SGLang 0.5.23 (not run here): with `--cuda-graph-backend-decode breakable` and"
    " `--cuda-graph-backend-prefill breakable`, as full graphs would capture it",
}
SNIPPETS: Mapping[str, Callable[[Module], str]] = {"vllm": vllm, "sglang": sglang}


def suggestion(form: str, module: Module) -> str:
    """Return the words and the code for one module. `form`: `vllm` or `sglang`."""
    unlike = (
        "" if module.like else "; fill in the shape and dtype of `output`, for every batch size"
    )
    if module.others:
        unlike += f"; keep {', '.join(module.others)} on the module, as these cannot be handed over"
    head = f"{module.path} ({module.cls}) could run eagerly in {HEADS[form]}{unlike}"
    return f"{head}\n{SNIPPETS[form](module)}"


def _op(module: Module) -> str:
    return f"{module.cls.lower()}_with_output"


def _empty(module: Module) -> str:
    if module.like:
        return f"torch.empty_like({module.like})"
    return "torch.empty(...)  # the shape and dtype of the result, as long as the batch"
