import numpy as np
import pytest

from tests.support.toy_model import ToyModel
from vebnn.datasets.toy_score import NUM_FRESH, ToyScore, score_toy


def score(model: ToyModel, seed: int = 0) -> ToyScore:
    return score_toy(model.predict_distribution, seed)


def test_the_truth_scores_perfectly() -> None:
    found = score(ToyModel(ignorance=lambda x: np.where(x > 10, 3.0, 1e-9)))
    assert found.mean_rmse == 0
    assert found.noise_error == 0
    # Four standard errors of a share of 10,000.
    assert abs(found.coverage - 0.95) < 4 * np.sqrt(0.95 * 0.05 / NUM_FRESH)
    assert found.epistemic_inside == pytest.approx(1e-9)
    assert found.epistemic_outside == pytest.approx(3.0)


def test_each_flaw_moves_its_own_number() -> None:
    assert score(ToyModel(shift=0.7)).mean_rmse == pytest.approx(0.7)
    assert score(ToyModel(noise_factor=1.25)).noise_error == pytest.approx(0.25)
    # N(0, 1) is inside ±1.96/2 with probability 0.673.
    assert score(ToyModel(noise_factor=0.5)).coverage == pytest.approx(0.673, abs=0.02)


def test_ratio_compares_outside_with_inside() -> None:
    found = score(ToyModel(ignorance=lambda x: np.where(x > 10, 6.0, 2.0)))
    assert found.epistemic_ratio == pytest.approx(3.0)


def test_fresh_observations_differ_between_seeds_and_repeat_within() -> None:
    assert score(ToyModel(), 1).coverage == score(ToyModel(), 1).coverage
    assert len({score(ToyModel(), seed).coverage for seed in range(4)}) > 1
