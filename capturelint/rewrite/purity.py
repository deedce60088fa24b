"""Whether evaluating an expression can change anything but the value it gives."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from capturelint.rewrite.site import Facts
from capturelint.rule import method_call

# What is not listed counts as changing something. Random numbers do: they move the generator.
_BUILTINS = frozenset(
    f"builtins.{name}"
    for name in (
        "abs bool dict enumerate float format frozenset hasattr id int isinstance len list max min"
        " range repr reversed round set sorted str sum tuple type zip"
    ).split()
)
_FUNCTIONS = frozenset(
    f"torch.{name}"
    for name in (
        "abs add all allclose amax amin any arange argmax argmin argsort aminmax bincount ceil clamp"
        " count_nonzero cumsum diff div dot einsum eq equal exp eye floor full full_like ge gt"
        " histc is_floating_point isclose isfinite isinf isnan isneginf isposinf le linspace log"
        " log10 log1p log2 logical_and logical_not logical_or logsumexp lt matmul max maximum mean"
        " median min minimum mul nan_to_num nanmean nansum ne neg nonzero norm numel ones ones_like"
        " pow prod quantile round rsqrt sigmoid sign softmax sqrt square stack std sub sum tanh topk"
        " unique var where zeros zeros_like linalg.norm linalg.vector_norm linalg.matrix_norm"
        " relu sin cos erf lerp cat chunk split flatten reshape squeeze unsqueeze transpose permute"
        " tril triu outer bmm baddbmm addmm addcmul addcdiv cross cumprod flip roll square movedim"
        " broadcast_to atan atan2 fmod remainder trunc frac masked_fill scalar_tensor tensordot"
        " nn.functional.softmax nn.functional.normalize nn.functional.log_softmax"
        " nn.functional.relu nn.functional.gelu nn.functional.silu nn.functional.sigmoid"
        " nn.functional.tanh nn.functional.softplus nn.functional.leaky_relu nn.functional.elu"
        " nn.functional.linear nn.functional.layer_norm nn.functional.rms_norm nn.functional.pad"
        " nn.functional.logsigmoid nn.functional.hardswish nn.functional.mish nn.functional.relu6"
    ).split()
)
_MAYBE_IN_PLACE = frozenset(
    f"torch.nn.functional.{name}"
    for name in "elu hardswish leaky_relu mish relu relu6 silu".split()
)
_METHODS = frozenset(
    (
        "abs all allclose amax amin any argmax argmin argsort bfloat16 bool ceil clamp clone"
        " count_nonzero cpu cumsum detach diag dim div double element_size eq equal exp expand"
        " flatten float floor ge get_device gt half int is_contiguous is_floating_point isfinite"
        " isinf isnan item le log log10 log1p log2 logsumexp long lt max maximum mean median min"
        " minimum mul nansum nanmean ndimension ne nelement neg nonzero norm numel numpy permute pow"
        " prod quantile reshape round rsqrt select shape sigmoid sign size softmax sqrt square"
        " squeeze std storage_offset stride sub sum t tanh tolist topk transpose type unbind unique"
        " unsqueeze var view where relu sin cos erf lerp chunk split tril triu bmm mm addmm matmul"
        " cumprod flip roll contiguous to type_as new_zeros new_ones new_full masked_fill expand_as"
        " view_as reshape_as clamp_min clamp_max nan_to_num logical_and logical_or logical_not fmod"
        " remainder trunc frac reciprocal expm1 narrow movedim div dot isneginf isposinf"
    ).split()
)
# Of a written text only these are called.
_TEXT_METHODS = frozenset(("format", "join", "ljust", "rjust", "center", "upper", "lower", "strip"))
_PLAIN = (cst.Name, cst.BaseNumber, cst.SimpleString, cst.Ellipsis)
_TRANSPARENT = (
    cst.Attribute,
    cst.BinaryOperation,
    cst.BooleanOperation,
    cst.UnaryOperation,
    cst.Comparison,
    cst.IfExp,
    cst.Tuple,
    cst.List,
    cst.Set,
    cst.Dict,
    cst.Subscript,
    cst.FormattedString,
    cst.ConcatenatedString,
    cst.ListComp,
    cst.SetComp,
    cst.DictComp,
    cst.GeneratorExp,
)


def impurity(node: cst.BaseExpression, facts: Facts) -> str:
    """Return what in an expression may change something, in words; "" if nothing does.

    Whatever is not known to be pure is taken to change something.
    """
    for part in _expressions(node):
        if isinstance(part, cst.Call):
            if not _is_pure_call(part, facts):
                is_torchs = facts.full_name(part.func).startswith("torch.")
                what = "may change something, or fail" if is_torchs else "may change something"
                return f"`{facts.text(part.func)}()` {what}"
        elif not isinstance(part, (*_PLAIN, *_TRANSPARENT)):
            return f"`{facts.text(part)}` may change something"
    return ""


def _expressions(node: cst.CSTNode) -> Iterator[cst.BaseExpression]:
    """Yield an expression and all inside of it."""
    if isinstance(node, cst.BaseExpression):
        yield node
    for child in node.children:
        yield from _expressions(child)


def is_pure_function(node: cst.Call, name: str) -> bool:
    """Return whether a call of torch's function with a dotted name changes nothing."""
    if name not in _FUNCTIONS or not _keeps_arguments(node):
        return False
    # What comes after the input may ask for the result in its place.
    return name not in _MAYBE_IN_PLACE or len(node.args) == 1


def is_pure_method(node: cst.Call, facts: Facts) -> bool:
    """Return whether a call is one of a method, of a tensor or a written text, that changes nothing."""
    called = method_call(node)
    if called is None or not _keeps_arguments(node):
        return False
    receiver, method = called
    if isinstance(receiver, cst.SimpleString | cst.FormattedString | cst.ConcatenatedString):
        return method in _TEXT_METHODS
    value = facts.value(receiver)
    return method in _METHODS and value.is_tensor and not value.weak


def is_pure_method_name(name: str) -> bool:
    """Return whether a method of tensors by that name changes nothing."""
    return name in _METHODS


def _keeps_arguments(node: cst.Call) -> bool:
    words = {arg.keyword.value for arg in node.args if arg.keyword is not None}
    return words.isdisjoint(("out", "inplace"))


def _is_pure_call(node: cst.Call, facts: Facts) -> bool:
    name = facts.full_name(node.func)
    if name:
        return name in _BUILTINS or is_pure_function(node, name)
    return facts.is_pure_module(node.func) or is_pure_method(node, facts)
