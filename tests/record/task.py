"""One thing to capture: an example of a fixture, or a form of an operation; and how it is judged."""

from __future__ import annotations

import contextlib
import io
import warnings
from dataclasses import dataclass
from typing import TypeAlias

import torch

from capturelint.lint.fixture import digests
from capturelint.lint.registry import builtin_rules
from tests.record.examples import COLD_SITES, is_site, names, step
from tests.record.forms import Form, forms
from tests.record.outcome import REFUSES, UNDECIDED, Outcome, said
from tests.record.sites import needs_process_of_its_own, site_outcome
from tests.record.step import step_outcome
from tests.record.world import scripted

# What torch says before CUDA is asked: the capture ends well, and the process stays as it was.
# After any other refusal the allocator keeps a pool for it, and generators need a repair.
_CLEAN = "Cannot copy between CPU and CUDA tensors"


@dataclass(frozen=True, slots=True)
class ExampleTask:
    """One example of a rule's fixture. `source`: the digest of what it consists of."""

    rule: str
    name: str
    source: str

    @property
    def is_alone(self) -> bool:
        """Return whether it needs a process of its own, and spoils it."""
        # torch hands out 32 streams in turn: after enough examples one gets the capturing stream.
        is_first_stream = self.rule == "CL702"
        is_whole_site = is_site(self.rule, self.name)
        return is_first_stream or (is_whole_site and needs_process_of_its_own(self.rule, self.name))

    @property
    def is_cold(self) -> bool:
        """Return whether it is about what happens where no library was used before."""
        return self.rule in COLD_SITES

    @property
    def key(self) -> dict[str, str]:
        """Return what the record knows it by."""
        return {"rule": self.rule, "example": self.name}

    def judge(self) -> Outcome:
        """Capture it in this process."""
        with scripted() as world:
            if is_site(self.rule, self.name):
                return site_outcome(self.rule, self.name, world)
            return step_outcome(step(self.rule, self.name, world), world)


@dataclass(frozen=True, slots=True)
class FormTask:
    """One piece of code for a row of the table of operations."""

    form: Form
    is_alone: bool = False
    is_cold: bool = False

    @property
    def source(self) -> str:
        """Return the digest of the code."""
        return self.form.source

    @property
    def key(self) -> dict[str, str]:
        """Return what the record knows it by."""
        return {"op": self.form.op, "form": self.form.form, "code": self.form.code}

    def judge(self) -> Outcome:
        """Capture it in this process."""
        with scripted() as world:
            return step_outcome(self.form.step(), world)


Task: TypeAlias = ExampleTask | FormTask


def example_tasks() -> list[ExampleTask]:
    """Return the examples of all built-in rules."""
    found: list[ExampleTask] = []
    for entry in builtin_rules():
        sources = digests(entry.fixture.read_text(encoding="utf-8"))
        found += [ExampleTask(entry.code, one, sources[one]) for one in names(entry.fixture)]
    return found


def form_tasks() -> list[FormTask]:
    """Return what is written down for the rows of the table of operations."""
    return [FormTask(form) for form in forms()]


def judged(task: Task) -> Outcome:
    """Return what a task comes to in this process; what it prints and warns of is dropped."""
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        if not task.is_cold:
            _warm_up_libraries()
        try:
            return task.judge()
        except Exception as error:  # noqa: BLE001 - one that was not expected spoils no other
            return Outcome(UNDECIDED, said(error))


def judged_on_device(task: Task) -> tuple[Outcome, bool]:
    """Return what a task comes to on the GPU, and whether this process is fit for another."""
    outcome = judged(task)
    is_clean = outcome.outcome != REFUSES or _CLEAN in outcome.error
    return outcome, is_clean and not task.is_alone and _is_sound()


def _warm_up_libraries() -> None:
    x = torch.ones(8, 8, device="cuda", requires_grad=True)
    torch.autograd.grad((x @ x + x.addmm(x, x)).sum(), x)
    torch.bmm(x[None], x[None])


def _is_sound() -> bool:
    """Return whether this process can still capture and draw numbers."""
    try:
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        x = torch.zeros(1, device="cuda")
        with torch.cuda.graph(graph):
            y = x + 1
        graph.replay()
        return y.item() == 1 and torch.rand(1, device="cuda").item() < 1
    except RuntimeError:
        return False
