"""What verdicts and degrees of certainty mean, in the words of a report."""

from __future__ import annotations

from collections.abc import Mapping

from capturelint.finding import Effect
from capturelint.operations.messages import NO_BLAS, NO_DNN, NO_FFT, NO_SOLVER
from capturelint.report.excerpt import printable
from capturelint.verdict import ONLY, ROOT, Certainty, Culprit, Report, Verdict

_MEANINGS: Mapping[Verdict, str] = {
    Verdict.REFUSES: "capturing it raises an error",
    Verdict.STALE: "it captures, but a replay on new inputs does not compute what eager computes",
    Verdict.FAILS_COLD: "it captures only after eager calls have warmed it up",
    Verdict.FAILS_TOGETHER: "each part passes alone, together they fail",
    Verdict.DIFFERS: "while it captures, the code computes something else than eagerly",
    Verdict.OVERWRITTEN: "an output is kept by reference, and read after a replay has overwritten it",
    Verdict.PADS: "what the pad rows of a batch hold changes the real rows",
    Verdict.WORK_MISSING: "part of the work runs outside the capture, so that no replay does it",
    Verdict.EMPTY_GRAPH: "nothing was recorded, so that a replay does nothing",
    Verdict.UNDECIDED: "it could not be judged",
    Verdict.NONDETERMINISTIC: "eager runs differ from each other, and replays differ no more",
    Verdict.ALIASES_INPUT: "an output shares memory with an input, or an input is written in place",
    Verdict.NOT_CALLED: "nothing of it ran",
}

_CERTAINTIES: Mapping[tuple[Certainty, Effect], str] = {
    (Certainty.SHOWN, Effect.REFUSES): "seen: captured alone, the module raises at this line",
    (Certainty.SHOWN, Effect.STALE): "seen: the value here was another one in the next eager call",
    (Certainty.LIKELY, Effect.REFUSES): "likely: the capture itself did not stop at this line",
    (Certainty.SHOWN, Effect.LEAKS): "seen: real rows were what they were before this line",
    (Certainty.LIKELY, Effect.LEAKS): "likely: pad rows and real rows come together at this line",
    (Certainty.LIKELY, Effect.STALE): "likely: it fits what differs; no error marks the line",
}
_OTHER_CERTAINTIES: Mapping[Certainty, str] = {
    Certainty.SHOWN: "seen with the module captured alone",
    Certainty.LIKELY: "likely, not seen",
    Certainty.AT_OR_BEFORE: "at this line or before it: an earlier error was caught by the code",
    Certainty.MODULE_ONLY: "the module is to blame; no line is known",
}

_JOIN = (
    "Run this work on the stream that is captured, in the thread that captures, or fork a stream:"
    " `side.wait_stream(torch.cuda.current_stream())`."
)
_NEXT: Mapping[Verdict, str] = {
    Verdict.STALE: "Keep what changes between calls in a tensor on the device, and update it in place.",
    Verdict.FAILS_COLD: "Call the module a few times on a side stream before the capture.",
    Verdict.FAILS_TOGETHER: "Look at what these modules share: buffers, caches, streams.",
    Verdict.DIFFERS: "Compare both branches of the code that asks whether it is being captured.",
    Verdict.OVERWRITTEN: (
        "Keep a copy: `output.clone()` after the replay, or `buffer.copy_(output)` into memory of"
        " your own."
    ),
    Verdict.WORK_MISSING: _JOIN,
    Verdict.EMPTY_GRAPH: _JOIN,
}
# By what the message holds, for lines that no rule explains.
_REMEDIES: Mapping[str, str] = {
    "unless the CPU tensor is pinned": "Make the tensor on the device once, before the captured code.",
    "cudaErrorStreamCaptureUnjoined": (
        "Before the captured code ends, wait for the side stream:"
        " `torch.cuda.current_stream().wait_stream(side)`."
    ),
    "cudaErrorStreamCaptureIsolation": (
        "Before the side stream is given work, let it wait:"
        " `side.wait_stream(torch.cuda.current_stream())`."
    ),
    "CUDA generator not in capture mode": (
        "Register the generator before the capture, `graph.register_generator_state(generator)`, or"
        " draw from the device's default generator."
    ),
    "cudaErrorCapturedEvent": "Query and wait for events outside the captured code.",
}
# By how the operation is told: which function of torch asked for it, or where it ran.
_REMEDIES_BY_OPERATION: Mapping[str, str] = {
    " in torch.amp.GradScaler.step": (
        "Make the optimizer with `fused=True`, which takes scale and infinities from the device, or"
        " call `scaler.step` after the replay."
    ),
    " in torch.nn.utils.clip_grad_norm_": (
        "Leave out `error_if_nonfinite=True`, and test the norm that it returns after the replay."
    ),
    " in a batch norm of torch": (
        "Give the batch norm a number as `momentum`: with None it reads how many batches it has seen."
    ),
    " of a number": (
        "Write a slice that holds the one element, `x[0:1] = 5.0` for `x[0] = 5.0`, or fill it on the"
        " device: `x[0].fill_(5.0)`."
    ),
    " on a stream outside the capture": (
        "Fork the side stream and join it in the captured code:"
        " `side.wait_stream(torch.cuda.current_stream())` before its work,"
        " `torch.cuda.current_stream().wait_stream(side)` after it."
    ),
}
# What is said where a library's handle is first needed while capturing.
_HANDLES = (NO_BLAS, NO_DNN, NO_SOLVER, NO_FFT)
_MAKE_HANDLES = (
    "No fault of this code: the library makes its handle in the first call of a process, so any model"
    " that uses it needs a warm-up before the capture."
)
_HOST_RANDOM = "host random numbers"  # as the evidence of a change says it
_DRAW_ON_DEVICE = (
    "Draw random numbers on the device with torch, such as `torch.rand((), device=x.device)`:"
    " replays advance that generator."
)
# What pad rows held where nothing finite moved real rows: they were masked by multiplication.
_NOT_FINITE = frozenset({"NaN", "Inf"})
_CHOOSE_ROWS = (
    "NaN times 0 is NaN: choose with `torch.where` instead of multiplying by a mask, or zero the"
    " pad rows before each replay."
)
_MASK_ROWS = (
    "Leave the pad rows out of what is computed over the batch, with a mask in a tensor of fixed"
    " shape, or compute each row by itself."
)
_KEEP_APART = (
    "Let pad rows write where no real row reads, such as a slot of their own, and count real rows"
    " alone."
)
_KEEP_ALIVE = (
    "Look at the indices and addresses that it reads: a replay reads the memory that was there during"
    " capture, so keep it alive and write in place what changes."
)
_NEXT_IS_UNKNOWN = "Do this before the captured code runs, or do it on the device."


