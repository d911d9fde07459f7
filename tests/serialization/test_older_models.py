"""Models saved by earlier versions load, and predict what they predicted then.

``make_models.py`` made them, each with the version of the package that wrote its format.
"""

from pathlib import Path

import numpy as np
import pytest

import vebnn
from vebnn.serialization.folders import MODEL
from vebnn.tabular.files import read_table
from vebnn.tabular.model import TableModel

MODELS = Path(__file__).parent / "models"
ESTIMATORS = sorted(path.name for path in MODELS.iterdir() if not path.name.endswith("-table"))
TABLES = sorted(path.name for path in MODELS.glob("*-table"))

pytestmark = pytest.mark.usefixtures("quick_compilation")


def assert_predicts_as_then(name: str, now) -> None:
    with np.load(MODELS / name / "predictions.npz") as then:
        for part in ("mean", "aleatoric_std", "epistemic_std"):
            np.testing.assert_allclose(getattr(now, part), then[part], rtol=1e-5, err_msg=part)
        np.testing.assert_allclose(now.interval(0.9), then["interval"], rtol=1e-5)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_estimators_predict_as_then(name: str, tmp_path: Path) -> None:
    kind = getattr(vebnn, MODEL.read(MODELS / name)[0]["estimator"])
    model = kind.load(MODELS / name)
    with np.load(MODELS / name / "predictions.npz") as file:
        X = file["X"]
    prediction = model.predict_distribution(X)
    assert_predicts_as_then(name, prediction)
    # Saved again, it is a model of today's format, and the same one.
    model.save(tmp_path / "again")
    again = kind.load(tmp_path / "again")
    assert again.get_params() == model.get_params()
    now = again.predict_distribution(X)
    for part in ("mean", "aleatoric_std", "epistemic_std"):
        np.testing.assert_array_equal(getattr(now, part), getattr(prediction, part))


@pytest.mark.parametrize("name", TABLES)
def test_models_of_tables_predict_as_then(name: str, tmp_path: Path) -> None:
    model = TableModel.load(MODELS / name)
    assert model.facts.calibration == "common"
    new = read_table(MODELS / name / "new.csv")
    assert_predicts_as_then(name, model.predict(new).prediction)
    model.save(tmp_path / "again")
    again = TableModel.load(tmp_path / "again")
    assert again.facts == model.facts
    assert_predicts_as_then(name, again.predict(new).prediction)


def test_all_kinds_are_here() -> None:
    # A folder that went missing would be tested by nothing.
    kinds = ("bbb", "cooperative", "gru", "joint", "mc_dropout", "mixture", "nuts")
    assert [f"format3-{kind}" for kind in kinds] == ESTIMATORS
    assert TABLES == ["format2-table", "format3-table", "format4-table"]
