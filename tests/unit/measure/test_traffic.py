"""Traffic files: the forms they may have, and one clear line for each mistake."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from capturelint.measure.traffic import BadTrafficError, Traffic, read_traffic

_WANTED = Traffic(((1, 3), (4, 2)))


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return Path("steps.txt")


@pytest.mark.parametrize(
    "text",
    [
        '{"1": 3, "4": 2}',
        '{"4": 2,\n "1": 1, "1": 2}',
        "[1, 4, 1,\n4, 1]",
        "1\n4\n1\n4\n1\n",
        "1,3\n4,2\n",
        "size,count\n1,3\n4,2\n",
        '"size","count"\n"1","3"\n"4",2\n',
        "batch_size\n1\n4\n1\n4\n1",
        "# a comment\n\n1 3\n4\t2\n",
        "1; 3\r\n4; 2\r\n",
        "\ufeff4,2.0\n1.0,3\n8,0\n",
    ],
)
def test_every_form_of_the_same_traffic_reads_the_same(file: Path, text: str) -> None:
    file.write_text(text, encoding="utf-8")

    assert read_traffic(file) == _WANTED


def test_steps_without_rows_are_counted_apart(file: Path) -> None:
    file.write_text("0,7\n1,3\n4,2\n0\n", encoding="utf-8")

    assert read_traffic(file) == Traffic(_WANTED.counts, idle=8)
    assert read_traffic(file).steps == 5


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "steps.txt: holds no steps; give a size, or a size and a count, per line"),
        ("0,4\n", "steps.txt: holds no steps; give a size, or a size and a count, per line"),
        ("[]", "steps.txt: holds no steps; give a size, or a size and a count, per line"),
        ("1\ntwo\n", "steps.txt:2: the size 'two' is not a whole number of rows, 1 to 1048576"),
        (
            "size\ncount\n",
            "steps.txt:2: the size 'count' is not a whole number of rows, 1 to 1048576",
        ),
        ("1\n\n-4,2\n", "steps.txt:3: the size '-4' is not a whole number of rows, 1 to 1048576"),
        ("1.5\n", "steps.txt:1: the size '1.5' is not a whole number of rows, 1 to 1048576"),
        ("9e99\n", "steps.txt:1: the size '9e99' is not a whole number of rows, 1 to 1048576"),
        ("٣\n", "steps.txt:1: the size '٣' is not a whole number of rows, 1 to 1048576"),
        ("1,x\n", "steps.txt:1: the count 'x' is not a number of steps, 0 or more"),
        ("1,-2\n", "steps.txt:1: the count '-2' is not a number of steps, 0 or more"),
        ("1,nan\n", "steps.txt:1: the count 'nan' is not a number of steps, 0 or more"),
        ("1,inf\n", "steps.txt:1: the count 'inf' is not a number of steps, 0 or more"),
        ("1,2,3\n", "steps.txt:1: '1,2,3' is not a size, or a size and a count"),
        ("1,\n", "steps.txt:1: the count '' is not a number of steps, 0 or more"),
        ('{"1": 3,\n "4": "x"}', "steps.txt:2: the count 'x' is not a number of steps, 0 or more"),
        (
            '{"1": 3,\n "a": 1}',
            "steps.txt:2: the size 'a' is not a whole number of rows, 1 to 1048576",
        ),
        ("[1,\n\n true]", "steps.txt:3: the size true is not a whole number of rows, 1 to 1048576"),
        ("[[1, 3]]", "steps.txt:1: the size [1, 3] is not a whole number of rows, 1 to 1048576"),
        ("[NaN]", "steps.txt:1: the size nan is not a whole number of rows, 1 to 1048576"),
        (
            "1048577\n",
            "steps.txt:1: the size '1048577' is not a whole number of rows, 1 to 1048576",
        ),
        ("1_000\n", "steps.txt:1: the size '1_000' is not a whole number of rows, 1 to 1048576"),
        ("[1,\n1e400]", "steps.txt:2: the size inf is not a whole number of rows, 1 to 1048576"),
        (
            f"[{10**30}]",
            f"steps.txt:1: the size {10**30} is not a whole number of rows, 1 to 1048576",
        ),
        (
            '{"1": 3,\n',
            "steps.txt:2: is not JSON: Expecting property name enclosed in double quotes",
        ),
        ("[" * 100_000, "steps.txt: is nested too deeply; give a flat list or object"),
    ],
)
def test_a_mistake_is_one_line_that_says_where(file: Path, text: str, message: str) -> None:
    file.write_text(text, encoding="utf-8")

    with pytest.raises(BadTrafficError) as caught:
        read_traffic(file)

    assert str(caught.value).partition(" (char")[0] == message


def test_a_file_that_cannot_be_read_is_named(file: Path) -> None:
    with pytest.raises(BadTrafficError, match=r"^steps\.txt: cannot be read: No such file"):
        read_traffic(file)

    file.write_bytes(b"1\n\xff\n")
    with pytest.raises(
        BadTrafficError, match=r"^steps\.txt: is not text in UTF-8; save it as such"
    ):
        read_traffic(file)


def test_a_file_that_is_compressed_is_one_line(file: Path) -> None:
    file.write_bytes(gzip.compress(b"1,3\n"))
    with pytest.raises(BadTrafficError, match=r"^steps\.txt: is compressed; unpack it first$"):
        read_traffic(file)


def test_a_long_list_keeps_its_lines(file: Path) -> None:
    file.write_text(json.dumps([1] * 99_999 + [None], indent=0), encoding="utf-8")

    with pytest.raises(BadTrafficError, match=r"^steps\.txt:100001: the size None"):
        read_traffic(file)
