"""Predictions block by block are those of the whole table, also after a run that was killed."""

from pathlib import Path

import numpy as np
import pandas
import pytest

from alloys import alloys
from vebnn.tabular.errors import TableError
from vebnn.tabular.files import read_table
from vebnn.tabular.streams.predicting import StreamPredictor

ROWS = 2_500


class Killed(Exception):
    pass


@pytest.fixture
def predictor(alloys_model: Path, monkeypatch: pytest.MonkeyPatch) -> StreamPredictor:
    monkeypatch.setattr(StreamPredictor, "block_rows", 640)
    return StreamPredictor(alloys_model, 0.95)


def ignore(share: float, num_rows: int) -> None:
    pass


@pytest.mark.parametrize("size", [1_024, 1_500, 2_048])
def test_any_block_size_gives_the_same_bytes(
    alloys_model: Path,
    new_alloys: Path,
    predicted_alloys: tuple,
    size: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(StreamPredictor, "block_rows", size)
    tables = [table for table, _ in StreamPredictor(alloys_model, 0.95).tables(new_alloys)]
    text = [table.to_csv(index=False, header=at == 0) for at, table in enumerate(tables)]
    assert "".join(text) == predicted_alloys[0]


def test_a_killed_run_goes_on_and_gives_the_same_bytes(
    predictor: StreamPredictor,
    new_alloys: Path,
    predicted_alloys: tuple,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    out = tmp_path / "out.csv"

    def kill(share: float, num_rows: int) -> None:
        if num_rows > 1_300:
            raise Killed

    with pytest.raises(Killed):
        predictor.predict(new_alloys, out, kill)
    assert not out.exists()
    computed = []
    of_block = StreamPredictor._of_block
    monkeypatch.setattr(
        StreamPredictor,
        "_of_block",
        lambda self, block, data: computed.append(block.first_row) or of_block(self, block, data),
    )
    num_rows, notices = predictor.predict(new_alloys, out, ignore)
    assert computed == [1_920]
    assert num_rows == ROWS
    assert out.read_text() == predicted_alloys[0]
    assert sorted(notices) == sorted(predicted_alloys[1])
    assert [path.name for path in tmp_path.iterdir()] == ["out.csv"]


def test_blocks_of_another_run_do_not_count(
    predictor: StreamPredictor, alloys_model: Path, new_alloys: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out.csv"

    def kill(share: float, num_rows: int) -> None:
        raise Killed

    with pytest.raises(Killed):
        StreamPredictor(alloys_model, 0.5).predict(new_alloys, out, kill)
    predictor.predict(new_alloys, out, ignore)
    table = pandas.read_csv(out)
    width = table["strength_MPa_upper"] - table["strength_MPa_lower"]
    np.testing.assert_allclose(width, 2 * 1.959964 * table["strength_MPa_std"], rtol=1e-6)


def test_parquet_in_and_out(
    predictor: StreamPredictor, new_alloys: Path, predicted_alloys: tuple, tmp_path: Path
) -> None:
    rows, out = tmp_path / "rows.parquet", tmp_path / "out.parquet"
    read_table(new_alloys).to_parquet(rows, row_group_size=700)
    predictor.predict(rows, out, ignore)
    assert pandas.read_parquet(out).to_csv(index=False) == predicted_alloys[0]


def test_an_odd_cell_in_a_late_block_is_named_by_its_row(
    predictor: StreamPredictor, tmp_path: Path
) -> None:
    frame = alloys(ROWS).astype({"temperature": object})
    frame.loc[2_300, "temperature"] = "hot"
    frame.to_csv(tmp_path / "odd.csv", index=False)
    with pytest.raises(TableError, match=r"'temperature' must hold numbers, but row 2301 has 'hot'"):
        predictor.predict(tmp_path / "odd.csv", tmp_path / "out.csv", ignore)
    assert not (tmp_path / "out.csv").exists()
