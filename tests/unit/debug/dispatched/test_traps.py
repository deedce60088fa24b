"""What a capture refuses: forms as an H200 with torch 2.11 refused and allowed them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import torch
from torch.nn import functional

from capturelint.debug.dispatched.refusal import SimulatedCaptureError
from capturelint.operations.messages import (
    FOREIGN_GENERATOR,
    NO_EIGENVALUES,
    NOT_PERMITTED,
    UNPINNED,
)

if TYPE_CHECKING:
    from capturelint.debug.simulated import SimulatedBackend
    from tests.unit.debug.conftest import InSession


def outcome(backend: SimulatedBackend, code: str, names: dict[str, Any]) -> str:
    """Return "", or what capturing one line of Python is refused with."""

    def call() -> None:
        exec(code, dict(names))

    call()  # so that no library is first met in the capture
    try:
        backend.capture(call)
    except SimulatedCaptureError as error:
        oldest: BaseException = error
        while oldest.__context__ is not None:
            oldest = oldest.__context__
        return str(oldest)
    return ""


def outcomes(backend: SimulatedBackend, lines: str) -> dict[str, str]:
    """Return the outcome of each line."""
    found = {}
    for line in filter(None, map(str.strip, lines.splitlines())):
        names: dict[str, Any] = {
            "torch": torch,
            "F": functional,
            "x": torch.randn(8, 16).cuda(),
            "w": torch.ones(2, 16, 16).cuda(),
            "n": torch.tensor(3).cuda(),
            "t": torch.tensor(2.0).cuda(),
            "c": torch.tensor(2.0),
            "i": torch.tensor([0, 2, 1]).cuda(),
            "h": torch.ones(8, 16),
            "p": torch.ones(8, 16).pin_memory(),
        }
        names["m"] = names["x"] > 0
        found[line] = outcome(backend, line, names)
    return found


def check(in_session: InSession, lines: str, message: str) -> None:
    def body(backend: SimulatedBackend) -> None:
        found = outcomes(backend, lines)

        assert found == dict.fromkeys(found, message)

    in_session(body)


def test_values_read_on_the_host_are_refused(in_session: InSession) -> None:
    check(
        in_session,
        """
        n.item()
        bool(m.any())
        torch.equal(x, x.clone())
        torch.allclose(x, x)
        repr(x)
        f"{t:.2f}"
        2.0 in x
        list(range(n))
        torch._check_tensor_all(m | True)
        x.masked_fill(m, t)
        x.index_fill(0, i, t)
        x.index_fill_(0, i, t)
        torch.full((3,), t, device="cuda")
        torch.add(x, x, alpha=t)
        x.clamp(0.0, t)
        torch.linspace(t, 3.0, 5, device="cuda")
        torch.arange(n, device="cuda")
        torch.tensor([t, t])
        torch.isin(2.0, x)
        torch.isin(x, x)
        torch.searchsorted(x[0].sort()[0], x[0], sorter=torch.arange(16, device="cuda"))
        torch.normal(x, x.abs())
        torch.zeros(3000, device="cuda").mode()
        torch.segment_reduce(x, "sum", lengths=i[:2] * 0 + 4)
        torch._foreach_add([x], t)
        x[n]
        x[:n]
        x.roll(n)
        """,
        NOT_PERMITTED,
    )


def test_results_as_long_as_the_data_says_are_refused(in_session: InSession) -> None:
    check(
        in_session,
        """
        x[m]
        x[:, m[0]]
        y = x.clone(); y[m] = t
        y = x.clone(); y[m] = x[0, :1]
        y = x.clone(); y[m[:, 0]] = x[0]
        y = x.clone(); y[m] += 1
        x.nonzero()
        torch.where(m)
        torch.argwhere(m)
        x.masked_select(m)
        torch.unique(i)
        torch.unique(x, dim=0)
        torch.unique_consecutive(i)
        torch.repeat_interleave(x, n, 0)
        torch.combinations(i)
        F.one_hot(i)
        """,
        NOT_PERMITTED,
    )


def test_copies_of_unpinned_memory_are_refused(in_session: InSession) -> None:
    check(
        in_session,
        """
        x.cpu()
        x.tolist()
        x.numpy(force=True)
        h.cuda()
        h.to("cuda", non_blocking=True)
        c.to("cuda")
        x.clone().copy_(h)
        h.copy_(x, non_blocking=True)
        p[:, :3].to("cuda", non_blocking=True)
        p.to("cuda", torch.float16)
        x.copy_(p[0], non_blocking=True)
        x.t().to("cpu", torch.float16, non_blocking=True)
        torch.empty(16, 8, pin_memory=True).t().copy_(x, non_blocking=True)
        torch.tensor(5, device="cuda")
        x.new_tensor([1.0])
        torch.as_tensor([1.0], device="cuda")
        torch.where(m, x, c)
        x.bernoulli_(c * 0)
        torch._foreach_copy_([x], [h])
        x[[0, 2]]
        x[torch.tensor([0, 1])]
        x[range(3)]
        y = x.clone(); y[:, i] = 1.0
        y = x.clone(); y[i] = c
        y = x.clone(); y[0, 1] = 5.0
        y = x.clone(); y[0] = torch.ones(16)
        y = x.clone(); y[[0, 2]] = 1.0
        x.index_put_((m,), c, accumulate=True)
        torch.bincount(i)
        torch.bincount(i, minlength=5)
        torch.histc(x, 4)
        torch.linalg.svd(w)
        torch.linalg.matrix_exp(w)
        torch.linalg.pinv(w)
        """,
        UNPINNED,
    )


def test_pinned_copies_that_wait_are_refused(in_session: InSession) -> None:
    check(in_session, 'p.to("cuda")\nx.copy_(p)\np.copy_(x)', NOT_PERMITTED)


def test_look_alikes_are_captured(in_session: InSession) -> None:
    check(
        in_session,
        """
        torch.equal(x, x)
        torch.equal(x, x.view(8, 16))
        torch.equal(x, x[:4])
        hash(x), x.shape, x.data_ptr(), list(x)
        torch._assert_async(m.any() | True)
        x.to("cpu", non_blocking=True)
        x.t().to("cpu", non_blocking=True)
        x[:, :3].to("cpu", non_blocking=True)
        x[:0].cpu()
        x[:0].tolist()
        h[:0].cuda()
        torch.tensor([], device="cuda")
        p.to("cuda", non_blocking=True)
        p.t().to("cuda", non_blocking=True)
        p.to("cuda", torch.float16, non_blocking=True)
        p.copy_(x, non_blocking=True)
        h.pin_memory()
        x.masked_fill(m, c)
        x.masked_fill(m, 2.0)
        x.index_fill(0, i, 2.0)
        x.clamp(min=t)
        x.clamp(t, t)
        torch.where(m, x, t)
        torch.where(m, 1.0, 2.0)
        torch.linspace(c, 3.0, 5, device="cuda")
        torch.full((3,), c, device="cuda")
        torch.as_tensor(t)
        torch.stack([t, t])
        x * c
        torch.isin(x, 2.0)
        torch.isin(x, i.float())
        torch.normal(x, 1.0)
        torch.zeros(2000, device="cuda").mode()
        torch.segment_reduce(x, "sum", lengths=i[:2] * 0 + 4, unsafe=True)
        torch.segment_reduce(x, "sum", offsets=i[:2] * 0 + 4)
        y = x.clone(); y[m] = 0.5
        y = x.clone(); y[m] = torch.ones(1)
        y = x.clone(); y[m[:, 0], 1] = 0.5
        y = x.clone(); y[i] = t
        y = x.clone(); y[i] += 1.0
        y = x.clone(); y[0] = 5.0
        y = x.clone(); y[:1] = 5.0
        y = x.clone(); y[0, 1] = t
        x[i]
        x[n.reshape(1)]
        x[torch.tensor(1)]
        x[[]]
        x[torch.zeros(8, 16, dtype=torch.bool)]
        x.index_put_((m,), c)
        torch.nonzero_static(m, size=128)
        torch.repeat_interleave(x, i.repeat(3)[:8], 0, output_size=8)
        torch.repeat_interleave(x, 2, 0)
        torch.histc(x, 4, min=-1, max=1)
        F.one_hot(i, 5)
        x.clone().masked_scatter_(m, x)
        torch.multinomial(x.softmax(-1), 2)
        torch.linalg.inv_ex(w)
        torch.linalg.qr(x)
        torch.linalg.det(w)
        torch.linalg.lu(w[0])
        torch.linalg.matrix_exp(w[:, :1, :1])
        torch.linalg.svdvals(w[:0])
        torch._foreach_addcdiv([x], [x], [x], torch.tensor([1.0]))
        F.multi_margin_loss(x.bfloat16(), torch.arange(8, device="cuda"))
        """,
        "",
    )


def test_solvers_that_look_at_their_status_are_refused(in_session: InSession) -> None:
    check(
        in_session,
        """
        torch.linalg.inv(w[0] + torch.eye(16, device="cuda"))
        torch.linalg.solve(w[0] + torch.eye(16, device="cuda"), w[0])
        torch.linalg.eig(w)
        torch.linalg.lstsq(w, w)
        torch.linalg.lu(x)
        torch.linalg.lu_factor_ex(x)
        torch.cholesky_inverse(torch.eye(3, device="cuda").repeat(2, 1, 1))
        torch.linalg.eigh(w)
        """,
        NOT_PERMITTED,
    )
    check(in_session, "torch.linalg.eigh(w[0])", NO_EIGENVALUES)


@pytest.mark.parametrize(
    "code",
    [
        "v.prod().backward()",
        "v.cumprod(0).sum().backward()",
        "v.masked_scatter(v > 0, v * 2).sum().backward()",
    ],
)
def test_backwards_that_look_at_the_data_are_refused(in_session: InSession, code: str) -> None:
    def body(backend: SimulatedBackend) -> None:
        names = {"v": torch.ones(3, device="cuda", requires_grad=True)}

        assert outcome(backend, code, names) == NOT_PERMITTED

    in_session(body)


def test_other_backwards_are_captured(in_session: InSession) -> None:
    def body(backend: SimulatedBackend) -> None:
        v = torch.ones(3, device="cuda", requires_grad=True)
        for code in (
            "v.norm().backward()",
            "(v * 2).sum().backward()",
            "v.sort()[0][0].backward()",
        ):
            assert outcome(backend, code, {"v": v}) == ""

    in_session(body)


def test_only_bfloat16_is_multiplied_in_groups_on_the_device(in_session: InSession) -> None:
    code = "F.grouped_mm(a, b, offs=o)"

    def body(backend: SimulatedBackend) -> None:
        left, right = torch.ones(8, 16).cuda(), torch.ones(2, 16, 16).cuda()
        offsets = torch.tensor([4, 8], dtype=torch.int32).cuda()
        found = [
            outcome(
                backend,
                code,
                {"F": functional, "a": left.to(dtype), "b": right.to(dtype), "o": offsets},
            )
            for dtype in (torch.float32, torch.float16, torch.bfloat16)
        ]

        assert found == [UNPINNED, UNPINNED, ""]

    if not hasattr(functional, "grouped_mm"):
        pytest.skip("this torch has no grouped_mm")
    in_session(body)


def test_a_generator_of_its_own_is_refused_and_the_default_one_is_not(
    in_session: InSession,
) -> None:
    def body(backend: SimulatedBackend) -> None:
        names = {
            "torch": torch,
            "own": torch.Generator("cuda"),
            "default": torch.cuda.default_generators[0],
        }

        code = 'torch.rand(3, device="cuda", generator={})'
        assert outcome(backend, code.format("own"), names) == FOREIGN_GENERATOR
        assert outcome(backend, code.format("default"), names) == ""

    in_session(body)


@pytest.mark.parametrize(
    ("line", "rule"),
    [
        ('y = torch.tensor([1.0], device="cuda")', "CL201"),
        ('y = HOST.to("cuda")', "CL202"),
        ('y = torch.ones(3).to("cuda")', "CL202"),
        ("y = X[[0, 1]]", "CL203"),
        ("X[:, [0, 1]] = 1.0", "CL203"),
        ("y = X[COLS]", "CL203"),
        ("X[0, 1] = 5", "CL203"),
        ("X[0] = HOST", "CL202"),
        ("X[0, :2] = HOST.to('cuda')[:2]", "CL202"),
        ("y = torch.nn.functional.one_hot(X.long()).sum()", "CL301"),
        ("y = torch.nn.functional.one_hot(X.long(), X.sum().long())", "CL104"),
        ("y = torch.zeros(X.sum().long())", "CL104"),
        ("y = torch.ones(int(X.sum()))", "CL101"),
        ("y = X.sum().item()", "CL101"),
        ("y = X.cpu()", "CL102"),
        ("y = X[X > 0]", "CL302"),
        ("y = X.nonzero()", "CL301"),
        ("y = bool(X.sum() > 0)", "CL101"),
    ],
)
def test_the_rule_is_that_of_the_line(
    in_session: InSession, tmp_path: Any, line: str, rule: str
) -> None:
    file = tmp_path / "model.py"
    file.write_text(f"def forward(torch, X, HOST, COLS):\n    {line}\n", encoding="utf-8")

    def body(backend: SimulatedBackend) -> None:
        names: dict[str, Any] = {}
        exec(compile(file.read_text(encoding="utf-8"), str(file), "exec"), names)
        x, host = torch.ones(2, 3, device="cuda"), torch.ones(3)
        with backend.as_if_capturing(lambda: "") as hazards:
            names["forward"](torch, x, host, [0, 1])

        assert {(hazard.place.line, hazard.code) for hazard in hazards} == {(2, rule)}

    in_session(body)
