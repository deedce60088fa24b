"""An attribute that a base treats as a number or a tensor, and a class makes one of the two."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.lint.probe import kinds


@pytest.mark.parametrize(
    ("made", "wanted"), [("0", "host value"), ("torch.zeros((), device='cuda')", "device tensor")]
)
def test_the_constructor_says_which_it_is(tmp_path: Path, made: str, wanted: str) -> None:
    told = kinds(
        tmp_path,
        f"""
        class Base(nn.Module):
            def reset(self):
                if hasattr(self, "length"):
                    if isinstance(self.length, int):
                        self.length = 0
                    else:
                        self.length.zero_()

        class Number(Base):
            def __init__(self):
                super().__init__()
                self.length = 0

        class Holder(Base):
            def __init__(self):
                super().__init__()
                self.length = torch.zeros((), device="cuda")

        class Model(Base):
            def __init__(self):
                super().__init__()
                self.length = {made}

            def forward(self, x: Tensor):
                self.length + 1  #: {wanted}
        """,
    )

    assert told.seen == told.wanted
