"""``vebnn predict`` with files of any size, and with many of them."""

import io
from collections.abc import Callable
from pathlib import Path

import pandas
import pytest

from tests.support.commands import Finished, one_sentence, run
from vebnn.tabular.files import read_table
from vebnn.tabular.streams import predicting

ROWS = 2_500

Call = Callable[..., Finished]


@pytest.fixture
def folder(new_alloys: Path, tmp_path: Path) -> Path:
    """Two files of rows."""
    (tmp_path / "big").mkdir()
    frame = read_table(new_alloys)
    frame[:900].to_parquet(tmp_path / "big" / "a.parquet", index=False)
    frame[900:].to_parquet(tmp_path / "big" / "b.parquet", index=False)
    return tmp_path


def test_several_files_by_a_pattern(
    call: Call,
    alloys_model: Path,
    folder: Path,
    predicted_alloys: tuple,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    words = ["predict", str(alloys_model), str(folder / "big" / "*.parquet"), "--out"]
    finished = call(*words, str(folder / "out"))
    assert finished.returncode == 0, finished.stderr
    assert finished.stdout == f"Predictions of 2 files are in {folder / 'out'}.\n"
    parts = [pandas.read_parquet(folder / "out" / f"{name}.parquet") for name in "ab"]
    parts[1]["row"] += 900
    assert pandas.concat(parts).to_csv(index=False) == predicted_alloys[0]

    # Finished files are kept; a file whose predictions are gone is done again.
    before = (folder / "out" / "a.parquet").stat().st_mtime_ns
    (folder / "out" / "b.parquet").unlink()
    assert call(*words, str(folder / "out")).returncode == 0
    assert (folder / "out" / "a.parquet").stat().st_mtime_ns == before
    assert (folder / "out" / "b.parquet").exists()


@pytest.mark.slow
def test_several_files_on_a_dask_cluster(
    alloys_model: Path, folder: Path, predicted_alloys: tuple
) -> None:
    pytest.importorskip("distributed")
    words = ["predict", str(alloys_model), str(folder / "big" / "*.parquet")]
    out = folder / "out"
    finished = run(*words, "--out", str(out), "--backend", "dask", "--jobs", "2")
    assert finished.returncode == 0, finished.stderr
    assert finished.stdout == f"Predictions of 2 files are in {out}.\n"
    parts = [pandas.read_parquet(out / f"{name}.parquet") for name in "ab"]
    parts[1]["row"] += 900
    # A worker has one core, which may change the last digit of single precision.
    local = pandas.read_csv(io.StringIO(predicted_alloys[0]))
    together = pandas.concat(parts, ignore_index=True)
    pandas.testing.assert_frame_equal(together, local, rtol=1e-5, check_dtype=False)


def test_bad_files_are_refused_before_any_work(call: Call, alloys_model: Path, folder: Path) -> None:
    def complaint(*words: str) -> str:
        sentence = one_sentence(call("predict", str(alloys_model), *words))
        assert not (folder / "out").exists()
        return sentence

    out = ["--out", str(folder / "out")]
    assert "go to a folder" in complaint(str(folder / "big"))
    assert "There is no file of rows" in complaint(str(folder / "big" / "*.csv"), *out)
    second = folder / "big" / "b.parquet"
    frame = pandas.read_parquet(second)
    frame.drop(columns="temperature").to_parquet(second)
    sentence = complaint(str(folder / "big"), *out)
    assert "b.parquet" in sentence
    assert "lacks 'temperature'" in sentence
    frame[:0].to_parquet(second)
    assert "no rows" in complaint(str(folder / "big"), *out)
    (folder / "other").mkdir()
    frame.to_csv(folder / "other" / "a.parquet.csv", index=False)
    frame.to_csv(folder / "other" / "a.csv", index=False)
    assert "Predict them into different folders" in complaint(str(folder / "other"), *out)
    assert "are for several files" in complaint(str(folder / "other" / "a.csv"), "--backend", "dask")


def test_one_large_file(
    call: Call,
    alloys_model: Path,
    new_alloys: Path,
    predicted_alloys: tuple,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(predicting, "MOST_ROWS", 2_048)
    words = ["predict", str(alloys_model), str(new_alloys)]
    out = tmp_path / "out.csv"
    finished = call(*words, "--out", str(out))
    assert finished.stdout == f"Predictions of 2,500 rows are in {out}.\n"
    assert "'X1', 'X2', never seen in training" in finished.stderr
    assert out.read_text() == predicted_alloys[0]
    assert call(*words).stdout == predicted_alloys[0]
    assert "must go to .csv" in one_sentence(call(*words, "--out", str(tmp_path / "out.feather")))
    assert "too long a JSON document" in one_sentence(call(*words, "--json"))
