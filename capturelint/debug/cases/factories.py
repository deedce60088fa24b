"""A case from what the user named: a case, a module, a pair of module and inputs, or a factory."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, ParamSpec, TypeGuard, TypeVar

from torch import nn

from capturelint.debug.backend import CannotTellError
from capturelint.debug.cases.case import Case, Runnable
from capturelint.debug.cases.mistakes import CaseError, kind_of, raised
from capturelint.debug.cases.signature import accepted, required
from capturelint.debug.settings import Settings
from capturelint.errors import CapturelintError

_Parameters = ParamSpec("_Parameters")
_Result = TypeVar("_Result")

_WANTED = "return (module, inputs) or a capturelint.Case"


def case_from(value: object, label: str, inputs: object, settings: Settings) -> Case:
    """Return the case that `value` is or makes. `label`: what the user calls it.

    `inputs`: what to use in place of its own, or None. Raises `CaseError` if it makes no case.
    """
    if isinstance(value, type):
        value = _instance(value, label, settings)
    if isinstance(value, nn.Module) and inputs is None:
        raise CaseError(
            f"no inputs for {label}; add --inputs FILE.py:NAME, or name a factory that returns "
            "(module, inputs)"
        )
    case = _as_case(value, label, inputs)
    if case is not None:
        return case
    if not callable(value):
        raise CaseError(f"{label} is {kind_of(value)}; name a factory, a module or a Case")
    if inputs is not None and required(value):
        return _made(label, Case, value, inputs)
    return _from_factory(value, label, inputs, settings)


def _from_factory(
    factory: Callable[..., Any], label: str, inputs: object, settings: Settings
) -> Case:
    missing = required(factory)
    if missing:
        raise CaseError(
            f"{label} needs arguments ({', '.join(missing)}); give them defaults: only device, "
            "seed and batch_size are passed"
        )
    result = _made(label, factory, **accepted(factory, settings.seed))
    case = _as_case(result, label, inputs)
    if case is not None:
        return case
    if callable(result):
        raise CaseError(
            f"{label} returned {kind_of(result)} without inputs; {_WANTED}, or add --inputs "
            "FILE.py:NAME"
        )
    raise CaseError(f"{label} returned {_words(result)}; {_WANTED}")


def _as_case(value: object, label: str, inputs: object) -> Case | None:
    """Return the case that `value` already is, with `inputs`, or None."""
    if isinstance(value, Case):
        return value if inputs is None else replace(value, inputs=inputs)
    if isinstance(value, tuple) and len(value) == len(("module", "inputs")):
        callables, own = value
        if callable(callables) or _is_several(callables):
            return _made(label, Case, callables, own if inputs is None else inputs)
    if inputs is not None and (isinstance(value, nn.Module) or _is_several(value)):
        return _made(label, Case, value, inputs)
    return None


def _instance(cls: type, label: str, settings: Settings) -> object:
    """Return a module of the class `cls`, in eval mode unless it is to be trained."""
    if not issubclass(cls, nn.Module):
        raise CaseError(f"{label} is {kind_of(cls)}; name a factory, a module or a Case")
    missing = required(cls)
    if missing:
        raise CaseError(
            f"{label} needs arguments ({', '.join(missing)}); name a factory that makes it: "
            f"def make(): return {cls.__name__}(...), inputs"
        )
    module: nn.Module = _made(label, cls, **accepted(cls, settings.seed))
    return module if settings.train else module.eval()


def _made(
    label: str,
    make: Callable[_Parameters, _Result],
    *args: _Parameters.args,
    **kwargs: _Parameters.kwargs,
) -> _Result:
    """Return what `make` returns. Says where, if the user's code raises."""
    try:
        return make(*args, **kwargs)
    except CaseError as error:
        raise CaseError(f"{label}: {error}") from error
    except (CapturelintError, CannotTellError):
        raise
    except (Exception, SystemExit) as error:
        raise raised(label, error) from error


def _is_several(value: object) -> TypeGuard[Mapping[str, Runnable]]:
    return isinstance(value, Mapping) and bool(value) and all(map(callable, value.values()))


def _words(value: object) -> str:
    if isinstance(value, tuple):
        return f"({', '.join(type(one).__name__ for one in value)})"
    return kind_of(value)
