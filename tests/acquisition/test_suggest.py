import importlib
import sys
from types import SimpleNamespace

import numpy as np
import pandas
import pytest

from tests.support.predictions import of_draws
from tests.support.settings import quick
from vebnn.acquisition import SCORES, suggest
from vebnn.datasets.toy import load_toy
from vebnn.estimators import VeBNNRegressor
from vebnn.prediction import Prediction

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

POOL = np.arange(8.0)[:, None]


class Fake:
    """Answers like a fitted model whose draws are random lines through a known point."""

    def __init__(self, **changes) -> None:
        self.asked = 0
        self.noise = changes.get("noise", 0.5)
        self.slopes = np.random.default_rng(0).standard_normal(changes.get("num_draws", 50))

    def predict_distribution(self, X: np.ndarray) -> Prediction:
        self.asked += 1
        return of_draws(self.slopes[:, None] * (X[:, 0] - 2.0), self.noise)


def test_one_row_is_the_one_with_the_largest_score() -> None:
    found = suggest(Fake(), POOL)
    scores = Fake().predict_distribution(POOL).epistemic_variance
    assert list(found.rows) == [7]  # furthest from the point where all lines meet
    assert found.scores == pytest.approx([scores[7]])


def test_without_diversity_rows_are_sorted_by_score() -> None:
    rows, scores = suggest(Fake(), POOL, 4, "epistemic", diverse=False)
    assert list(rows) == [7, 6, 5, 0]  # of its equal, 4, the first
    assert (np.diff(scores) < 0).all()


def test_with_diversity_the_second_row_knows_of_the_first() -> None:
    _, scores = suggest(Fake(), POOL, 2, "epistemic")
    variance = Fake().predict_distribution(POOL).epistemic_variance
    left = variance[6] - variance[6] * variance[7] / (variance[7] + 0.5)
    assert scores == pytest.approx([variance[7], left])


def test_options_are_those_of_the_score() -> None:
    model = SimpleNamespace(predict_distribution=lambda X: of_draws(np.array([[0, 1.0], [4, 2]]), 1.0))
    for goal, row in (("minimise", 1), ("maximise", 0)):
        assert suggest(model, POOL, how="confidence_bound", goal=goal, num_std=0.1).rows == [row]
    found = suggest(model, POOL, how="expected_improvement", best=0.5, kind="draws")
    assert (found.rows, found.scores) == ([0], [0.25])


def test_a_function_of_yours() -> None:
    # The variance grows with the distance from 2, where it is 0.
    assert list(suggest(Fake(), POOL, how=lambda p: -p.epistemic_variance).rows) == [2]


@pytest.mark.parametrize("how", SCORES)
def test_every_score_by_name_on_a_real_model(how: str, model: VeBNNRegressor) -> None:
    options = {"best": 1.0} if how == "expected_improvement" else {}
    rows, scores = suggest(model, candidates(np.linspace(-4, 14, 61)), 6, how, **options)
    assert len(set(rows)) == 6
    assert np.isfinite(scores).all()


@pytest.fixture(scope="session")
def model() -> VeBNNRegressor:
    data = load_toy(60)
    return quick().fit(pandas.DataFrame(data.X, columns=["x"]), data.y)


def candidates(x: np.ndarray) -> pandas.DataFrame:
    # Labels that are no positions.
    return pandas.DataFrame({"x": x}, index=[f"candidate {number}" for number in range(len(x))])


def test_a_real_model_asks_for_what_it_has_not_seen(model: VeBNNRegressor) -> None:
    assert list(suggest(model, candidates(np.array([2.0, 4.0, 20.0, 6.0, 8.0]))).rows) == [2]


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"n": 0}, "`n` must be a whole number of at least 1. Got 0"),
        ({"how": "random"}, "`how` must be one of 'epistemic', 'bald', .*Got 'random'"),
        ({"how": "bald", "goal": "maximise"}, "options of 'bald' are kind, output. Got 'goal'"),
        ({"how": "expected_improvement"}, "needs the option `best`.*best=model.predict"),
        (
            {"how": "bald", "n": 2, "kind": "mixture"},
            '`kind` must be "gaussian" for a diverse batch.*n=1',
        ),
    ],
)
def test_wrong_arguments_are_found_before_anything_is_computed(changes: dict, sentence: str) -> None:
    model = Fake()
    with pytest.raises(ValueError, match=sentence):
        suggest(model, POOL, **changes)
    assert model.asked == 0


def test_a_pool_that_is_too_small() -> None:
    for diverse in (True, False):
        with pytest.raises(ValueError, match=r"at most the size of the pool, 8. Got 9"):
            suggest(Fake(), POOL, 9, diverse=diverse)


def test_without_botorch_its_adapter_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    monkeypatch.delitem(sys.modules, "vebnn.acquisition.botorch", raising=False)
    with pytest.raises(ImportError, match=r"pip install 'vebnn\[botorch\]'"):
        importlib.import_module("vebnn.acquisition.botorch")


def test_models_without_epistemic_uncertainty() -> None:
    with pytest.raises(ValueError, match=r"must have epistemic uncertainty.*inference="):
        suggest(Fake(num_draws=1), POOL)
    with pytest.raises(ValueError, match=r"must have the method predict_distribution.*Got 'a forest'"):
        suggest("a forest", POOL)  # type: ignore[arg-type]


def test_scores_are_per_unit_of_cost() -> None:
    cost = np.array([1.0, 1, 1, 1, 1, 1, 1, 4])
    variance = Fake().predict_distribution(POOL).epistemic_variance
    rows, scores = suggest(Fake(), POOL, 8, diverse=False, cost=cost)
    assert rows[0] == 6  # row 7 has a larger variance, for four times the cost
    np.testing.assert_allclose(scores, (variance / cost)[rows])
    diverse, _ = suggest(Fake(), POOL, 2, cost=cost)
    assert diverse[0] == 6


@pytest.mark.parametrize("cost", [np.ones(7), np.zeros(8), np.full(8, np.nan), -np.ones(8)])
def test_costs_are_positive_numbers(cost: np.ndarray) -> None:
    with pytest.raises(ValueError, match="`cost` must be a positive number for each of the 8 rows"):
        suggest(Fake(), POOL, cost=cost)


def test_bounds_have_no_cost() -> None:
    with pytest.raises(ValueError, match="expected_improvement"):
        suggest(Fake(), POOL, how="confidence_bound", cost=np.ones(8))
