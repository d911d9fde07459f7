"""Predictions of Dask collections: lazy, and those of the rows in memory."""

from pathlib import Path

import numpy as np
import pandas
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import vebnn.dask
from alloys import TARGETS, alloys
from tests.support.settings import quick_joint
from vebnn.tabular.model import TableModel

dask = pytest.importorskip("dask")
array, dataframe = pytest.importorskip("dask.array"), pytest.importorskip("dask.dataframe")
dask.config.set(scheduler="synchronous")

PARTS = ["mean", "aleatoric_std", "epistemic_std", "std"]


@pytest.fixture(scope="module")
def rows() -> tuple[pandas.DataFrame, np.ndarray]:
    rng = np.random.default_rng(0)
    x = pandas.DataFrame(rng.normal(size=(60, 2)), columns=["a", "b"], index=np.arange(60) * 10)
    return x, x["a"].to_numpy() + 0.1 * rng.normal(size=60)


def test_a_frame_is_predicted_by_partitions(rows: tuple) -> None:
    x, y = rows
    model = make_pipeline(StandardScaler().set_output(transform="pandas"), quick_joint()).fit(x, y)
    lazy = vebnn.dask.predict_distribution(model, dataframe.from_pandas(x, npartitions=3))
    assert isinstance(lazy, dataframe.DataFrame)
    assert lazy.npartitions == 3
    found = lazy.compute()
    assert list(found.columns) == list(lazy.columns) == PARTS
    expected = vebnn.predict_distribution(model, x)
    np.testing.assert_array_equal(found.index, x.index)
    for part in PARTS:
        np.testing.assert_allclose(found[part], getattr(expected, part), rtol=1e-5)


def test_an_array_is_predicted_by_blocks(rows: tuple) -> None:
    x, y = rows[0].to_numpy(), np.column_stack([rows[1], -rows[1]])
    model = quick_joint().fit(x, y)
    lazy = vebnn.dask.predict_distribution(model, array.from_array(x, chunks=(25, 1)))
    found = lazy.compute()
    assert list(found.columns) == [f"y{at}_{part}" for at in range(2) for part in PARTS]
    expected = model.predict_distribution(x)
    np.testing.assert_allclose(found["y1_mean"], expected.mean[:, 1], rtol=1e-5)
    np.testing.assert_allclose(found["y0_std"], expected.std[:, 0], rtol=1e-5)


def test_a_model_of_a_table_takes_columns_as_they_are(alloys_model: Path) -> None:
    model, frame = TableModel.load(alloys_model), alloys(40, seed=3)
    found = vebnn.dask.predict_distribution(
        model, dataframe.from_pandas(frame, npartitions=2)
    ).compute()
    expected = model.predict(frame).prediction
    for at, target in enumerate(TARGETS):
        np.testing.assert_allclose(found[f"{target}_mean"], expected.mean[:, at], rtol=1e-5)


def test_wrong_arguments(rows: tuple) -> None:
    x, y = rows
    model = quick_joint().fit(x, y)
    with pytest.raises(TypeError, match="must be a Dask DataFrame"):
        vebnn.dask.predict_distribution(model, x)
    with pytest.raises(TypeError, match="must be fitted"):
        vebnn.dask.predict_distribution(StandardScaler(), array.zeros((3, 2)))
