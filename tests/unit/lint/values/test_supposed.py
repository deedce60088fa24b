"""What the use of a value that nothing else tells of says: a tensor, surely or by supposition."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.lint.probe import IMPORTS, kinds, linked


@pytest.mark.parametrize(
    ("used", "facts"),
    [
        ("odd.rows.any()", "device tensor, bool, weak"),
        ("odd['rows'].max()", "device tensor, weak"),
        ("unheard_of().sum() / 2", "device tensor, weak"),
        ("odd.rows.max() > 3", "device tensor, weak"),
        ("odd.config.rows.max()", "host value"),
        ("odd.rows.apply()", "unknown"),
        ("np.zeros(3).max()", "host value"),
        ("[1, 2].max()", "host value"),
        ("x.cpu().max()", "host tensor"),
    ],
)
def test_a_reduction_supposes_a_tensor_of_what_is_unknown(
    used: str, facts: str, tmp_path: Path
) -> None:
    told = kinds(
        tmp_path,
        f"""
        import numpy as np

        def step(x: Tensor, odd):
            {used}  #: {facts}
        """,
    )

    assert told.seen == told.wanted


def test_what_is_on_a_device_and_has_sizes_is_a_tensor(tmp_path: Path) -> None:
    told = kinds(
        tmp_path,
        """
        def step(lengths, module, array, item):
            lengths.device, lengths.max()
            lengths  #: device tensor, not weak
            module.device, module.half()
            module  #: device tensor, weak
            array.shape, array.max()
            array  #: device tensor, weak
            item.device, item.config
            item  #: unknown
        """,
    )

    assert told.seen == told.wanted


@pytest.mark.parametrize(
    ("made", "facts"),
    [
        ("torch.FloatTensor(rows)", "host tensor, float"),
        ("torch.LongTensor([1, 2])", "host tensor, int"),
        ("torch.FloatTensor(rows).cuda()", "device tensor, float"),
        ("torch.cuda.FloatTensor(rows)", "host value"),
        ("unheard_of.FloatTensor(rows)", "unknown"),
    ],
)
def test_a_class_of_tensors_makes_them_on_the_host(made: str, facts: str, tmp_path: Path) -> None:
    told = kinds(tmp_path, f"def step(rows):\n    {made}  #: {facts}\n")

    assert told.seen == told.wanted


@pytest.mark.parametrize(
    ("indexed", "facts"),
    [
        ("x[ids == 3]", "device tensor, bool, weak"),
        ("x[0, :][ids > n]", "device tensor, bool, weak"),
        ("rows[ids == 3]", "unknown"),
        ("x[ids is None]", "host value"),
        ("x[n == 3]", "host value"),
        ("table[ids == 3]", "unknown"),
    ],
)
def test_a_comparison_in_the_brackets_of_a_tensor_is_a_mask(
    indexed: str, facts: str, tmp_path: Path
) -> None:
    text = f"{IMPORTS}def step(x: Tensor, ids, n: int, rows, table: list):\n    {indexed}\n"
    run = linked(tmp_path, {"m.py": text}, roots=("m.step",))
    line = text.splitlines()[-1]
    start = line.rindex("[") + 1
    (state,) = run.states()
    value = next(v for (_, c, _, e), v in state.values.items() if (c, e) == (start, len(line) - 1))
    told = [value.kind.value, value.dtype, "weak" * value.weak]

    assert ", ".join(filter(None, told)) == facts
