"""Files of rows, read and written by the real libraries."""

import gzip
import struct
import sys
from pathlib import Path

import numpy as np
import pandas
import pyarrow.feather
import pytest

from vebnn.tabular.errors import TableError
from vebnn.tabular.files import read_csv, read_table, write_table
from vebnn.tabular.values import to_numbers

FRAME = pandas.DataFrame({"x": [1.5, 2.0, None], "kind": ["a", "b", "a"], "y": [1, 2, 3]})


@pytest.mark.parametrize("name", ["t.csv", "t.tsv", "t.parquet", "t.feather", "T.CSV"])
def test_what_was_written_is_read(tmp_path: Path, name: str) -> None:
    write_table(FRAME, tmp_path / name)
    pandas.testing.assert_frame_equal(read_table(tmp_path / name), FRAME, check_dtype=False)
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_compressed_csv(tmp_path: Path) -> None:
    FRAME.to_csv(tmp_path / "t.csv.gz", index=False)
    pandas.testing.assert_frame_equal(read_table(tmp_path / "t.csv.gz"), FRAME, check_dtype=False)


def test_spreadsheets_of_countries_with_decimal_commas(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("\ufefftemperature;alloy\n1,5;A\n2,25;B\n", "utf-8")
    frame = read_table(tmp_path / "t.csv")
    assert list(frame.columns) == ["temperature", "alloy"]
    assert list(frame["temperature"]) == [1.5, 2.25]


def test_one_cell_of_text_does_not_turn_decimal_commas_into_text(tmp_path: Path) -> None:
    rows = ["1,5;2,5;1,5", "n/a?;3,5;A1", ";4,5;B2", "2,5;5,5;C3", "-0,5;6,5;D4"]
    (tmp_path / "t.csv").write_text("\n".join(["a;b;code", *rows]))
    frame = read_table(tmp_path / "t.csv")
    assert list(frame["a"].fillna("")) == ["1.5", "n/a?", "", "2.5", "-0.5"]
    assert list(frame["b"]) == [2.5, 3.5, 4.5, 5.5, 6.5]
    assert list(frame["code"]) == ["1,5", "A1", "B2", "C3", "D4"]
    with pytest.raises(TableError, match=r"row 2 has 'n/a\?'"):
        to_numbers(frame["a"])


def test_semicolons_with_decimal_points(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a;b\n1.5;2\n2.5;3\n")
    assert list(read_table(tmp_path / "t.csv")["a"]) == [1.5, 2.5]


def test_empty_values_at_the_end_of_rows_do_no_harm(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,b\n1,2,\n3,4\n5,6,\n")
    assert read_table(tmp_path / "t.csv").to_dict("list") == {"a": [1, 3, 5], "b": [2, 4, 6]}


def test_npz_has_a_column_per_array(tmp_path: Path) -> None:
    np.savez(tmp_path / "t.npz", X=np.arange(6.0).reshape(3, 2), y=np.array([7.0, 8, 9]))
    frame = read_table(tmp_path / "t.npz")
    assert list(frame.columns) == ["X_0", "X_1", "y"]
    assert list(frame["X_1"]) == [1, 3, 5]


def test_npz_with_code_in_it_is_refused(tmp_path: Path) -> None:
    np.savez(tmp_path / "t.npz", X=np.array([{"an": "object"}], object))
    with pytest.raises(TableError, match="allow_pickle=False"):
        read_table(tmp_path / "t.npz")


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("t.xlsx", b"PK", "must end in .csv, .tsv, .parquet, .feather or .npz"),
        ("t", b"a,b\n1,2\n", "must end in"),
        ("t.csv", b"", "is empty"),
        ("t.csv", b"a,b\n", "has column names, but no rows"),
        ("t.csv", b"a,a\n1,2\n", "more than one column called 'a'"),
        (
            "t.csv",
            b"a,b\n1,2\n1,2,3,4\n",
            "could not be read as .csv: line 3 has 4 values instead of 2.",
        ),
        # pandas itself would shift or drop values if the first row is too long.
        ("t.csv", b"x,z,y\n0.1,1,000,-0.66\n0.2,3,4\n", "line 2 has 4 values instead of 3"),
        ("t.csv", b"x,z,y\n0.1,1,000,5\n0.2,1,000,6\n", "line 2 has 4 values instead of 3"),
        ("t.csv", b"x,z,y\n0.1,1,5,\n0.2,1,000,6\n", "line 2 has 4 values instead of 3"),
        ("t.csv", b"x;z\n0,1;1;2\n", "line 2 has 3 values instead of 2"),
        ("t.csv", b"a,b\n\xff\xfe,2\n", "not UTF-8"),
        # pandas would end the value at the NUL byte, and read 1 for 150.
        ("t.csv", b"a,b\n1,2\n1\x0050,2\n", "t.csv has a NUL byte in line 3"),
        ("t.csv.gz", gzip.compress(b"a,b\n1\x0050,2\n", mtime=0), "has a NUL byte in line 2"),
        ("t.parquet", b"not parquet", "could not be read as .parquet"),
        ("t.feather", b"not feather", "could not be read as .feather"),
        ("t.npz", b"not npz", "could not be read as .npz"),
    ],
)
def test_what_cannot_be_read_is_one_sentence(
    tmp_path: Path, name: str, content: bytes, words: str
) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(TableError) as caught:
        read_table(tmp_path / name)
    assert words in str(caught.value)
    assert str(caught.value).endswith(".")


def test_arrays_that_do_not_fit_a_table(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", X=np.zeros((2, 2, 2, 2)))
    with pytest.raises(TableError, match="one to three axes"):
        read_table(tmp_path / "a.npz")
    np.savez(tmp_path / "b.npz", X=np.zeros(3), y=np.zeros(2))
    with pytest.raises(TableError, match="as many rows"):
        read_table(tmp_path / "b.npz")


def test_missing_file(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_table(tmp_path / "none.csv")


@pytest.mark.parametrize("name", ["t.xlsx", "t.npz"])
def test_unknown_output_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(TableError, match="must end in"):
        write_table(FRAME, tmp_path / name)
    assert not any(tmp_path.iterdir())


def test_parquet_without_pyarrow_says_what_to_install(tmp_path: Path, monkeypatch) -> None:
    (tmp_path / "t.parquet").write_bytes(b"")
    monkeypatch.setattr("vebnn.tabular.files.find_spec", lambda name: None)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match=r"pip install 'vebnn\[files\]'"):
        read_table(tmp_path / "t.parquet")
    with pytest.raises(ImportError, match=r"vebnn\[files\]"):
        write_table(FRAME, tmp_path / "u.parquet")


def test_wrong_offsets_of_text_are_refused(tmp_path: Path) -> None:
    # pyarrow itself reads beyond the end of the text, and crashes.
    feather = pytest.importorskip("pyarrow.feather")
    pyarrow = pytest.importorskip("pyarrow")
    path = tmp_path / "t.feather"
    text = pyarrow.array(["a", "bb", "ccc"] * 5, pyarrow.string())
    feather.write_feather(pyarrow.table({"text": text}), path, compression="uncompressed")
    right, wrong = struct.pack("<3i", 0, 1, 3), struct.pack("<3i", 0, 2**30, 3)
    assert path.read_bytes().count(right) == 1
    path.write_bytes(path.read_bytes().replace(right, wrong))
    with pytest.raises(TableError, match=r"t.feather could not be read as .feather: .*offset"):
        read_table(path)


def test_a_named_index_is_a_column(tmp_path: Path) -> None:
    named = FRAME.set_index("x")
    named.to_parquet(tmp_path / "t.parquet")
    assert list(read_table(tmp_path / "t.parquet").columns) == ["x", "kind", "y"]
    named.set_axis(pandas.MultiIndex.from_product([[1.5], list("abc")], names=["x", None])).to_parquet(
        tmp_path / "t.parquet"
    )
    assert list(read_table(tmp_path / "t.parquet").columns) == ["x", "kind", "y"]
    FRAME.set_axis([5, 6, 8]).to_parquet(tmp_path / "t.parquet")
    pandas.testing.assert_frame_equal(read_table(tmp_path / "t.parquet"), FRAME, check_dtype=False)


def test_columns_of_the_same_name(tmp_path: Path) -> None:
    table = pyarrow.table([[1.0], [2.0], [3.0]], names=["a", "b", "a"])
    pyarrow.feather.write_feather(table, tmp_path / "t.feather")
    with pytest.raises(TableError, match="more than one column called 'a'"):
        read_table(tmp_path / "t.feather")


def test_records_in_an_array(tmp_path: Path) -> None:
    np.savez(tmp_path / "t.npz", X=np.zeros(3, [("a", float), ("b", int)]))
    with pytest.raises(TableError, match=r"must hold numbers or text. Got records .* 'a', 'b'"):
        read_table(tmp_path / "t.npz")


def test_labels_keep_their_text(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("code,id,x\n007,1,007\n012,2,1.0\n,3,2\n")
    frame = read_table(tmp_path / "t.csv", ["code", "id", "absent"])
    assert list(frame["code"][:2]) == ["007", "012"]
    assert frame["code"].isna()[2]
    # These are not written differently.
    assert list(frame["id"]) == [1, 2, 3]
    assert list(frame["x"]) == [7, 1, 2]
    assert list(read_csv(b"code\n007\n", "t.csv", ["code"])["code"]) == ["007"]
    assert list(read_csv(b"a;b\n1,5;2,5\n", "t.csv", ["a"])["a"]) == [1.5]
