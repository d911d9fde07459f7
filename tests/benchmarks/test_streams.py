"""The benchmark of streams: its table, its measurements and its page."""

from pathlib import Path

import pandas
import pytest

from benchmarks.streams import __main__ as streams
from benchmarks.streams import page, table

MADE_UP = [
    page.Row("predict", rows, "quick", "a machine", seconds, seconds, memory)
    for rows, seconds, memory in ((10_000, 2.0, 400), (100_000, 20.0, 400), (1_000_000, 200.0, 400))
]


def by_size(rows: list[page.Row]) -> page.Rows:
    return {(row.part, row.rows): row for row in rows}


def test_growth_is_the_slope_of_the_logarithms() -> None:
    rows = by_size(MADE_UP)
    assert page.exponent(rows, "predict", "processor_seconds") == pytest.approx(1)
    assert page.exponent(rows, "predict", "peak_mib") == pytest.approx(0)
    assert page.exponent(rows, "fit", "peak_mib") is None
    text = page.table(rows, "predict")
    assert "| 1,000,000 | 200 | 200 | 400 MiB |" in text
    assert "to the power of 1.00 (limit 1.05, kept)" in text


def test_the_page_reads_the_committed_rows() -> None:
    rows, text = page.read(page.ROWS), page.PAGE.read_text()
    for part in {name for name, _ in rows}:
        assert page.table(rows, part) in text


def test_rows_do_not_depend_on_their_number(tmp_path: Path) -> None:
    table.write_table(tmp_path / "few.parquet", 30)
    table.write_table(tmp_path / "many.parquet", 50)
    few, many = (pandas.read_parquet(tmp_path / f"{name}.parquet") for name in ("few", "many"))
    assert few.shape == (30, 21)
    pandas.testing.assert_frame_equal(few, many[:30])


@pytest.mark.slow
def test_small_sizes_are_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "MODEL_ROWS", 200)
    for part in streams.PARTS:
        row = streams.measure(part, 200, tmp_path, "quick")
        assert 100 < row.peak_mib < 2_000
        assert row.processor_seconds > 0.5