def is_simulated(report: Report) -> bool:
    """Return whether no GPU was used."""
    return report.backend == "simulated"


def meaning(report: Report) -> str:
    """Return in words what the verdict on the whole case says, or on the modules that were named."""
    is_part = any(note.startswith(ONLY) for note in report.notes)
    return f"{_meaning(report)}{', in the modules judged' if is_part else ''}"


def _meaning(report: Report) -> str:
    if report.verdict is not Verdict.EQUAL:
        return _MEANINGS[report.verdict]
    replays = report.timings.get("replays")
    inputs = "fresh inputs" if replays is None else f"{replays:.0f} fresh inputs"
    return f"no trap seen, replays equal on {inputs}"


def heading(report: Report) -> str:
    """Return the verdict as printed: never without the word that says how it was reached."""
    return f"{report.verdict.value}{' (simulated)' if is_simulated(report) else ''}"


def certainty(culprit: Culprit) -> str:
    """Return how sure it is that a culprit is to blame."""
    if culprit.place is None:
        return _OTHER_CERTAINTIES[Certainty.MODULE_ONLY]
    if culprit.evidence.beginning:
        return f"seen: {culprit.evidence.beginning}"
    known = _CERTAINTIES.get((culprit.certainty, culprit.effect))
    return known or _OTHER_CERTAINTIES[culprit.certainty]


def next_step(verdict: Verdict, culprit: Culprit, advice: str) -> str:
    """Return one sentence on what to do. `advice`: that of the rule about the line, or ""."""
    if any(_HOST_RANDOM in change for change in culprit.evidence.changes):
        return _DRAW_ON_DEVICE
    if culprit.effect is Effect.LEAKS:
        return _next_of_pads(culprit)
    if culprit.evidence.beginning:
        return _KEEP_ALIVE
    known = (
        words for end, words in _REMEDIES_BY_OPERATION.items() if culprit.operation.endswith(end)
    )
    by_operation = next(known, "")
    if by_operation and verdict is not Verdict.FAILS_COLD:
        return by_operation
    if verdict is Verdict.FAILS_COLD and any(sign in culprit.message for sign in _HANDLES):
        return _MAKE_HANDLES
    # What keeps a replay from following the inputs has many causes; the rule knows which.
    if verdict in _NEXT and not (verdict is Verdict.STALE and advice):
        return _NEXT[verdict]
    remedies = (remedy for sign, remedy in _REMEDIES.items() if sign in culprit.message)
    return advice or next(remedies, _NEXT_IS_UNKNOWN)


def _next_of_pads(culprit: Culprit) -> str:
    """Return what to do about pad rows: what NaN alone moves has another cure."""
    evidence = culprit.evidence
    if evidence.fills and set(evidence.fills) <= _NOT_FINITE:
        return _CHOOSE_ROWS
    is_kept = evidence.output.startswith(("state ", "argument "))
    return _KEEP_APART if is_kept else _MASK_ROWS


def named(module: str, cls: str) -> str:
    """Return a module's path and class, such as `layers.0.attention (Attention)`."""
    path = printable(module) or ROOT
    return f"{path} ({printable(cls)})" if cls else path


def first_line(message: str) -> str:
    """Return the first line of an error's text: what follows is general advice of CUDA."""
    lines = [text for text in message.splitlines() if text.strip()]
    return printable(lines[0]) if lines else ""


def number(value: float) -> str:
    """Return a measured difference or a tolerance, short."""
    return f"{value:.3g}"
