"""The MLflow flavour, with a store of local files."""

import warnings
from pathlib import Path

import numpy as np
import pandas
import pytest

from tests.support.settings import Stay, quick_joint
from vebnn import JointRegressor, Training

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # MLflow's own, when it is imported
    import mlflow
    from mlflow.models import infer_signature

    from vebnn.estimators.mlflow import load_model, log_model, save_model

pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.filterwarnings("ignore:.*filesystem tracking backend:FutureWarning"),
    pytest.mark.usefixtures("quick_compilation"),
]


@pytest.fixture(scope="module")
def rows() -> pandas.DataFrame:
    rng = np.random.default_rng(0)
    return pandas.DataFrame(rng.normal(size=(30, 2)), columns=["heat", "load"])


@pytest.fixture(scope="module")
def model(rows, quick_compilation) -> JointRegressor:
    targets = pandas.DataFrame({"stress": rows["heat"], "strain": rows["load"] - 5})
    return quick_joint(inference="ensemble", training=Training(num_epochs=5)).fit(rows, targets)


@pytest.fixture
def store(tmp_path, monkeypatch) -> str:
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    before = mlflow.get_tracking_uri()
    mlflow.set_tracking_uri((tmp_path / "runs").as_uri())
    yield mlflow.get_tracking_uri()
    mlflow.set_tracking_uri(before)


def test_logged_models_predict_the_same(model, rows, store) -> None:
    p = model.predict_distribution(rows)
    with mlflow.start_run():
        info = log_model(model, "strength", signature=infer_signature(rows, p.to_frame()))
    again = load_model(info.model_uri)
    assert isinstance(again, JointRegressor)
    np.testing.assert_array_equal(again.predict_distribution(rows).mean, p.mean)
    generic = mlflow.pyfunc.load_model(info.model_uri)
    found = generic.predict(rows)
    pandas.testing.assert_frame_equal(found, p.to_frame())
    assert {"stress_mean", "stress_aleatoric_std", "strain_epistemic_std"} < set(found.columns)
    assert generic.metadata.flavors["vebnn"]["estimator"] == "JointRegressor"
    with pytest.raises(mlflow.MlflowException, match="missing inputs"):
        generic.predict(rows[["heat"]])


def test_saved_models_hold_no_pickle(model, rows, tmp_path) -> None:
    folder = tmp_path / "saved"
    save_model(model, folder, metadata={"team": "steel"})
    files = {path.name for path in folder.rglob("*") if path.is_file()}
    assert files == {
        "MLmodel",
        "model.json",
        "python_env.yaml",
        "requirements.txt",
        "weights.safetensors",
    }
    assert "vebnn==" in (folder / "requirements.txt").read_text()
    found = mlflow.pyfunc.load_model(str(folder)).predict(rows)
    pandas.testing.assert_frame_equal(found, model.predict_distribution(rows).to_frame())
    with pytest.raises(FileExistsError, match="must be new"):
        save_model(model, folder)


def test_what_cannot_be_loaded_is_not_saved(rows, tmp_path) -> None:
    own = quick_joint(inference=Stay(Training(num_epochs=2))).fit(rows, rows["heat"])
    with pytest.raises(ValueError, match="something of your own"):
        save_model(own, tmp_path / "own")
    assert not Path(tmp_path / "own").exists()
    with pytest.raises(TypeError, match="Got dict"):
        save_model({}, tmp_path / "other")
