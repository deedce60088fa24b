"""A linear algebra routine by its `_ex` form, which leaves the status on the device.

`torch.linalg.inv(a)` is `torch.linalg.inv_ex(a).inverse`, but raises for a matrix that has no inverse,
where the other returns numbers that mean nothing. So the form is unsafe.
"""

from __future__ import annotations

import libcst as cst

from capturelint.rewrite.form import Form, Grade, Refusal
from capturelint.rewrite.site import Site
from capturelint.rule import method_call

CODES = ("CL801",)

# The `_ex` form and the part of its result that the plain form returns.
_FORMS = {
    "torch.linalg.inv": ("inv_ex", "inverse"),
    "torch.inverse": ("inv_ex", "inverse"),
    "torch.linalg.cholesky": ("cholesky_ex", "L"),
    "torch.linalg.solve": ("solve_ex", "result"),
}
_METHODS = {"inverse": ("inv_ex", "inverse")}
# All that have such a form.
ROUTINES = frozenset((*_FORMS, *(f"Tensor.{name}" for name in _METHODS)))
_HINT = "decompose before the region, or iterate on the device"


def match(site: Site) -> tuple[Form, ...] | Refusal:
    """Offer the form that does not check its status."""
    call = site.node
    if not isinstance(call, cst.Call):
        return ()
    if any(isinstance(one, cst.Try | cst.TryStar) for one in site.facts.around(call)):
        return site.refusal("TRY", "it stands in a `try`, which may wait for its error", _HINT)
    name, called = site.facts.full_name(call.func), method_call(call)
    given = ", ".join(site.facts.text(arg) for arg in call.args)
    form = _FORMS.get(name)
    if form is None and not name and called is not None and not call.args:
        form = _METHODS.get(called[1])
        if form is not None and not site.facts.is_surely_tensor(called[0]):
            return site.refusal("RECEIVER", "what it is called on may be no tensor", _HINT)
        given = site.facts.text(called[0])
    if form is None:
        return site.refusal("FORM", "this routine has no form that leaves its status alone", _HINT)
    words = {arg.keyword.value if arg.keyword else arg.star for arg in call.args} - {""}
    if words - ({"upper", "left", "A", "B"} if name != "torch.inverse" else set()):
        return site.refusal("ARGUMENTS", "its arguments cannot be told", _HINT)
    return site.with_torch(Grade.UNSAFE, call, f"{{torch}}.linalg.{form[0]}({given}).{form[1]}")
