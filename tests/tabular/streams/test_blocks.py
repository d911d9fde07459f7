"""Blocks of a file hold what the file holds, and a fault in a late one is one clear sentence."""

import gzip
from pathlib import Path

import numpy as np
import pandas
import pytest

from vebnn.tabular.errors import TableError
from vebnn.tabular.files import read_table
from vebnn.tabular.streams.blocks import RowFile

ROWS = 23
FRAME = pandas.DataFrame(
    {
        "code": [f"{number % 3:03d}" for number in range(ROWS)],
        "size": [number / 7 for number in range(ROWS)],
        "count": range(ROWS),
        "note": [f'said "a,\nb" {number}' if number % 5 == 0 else None for number in range(ROWS)],
    }
)


def written(folder: Path, kind: str) -> Path:
    path = folder / f"rows{kind}"
    if kind == ".parquet":
        FRAME.to_parquet(path, index=False, row_group_size=5)
    elif kind == ".decimal.csv":
        FRAME.to_csv(path, index=False, sep=";", decimal=",")
    else:
        FRAME.to_csv(path, index=False, sep="\t" if kind == ".tsv" else ",")
    return path


@pytest.mark.parametrize("size", [1, 4, 10, ROWS, 100])
@pytest.mark.parametrize("kind", [".csv", ".tsv", ".csv.gz", ".decimal.csv", ".parquet"])
def test_blocks_are_the_table(tmp_path: Path, kind: str, size: int) -> None:
    file = RowFile(written(tmp_path, kind))
    blocks = list(file.blocks(size, ["code"]))
    assert [len(block.frame) for block in blocks[:-1]] == [size] * (len(blocks) - 1)
    assert [block.first_row for block in blocks] == list(range(0, ROWS, size))
    assert blocks[-1].share == 1
    whole = pandas.concat([block.frame for block in blocks], ignore_index=True)
    expected = read_table(file.path, ["code"])
    pandas.testing.assert_frame_equal(whole, expected, check_dtype=False)
    assert file.names() == list(FRAME.columns)


def test_only_the_columns_that_are_needed(tmp_path: Path) -> None:
    for kind in (".csv", ".parquet"):
        (block,) = RowFile(written(tmp_path, kind)).blocks(100, (), ["size", "code"])
        assert list(block.frame.columns) == ["code", "size"]


def test_files_that_exceed_a_number_of_rows(tmp_path: Path) -> None:
    parquet = RowFile(written(tmp_path, ".parquet"))
    assert [parquet.exceeds(number) for number in (ROWS - 1, ROWS)] == [True, False]
    text = tmp_path / "x.csv.gz"
    text.write_bytes(gzip.compress(b"x\n" + b"1\n" * ROWS))
    assert [RowFile(text).exceeds(number) for number in (ROWS - 1, ROWS)] == [True, False]


@pytest.mark.parametrize(
    ("late", "sentence"),
    [
        (b"1,\0\n", "has a NUL byte in line 43"),
        (b"1,2,3\n", "Row 41 of the file .* has too many values"),
        (b"1,2\n1,2,3,4\n", "line 44 has 4 values instead of 2"),
        (b"1,\xff\n", "is not UTF-8 text"),
    ],
)
def test_damage_in_a_late_block(tmp_path: Path, late: bytes, sentence: str) -> None:
    path = tmp_path / "x.csv"
    path.write_bytes(b"\na,b\n" + b"1,2\n" * 40 + late)
    with pytest.raises(TableError, match=sentence):
        list(RowFile(path).blocks(10))


@pytest.mark.parametrize(("content", "fault"), [(b"", "is empty"), (b"a,b\n", "but no rows")])
def test_files_without_rows(tmp_path: Path, content: bytes, fault: str) -> None:
    path = tmp_path / "x.csv"
    path.write_bytes(content)
    with pytest.raises(TableError, match=fault):
        RowFile(path).first_rows(1)


def test_damaged_parquet(tmp_path: Path) -> None:
    path = written(tmp_path, ".parquet")
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(TableError, match=r"could not be read as \.parquet"):
        RowFile(path).first_rows(1)


def test_memory_is_that_of_a_row_group(tmp_path: Path) -> None:
    """A reader of several row groups at once keeps all that it has read."""
    pyarrow = pytest.importorskip("pyarrow")
    path, numbers = tmp_path / "rows.parquet", np.random.default_rng(0).normal(size=(400_000, 10))
    frame = pandas.DataFrame(numbers, columns=[f"x{number}" for number in range(10)])
    frame.to_parquet(path, row_group_size=10_000)
    del frame, numbers
    before = pyarrow.total_allocated_bytes()
    most = max(pyarrow.total_allocated_bytes() for _ in RowFile(path).blocks(8_192))
    assert most - before < 5e6  # of 32 MB
