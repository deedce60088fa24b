"""Load a case: from a file, a module, the name of a library's model, or a live object."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from difflib import get_close_matches

from torch import nn

from capturelint.debug.cases.case import Case, Runnable
from capturelint.debug.cases.factories import case_from
from capturelint.debug.cases.importing import Target, found, parsed
from capturelint.debug.cases.mistakes import CaseError, kind_of
from capturelint.debug.settings import Settings


def load(
    target: object,
    *,
    inputs: object = None,
    call: str | None = None,
    settings: Settings | None = None,
) -> Callable[[], Case]:
    """Return what makes a fresh instance of the case that `target` names, each time it is called.

    `target`: `file.py:make`, `pkg.mod:make`, `hf:TYPE`, `timm:NAME`; or a Case, a module, a pair
    of module and inputs, a function. `inputs`: what makes inputs, or its name, where the target
    makes none. `call`: the method to judge in place of `forward`.

    User code runs, and files are imported, when the result is called: do so inside a backend's
    session, the generators seeded. Raises `CaseError` there, or here for text that names nothing.
    """
    chosen = Settings() if settings is None else settings
    named = None
    if isinstance(target, str) and target.startswith(("hf:", "timm:")):
        make = _of_library(target)
    else:
        named = parsed(target) if isinstance(target, str) else None
        make = _own(target, named)
    within = None if named is None else named.place
    role = "what makes inputs"
    given = parsed(inputs, within=within, role=role) if isinstance(inputs, str) else inputs

    def instance() -> Case:
        value, label = make()
        own_inputs = found(given) if isinstance(given, Target) else given
        return _in_mode(_with_method(case_from(value, label, own_inputs, chosen), call), chosen)

    return instance


def _of_library(target: str) -> Callable[[], tuple[object, str]]:
    # Only those who ask for such a model pay for importing what makes it.
    from capturelint.debug.cases.hub.named import named_case

    make = named_case(target)
    return lambda: (make(), target)


def _own(target: object, named: Target | None) -> Callable[[], tuple[object, str]]:
    """Return what finds the user's object, and what to call it."""
    if named is None:
        return lambda: (target, getattr(target, "__qualname__", "the case"))
    return lambda: (found(named), named.text)


def _with_method(case: Case, call: str | None) -> Case:
    """Return the case with the method `call` of its module in place of the module."""
    if call is None:
        return case
    if len(case.named) > 1:
        names = ", ".join(case.named)
        raise CaseError(f"--call {call}: the case has {names}; name the methods as its callables")
    (holder,) = case.named.values()
    method = getattr(holder, call, None)
    if method is None:
        own = _own_methods(holder)
        near = get_close_matches(call, own, n=1)
        listed = f"it has {', '.join(own)}" if own else "name a method of its class"
        hint = f"did you mean {near[0]}?" if near else listed
        raise CaseError(f"--call {call}: {kind_of(holder)} has no {call!r}; {hint}")
    if not callable(method):
        raise CaseError(f"--call {call}: it is {kind_of(method)}; name a method")
    runnable: Runnable = method
    return replace(case, callables=runnable)


def _own_methods(holder: object) -> list[str]:
    """Return the methods that the user's classes define, not those of every module."""
    classes = [cls for cls in type(holder).__mro__ if not cls.__module__.startswith(_NOT_OWN)]
    methods = (name for cls in classes for name, one in vars(cls).items() if callable(one))
    return [name for name in dict.fromkeys(methods) if not name.startswith("_")]


_NOT_OWN = ("torch.", "builtins")


def _in_mode(case: Case, settings: Settings) -> Case:
    if not settings.train:
        return case
    for one in case.named.values():
        module = getattr(one, "__self__", one)  # of a bound method, its module
        if isinstance(module, nn.Module):
            module.train()
    return replace(case, mode="train")
