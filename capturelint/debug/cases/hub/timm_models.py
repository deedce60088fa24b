"""A case for a model of timm: with random weights, on images of the size it was made for."""

from __future__ import annotations

from collections.abc import Callable
from difflib import get_close_matches
from importlib import import_module
from typing import Any

from capturelint.debug.cases.case import Case
from capturelint.debug.cases.hub.draws import Noise, drawn
from capturelint.debug.cases.mistakes import CaseError, summary
from capturelint.debug.cases.requirements import require

_BATCH = 2


def timm_case(name: str) -> Callable[[], Case]:
    """Return what makes a case of the model `name`, such as `resnet18`. Never downloads.

    Raises `CaseError` if timm has no such model or cannot make it.
    """
    timm = _timm()
    if not timm.is_model(name):
        near = get_close_matches(name, timm.list_models(), n=1)
        hint = f"did you mean timm:{near[0]}?" if near else "name one such as timm:resnet18"
        raise CaseError(f"timm:{name}: timm {timm.__version__} has no such model; {hint}")
    return lambda: _case(timm, name)


def _case(timm: Any, name: str) -> Case:
    try:
        model = timm.create_model(name, pretrained=False).eval()
    except Exception as error:
        raise CaseError(
            f"timm:{name}: it cannot be made: {summary(error)}; write a factory: FILE.py:make"
        ) from error
    plan = {"x": Noise((_BATCH, *model.default_cfg["input_size"]))}
    size = sum(one.numel() for one in model.parameters())
    note = f"timm:{name}: {type(model).__name__} with random weights, {size:,} parameters"
    return Case(model, lambda seed: (drawn(plan, seed)["x"],), notes=(note,))


def _timm() -> Any:
    require("timm")
    try:
        return import_module("timm")
    except ModuleNotFoundError as error:
        raise CaseError(
            f"timm needs {error.name}, which is not installed; pip install {error.name}"
        ) from error
    except Exception as error:
        raise CaseError(f"importing timm raised {summary(error)}; mend its installation") from error
