"""The encoded rows of a large table: all training rows, once, in random order, and after a kill."""

from pathlib import Path

import numpy as np
import pandas
import pytest

from vebnn.tabular.errors import TableError
from vebnn.tabular.mapped import encoding, learning
from vebnn.tabular.mapped.division import StreamDivision
from vebnn.tabular.mapped.encoding import RowsFolder
from vebnn.tabular.mapped.learning import LargeTable, LearnedTable, learn_table
from vebnn.tabular.streams.blocks import RowFile

ROWS = 900
DIVISION = StreamDivision(0.2, 0.1, seed=0)


class Killed(Exception):
    pass


def ignore(share: float, num_rows: int) -> None:
    pass


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(learning, "BLOCK_ROWS", 128)
    monkeypatch.setattr(learning, "SAMPLE_ROWS", 200)
    monkeypatch.setattr(encoding, "REGION_BYTES", 4_000)


@pytest.fixture
def frame() -> pandas.DataFrame:
    rng = np.random.default_rng(0)
    frame = pandas.DataFrame(
        {
            "place": np.arange(ROWS) / 2,
            "x": rng.normal(size=ROWS).round(3),
            "kind": rng.choice(["a", "b", "c"], ROWS, p=[0.6, 0.395, 0.005]),
            "day": pandas.date_range("2024-01-01", periods=ROWS).strftime("%d.%m.%Y"),
            "y": rng.normal(size=ROWS),
        }
    )
    frame.loc[700, "x"] = np.nan
    frame.loc[[5, 6], "y"] = np.nan
    return frame


@pytest.fixture
def table(frame: pandas.DataFrame, tmp_path: Path) -> LargeTable:
    frame.to_csv(tmp_path / "rows.csv", index=False)
    return LargeTable(RowFile(tmp_path / "rows.csv"), ("y",))


@pytest.fixture
def learned(table: LargeTable) -> LearnedTable:
    return learn_table(table, DIVISION, ignore)


def trained_rows(learned: LearnedTable, frame: pandas.DataFrame) -> pandas.DataFrame:
    there = frame["y"].notna()
    return frame[there & ~frame.index.isin([*learned.held_out.index, *learned.calibrated.index])]


def test_counts_are_of_all_training_rows(learned: LearnedTable, frame: pandas.DataFrame) -> None:
    trained = trained_rows(learned, frame)
    assert learned.num_rows == ROWS - 2
    assert learned.num_trained == len(trained)
    assert learned.missing_targets == (2,)
    assert len(learned.sample) == 200
    assert learned.sample.index.is_monotonic_increasing
    columns = {column.name: column for column in learned.encoder.columns}
    assert columns["x"].num_missing == trained["x"].isna().sum()
    counts = dict(zip(columns["kind"].categories, columns["kind"].counts, strict=True))
    assert counts == trained["kind"].value_counts().to_dict()
    assert columns["day"].order == "day/month/year"


def test_encoded_rows_are_those_of_the_encoder(
    table: LargeTable, learned: LearnedTable, tmp_path: Path
) -> None:
    rows = RowsFolder(tmp_path / "work").encode(table, learned, DIVISION, "same", ignore)
    trained = trained_rows(learned, pandas.read_csv(table.file.path))
    expected = rows.units.standardise(rows.encoder.encode(trained).matrix.to_numpy())
    observed = rows.read_targets()
    by_target, order = np.argsort(observed[:, 0]), np.argsort(trained["y"].to_numpy())
    np.testing.assert_array_equal(observed[by_target, 0], trained["y"].to_numpy()[order])
    np.testing.assert_array_equal(rows.inputs[by_target], expected[order].astype(np.float32))
    place = {column.name: column for column in rows.encoder.columns}["place"]
    assert (place.low, place.high) == (trained["place"].min(), trained["place"].max())
    # The place in the file says nothing about the place among the encoded rows.
    correlation = np.corrcoef(rows.inputs[:, 0], np.arange(len(rows.inputs)))[0, 1]
    assert abs(correlation) < 3 / np.sqrt(len(trained))


@pytest.mark.parametrize("kill_at", [0, 3, "region 2"])
def test_an_interrupted_encoding_goes_on(
    table: LargeTable,
    learned: LearnedTable,
    tmp_path: Path,
    kill_at: int | str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    whole = RowsFolder(tmp_path / "whole").encode(table, learned, DIVISION, "same", ignore)
    folder = RowsFolder(tmp_path / "work")
    unlink, blocks = Path.unlink, iter(range(100))

    def kill(share: float, num_rows: int) -> None:
        if next(blocks) == kill_at:
            # What a block leaves behind that was not finished.
            with open(folder.path / "region-001.bin", "ab") as file:
                file.write(b"part of a row")
            raise Killed

    def kill_in_region(path: Path, missing_ok: bool = False) -> None:
        unlink(path, missing_ok=missing_ok)
        if kill_at == "region 2" and path.name == "region-002.bin":
            raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(Path, "unlink", kill_in_region)
        with pytest.raises(Killed):
            folder.encode(table, learned, DIVISION, "same", kill)
    folder.check()
    resumed = folder.encode(table, learned, DIVISION, "same", ignore)
    np.testing.assert_array_equal(resumed.inputs, whole.inputs)
    np.testing.assert_array_equal(resumed.read_targets(), whole.read_targets())
    assert resumed.encoder == whole.encoder
    other = folder.encode(table, learned, DIVISION._replace(seed=1), "other", ignore)
    assert not np.array_equal(other.read_targets(), whole.read_targets())
    folder.delete()
    assert not (tmp_path / "work").exists()


def test_a_folder_with_other_files_is_refused(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").touch()
    with pytest.raises(FileExistsError, match="holds other files"):
        RowsFolder(tmp_path).check()


def test_an_odd_cell_in_a_late_block_is_named_by_its_row(
    frame: pandas.DataFrame, tmp_path: Path
) -> None:
    frame = frame.astype({"x": object})
    frame.loc[800, "x"] = "odd"
    frame.to_csv(tmp_path / "rows.csv", index=False)
    table = LargeTable(RowFile(tmp_path / "rows.csv"), ("y",))
    with pytest.raises(TableError, match=r"'x' must hold numbers, but row 801 has 'odd'"):
        RowsFolder(tmp_path / "work").encode(
            table, learn_table(table, DIVISION, ignore), DIVISION, "same", ignore
        )


def test_identical_inputs_have_one_use_in_every_block() -> None:
    division = StreamDivision.of(1_000, 0.3, 7, calibrate=True)
    whole = pandas.DataFrame({"a": [1, 2, 3] * 400, "b": ["x", "y", None] * 400})
    part = pandas.DataFrame({"a": [3.0, np.nan, 1.0], "b": [None, "y", "x"]})
    uses, some = division.divide(whole), division.divide(part)
    for use, few in zip(uses, some, strict=True):
        assert use.reshape(-1, 3).all(0).tolist() == use[:3].tolist()
        assert (few[0], few[2]) == (use[2], use[0])
    distinct = pandas.DataFrame({"a": np.arange(20_000), "b": "x"})
    shares = [use.mean() for use in division.divide(distinct)]
    np.testing.assert_allclose(shares, [0.3, 0.14, 0.56], atol=0.015)
    assert StreamDivision.of(10**7, 0.2, 0, calibrate=False) == (0.02, 0.0, 0)
