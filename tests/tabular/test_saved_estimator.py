"""Estimators that were saved from Python answer as models of tables."""

import re
from pathlib import Path

import numpy as np
import pandas
import pytest

from tests.support.settings import BRIEF, quick_joint
from tests.support.springs import springs
from vebnn import GRU, Ensemble, pad_sequences
from vebnn.tabular.errors import TableError
from vebnn.tabular.files import read_table
from vebnn.tabular.model import TableModel
from vebnn.tabular.report.page import write_report
from vebnn.tabular.saving import load_model_and_rows, open_saved


@pytest.fixture(scope="module")
def of_arrays(sine, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("arrays")
    X, y = sine
    model = quick_joint(inference=Ensemble(2, BRIEF)).fit(X, y)
    model.save(folder / "model")
    np.savez(folder / "data.npz", X=X, y=y)
    pandas.DataFrame({"x0": X[:, 0], "x1": X[:, 1], "y": y}).to_csv(folder / "data.csv", index=False)
    return folder


@pytest.fixture(scope="module")
def of_sequences(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sequences")
    tests = [rows for _, rows in springs().groupby("test")]
    X = pad_sequences([rows[["load"]] for rows in tests])
    y = pad_sequences([rows[["force"]] for rows in tests])
    model = quick_joint(network=GRU((3,)), inference=Ensemble(2, BRIEF)).fit(X, y)
    model.save(folder / "model")
    np.savez(folder / "data.npz", X=X, y=y)
    return folder


@pytest.mark.parametrize("name", ["data.npz", "data.csv"])
def test_estimator_of_arrays(of_arrays: Path, sine, name: str) -> None:
    model, rows = load_model_and_rows(of_arrays / "model", of_arrays / name)
    X, y = sine
    direct = model.estimator.predict_distribution(pandas.DataFrame(X, columns=["x0", "x1"]))
    np.testing.assert_array_equal(model.predict(rows).prediction.mean, direct.mean)
    found = model.evaluate(rows)
    assert (found.known, len(found.scores), found.scores[0].num_rows) == (False, 1, 60)
    assert found.scores[0].rmse == pytest.approx(np.sqrt(np.mean((y - direct.mean) ** 2)))
    # Always predicting the mean of the training rows, which the units of y tell.
    assert found.scores[0].baseline_rmse == pytest.approx(np.std(y))


def test_the_training_rows_that_it_keeps_are_real(of_arrays: Path, sine) -> None:
    model = TableModel.load(of_arrays / "model")
    X, _ = sine
    nearest = np.abs(model.sample[:, None] - X).max(-1).min(1)
    assert len(model.sample) > 1
    assert nearest.max() < 1e-5  # they were kept in single precision
    assert np.abs(X - list(model.typical_row.values())).max(1).min() < 1e-5


def test_positive_targets_have_a_mean_on_their_own_scale(tmp_path: Path, rng) -> None:
    X = rng.normal(size=(40, 1))
    y = np.exp(rng.normal(2, 0.5, 40))
    quick_joint(target="positive").fit(X, y).save(tmp_path / "model")
    (facts,) = TableModel.load(tmp_path / "model").facts.targets
    log = np.log(y)
    # The log-normal with the moments of the logarithms.
    assert facts.mean == pytest.approx(np.exp(log.mean() + log.var() / 2))
    assert facts.low == pytest.approx(np.exp(log.mean() - 2 * log.std()))


def test_estimator_of_sequences(of_sequences: Path) -> None:
    model, rows = load_model_and_rows(of_sequences / "model", of_sequences / "data.npz")
    table = springs()
    arrays = np.load(of_sequences / "data.npz")
    assert len(rows) == len(table)
    direct = model.estimator.predict_distribution(arrays["X"])
    there = np.isfinite(arrays["X"][..., 0])
    prediction = model.predict(rows).prediction
    np.testing.assert_allclose(prediction.mean, direct.mean[there, 0], rtol=1e-5, atol=1e-6)
    frame = model.prediction_table(rows.frame, prediction)
    assert list(frame.columns[:4]) == ["row", "sequence", "step", "mean"]
    assert model.evaluate(rows).scores[0].num_rows == table["force"].count()
    assert model.encoder.example_rows.shape[1] == 3


@pytest.mark.parametrize("fixture", ["of_arrays", "of_sequences"])
def test_report_says_that_training_rows_are_not_known(
    fixture: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    folder = request.getfixturevalue(fixture)
    model, rows = load_model_and_rows(folder / "model", folder / "data.npz")
    write_report(model, rows, tmp_path / "r.html", data_name="data.npz", model_name="model")
    text = (tmp_path / "r.html").read_text()
    assert "keeps no record of its training rows" in text
    assert "it had not seen" not in text
    assert "model was not trained on" not in text


def test_names_of_a_frame_are_kept(sine, tmp_path: Path) -> None:
    X, y = sine
    frame = pandas.DataFrame(X, columns=["heat", "load"])
    quick_joint().fit(frame, pandas.Series(y, name="force")).save(tmp_path / "model")
    encoder = open_saved(tmp_path / "model").encoder
    assert [column.name for column in encoder.columns] == ["heat", "load"]
    assert encoder.targets == ("force",)
    centre, scale = X[:, 0].mean(), X[:, 0].std()
    assert encoder.columns[0].summary == f"{centre:g} ± {scale:g} (std)"


def test_wrong_rows_are_explained(of_arrays: Path) -> None:
    model = TableModel.load(of_arrays / "model")
    with pytest.raises(TableError, match="'x0' is missing in 1 row, first in row 2"):
        model.predict(pandas.DataFrame({"x0": [1, None], "x1": [0, 0]}))
    with pytest.raises(TableError, match="lacks 'x1'"):
        model.predict(pandas.DataFrame({"x0": [1.0]}))


def test_arrays_of_three_axes_are_rows_of_steps(tmp_path: Path) -> None:
    X = np.arange(12.0).reshape(2, 3, 2)
    X[1, 2] = np.nan
    np.savez(tmp_path / "a.npz", X=X)
    frame = read_table(tmp_path / "a.npz")
    assert list(frame.columns) == ["sequence", "step", "X_0", "X_1"]
    np.testing.assert_array_equal(frame["step"], [0, 1, 2, 0, 1])
    np.testing.assert_array_equal(frame["X_1"], [1, 3, 5, 7, 9])
    np.savez(tmp_path / "b.npz", X=X, y=np.zeros(2))
    with pytest.raises(TableError, match="must all have three axes"):
        read_table(tmp_path / "b.npz")
    np.savez(tmp_path / "c.npz", X=X, y=np.zeros((2, 4, 1)))
    with pytest.raises(TableError, match="the same sequences and steps"):
        read_table(tmp_path / "c.npz")


def test_gaps_are_taken_where_the_estimator_knows_them(sine, tmp_path: Path) -> None:
    X, y = sine
    gaps = X.copy()
    gaps[::5, 1] = np.nan
    estimator = quick_joint(inference=Ensemble(2, BRIEF)).fit(gaps, y)
    estimator.save(tmp_path / "model")
    table = pandas.DataFrame({"x0": X[:, 0], "x1": gaps[:, 1], "y": y})
    table.to_csv(tmp_path / "data.csv", index=False)
    model, rows = load_model_and_rows(tmp_path / "model", tmp_path / "data.csv")
    found = model.predict(rows).prediction
    np.testing.assert_array_equal(found.mean, estimator.predict(gaps))
    assert np.isnan(model.sample).sum(0).tolist() == [0, np.isnan(gaps[:, 1]).sum()]
    assert None not in model.typical_row.values()
    write_report(model, rows, tmp_path / "report.html", data_name="data.csv", model_name="model")
    assert "nan" not in re.sub(
        r"<script.*?</script>", "", (tmp_path / "report.html").read_text(), flags=re.S
    )
    table.loc[3, "x0"] = np.nan
    table.to_csv(tmp_path / "data.csv", index=False)
    with pytest.raises(TableError, match="'x0' is missing in 1 row, first in row 4, but had no gaps"):
        load_model_and_rows(tmp_path / "model", tmp_path / "data.csv")
