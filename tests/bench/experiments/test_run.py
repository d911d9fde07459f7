"""One fit of a comparison on own tables: what a method is given, and what its row says."""

from pathlib import Path

import numpy as np
import pandas
import pytest

from vebnn.bench.experiments import run
from vebnn.bench.forecasts import Forecast
from vebnn.bench.own_tables import OwnTable


@pytest.fixture
def table(tmp_path: Path) -> OwnTable:
    """Eight animals that are weighed on the same five days; the target is positive."""
    rng = np.random.default_rng(0)
    columns = {
        "day": np.tile(np.arange(5), 8),
        "animal": np.repeat([f"animal {n}" for n in range(8)], 5),
        "weight": np.exp(rng.normal(size=40)),
    }
    pandas.DataFrame(columns).to_csv(tmp_path / "a.csv", index=False)
    return OwnTable(tmp_path / "a.csv", "weight", "positive", group="animal", hold_out=0.25)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple]:
    """What forecasters are asked for, in place of a fit; the forecast is N(0, 1)."""
    asked: list[tuple] = []

    def find(name: str, preset: str, target_kind: str = "real", groups: np.ndarray | None = None):
        def forecaster(X: np.ndarray, y: np.ndarray, X_new: np.ndarray, seed: int) -> Forecast:
            asked.append((name, target_kind, groups, X, y, seed))
            return Forecast(np.zeros(len(X_new)), np.ones(len(X_new)))

        return name, forecaster

    monkeypatch.setattr(run, "find_forecaster", find)
    return asked


def score(table: OwnTable, method: str) -> dict:
    case = {"dataset": table.name, "fingerprint": table.fingerprint, "method": method, "split": 3}
    return run.score_split([table], "standard", **case)


def test_a_method_gets_columns_groups_and_the_kind_of_target(table: OwnTable, asked: list) -> None:
    numbers = score(table, "VeBNN (pSGHMC)")
    ((name, kind, groups, X, y, seed),) = asked
    assert (name, kind, seed) == ("VeBNN (pSGHMC)", "positive", 3)
    assert X.shape == (30, 1)
    # Six whole animals, although all have the same days.
    assert sorted(np.bincount(groups)[np.bincount(groups) > 0]) == [5] * 6
    assert (y > 0).all()
    assert numbers["impossible"] == 1  # all intervals are −1.96 to 1.96
    assert (numbers["trained"], numbers["tested"], numbers["inputs"]) == (30, 10, 1)


def test_a_kind_in_the_name_transforms_the_target_of_any_method(table: OwnTable, asked: list) -> None:
    plan = table.plan(3)
    forecast = run.predict(table, "CatBoost / positive", "standard", plan, 3)
    ((name, kind, _, _, y, _),) = asked
    assert (name, kind) == ("CatBoost", "real")
    np.testing.assert_allclose(y, np.log(plan.table.observed[plan.trained, 0]))
    np.testing.assert_allclose(forecast.mean, np.exp(0.5))
    assert score(table, "CatBoost / positive")["impossible"] == 0
    real = run.predict(table, "CatBoost / real", "standard", plan, 3)
    np.testing.assert_array_equal(real.mean, 0)
    np.testing.assert_allclose(asked[-1][4], plan.table.observed[plan.trained, 0])


def test_a_score_without_a_number_is_null(table: OwnTable, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "scores", lambda forecast, y: {"tll": -np.inf, "rmse": 1.0, "r_hat": None})
    monkeypatch.setattr(run, "predict", lambda *_: Forecast(np.zeros(10), np.ones(10)))
    numbers = score(table, "any")
    assert (numbers["tll"], numbers["rmse"], numbers["r_hat"]) == (None, 1.0, None)


def test_a_group_of_methods_with_a_kind() -> None:
    names = run.run_names(["peers / count", "vebnn(psghmc)", "CatBoost/count"], "standard")
    peers = ("NGBoost", "CatBoost", "GP", "Quantile boosting")
    assert names == [*(f"{one} / count" for one in peers), "VeBNN (pSGHMC)"]
