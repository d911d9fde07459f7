from itertools import pairwise

import numpy as np
import pytest
from scipy import integrate, stats

from tests.support.predictions import of_draws, of_moments
from vebnn.acquisition import confidence_bound, expected_improvement


@pytest.mark.parametrize("goal", ["minimise", "maximise"])
def test_expected_improvement_against_integration(goal) -> None:
    mean, std, best = np.array([-1.0, 0.0, 0.7, 3.0]), np.array([0.5, 1.0, 2.0, 0.3]), 0.2
    # The noise is large, and must not matter.
    found = expected_improvement(of_moments(mean, std**2, 100.0), best=best, goal=goal)
    sign = 1 if goal == "maximise" else -1
    for row in range(4):

        def gain(f: float, row: int = row) -> float:
            return max(sign * (f - best), 0) * stats.norm.pdf(f, mean[row], std[row])

        edges = sorted([mean[row] - 12 * std[row], best, mean[row] + 12 * std[row]])
        expected = sum(integrate.quad(gain, *pair)[0] for pair in pairwise(edges))
        assert found[row] == pytest.approx(expected, rel=1e-6, abs=1e-12)


def test_expected_improvement_far_behind_the_best_keeps_its_order() -> None:
    z = np.array([-10.0, -20.0, -30.0])
    found = expected_improvement(of_moments(z, 1.0), best=0.0, goal="maximise")
    # E max(z + N, 0) = φ(z)/z² · (1 − 3/z² + 15/z⁴ − 105/z⁶ + …)
    series = 1 - 3 / z**2 + 15 / z**4 - 105 / z**6
    np.testing.assert_allclose(found, stats.norm.pdf(z) / z**2 * series, rtol=2e-5)


@pytest.mark.parametrize("goal", ["minimise", "maximise"])
def test_expected_improvement_of_draws_is_their_average(goal) -> None:
    rng = np.random.default_rng(0)
    draws = rng.gamma(1.0, 1.0, (40, 3))
    found = expected_improvement(of_draws(draws, 1.0), best=0.5, goal=goal, kind="draws")
    for row in range(3):
        better = [f - 0.5 if goal == "maximise" else 0.5 - f for f in draws[:, row]]
        assert found[row] == pytest.approx(sum(gain for gain in better if gain > 0) / 40)


def test_both_ways_agree_for_normal_draws() -> None:
    quantiles = stats.norm.ppf((np.arange(20_000) + 0.5) / 20_000)
    prediction = of_draws(1.0 + 2.0 * quantiles[:, None], 1.0)
    by_draws, by_moments = (
        expected_improvement(prediction, best=0.4, kind=kind) for kind in ("draws", "gaussian")
    )
    assert by_draws == pytest.approx(by_moments, rel=1e-3)


def test_without_epistemic_variance_the_improvement_is_certain() -> None:
    prediction = of_moments([1.0, 3.0], 0.0)
    np.testing.assert_array_equal(expected_improvement(prediction, best=2.0), [1, 0])
    np.testing.assert_array_equal(expected_improvement(prediction, best=2.0, goal="maximise"), [0, 1])


def test_confidence_bound_by_hand() -> None:
    prediction = of_moments([1.0, 3.0], [4.0, 0.25], aleatoric=50.0)
    upper = confidence_bound(prediction, goal="maximise", num_std=3)
    np.testing.assert_allclose(upper, [7.0, 4.5])
    # Minus the lower bounds, −5 and 1.5: the larger score is the row that may be lowest.
    np.testing.assert_allclose(confidence_bound(prediction, num_std=3), [5.0, -1.5])
    np.testing.assert_array_equal(confidence_bound(prediction, num_std=0), [-1, -3])


@pytest.mark.parametrize("score", [expected_improvement, confidence_bound])
def test_one_output_is_to_be_improved(score) -> None:
    options = {"best": 0.1} if score is expected_improvement else {}
    rng = np.random.default_rng(0)
    prediction = of_draws(rng.standard_normal((9, 4, 2)), 1.0, names=("cost", "quality"))
    with pytest.raises(ValueError, match=r"one number per row. Got 2; choose one with `output`"):
        score(prediction, **options)
    alone = of_draws(prediction.draws[..., 1], 1.0)
    np.testing.assert_array_equal(
        score(prediction, output="quality", **options), score(alone, **options)
    )


def test_wrong_arguments() -> None:
    prediction = of_moments([1.0, 3.0], 1.0)
    with pytest.raises(ValueError, match=r"`goal` must be one of 'minimise', 'maximise'. Got 'min'"):
        expected_improvement(prediction, best=0.0, goal="min")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="`best` must be a number"):
        expected_improvement(prediction, best=np.nan)
    with pytest.raises(ValueError, match="`kind` must be one of 'gaussian', 'draws'"):
        expected_improvement(prediction, best=0.0, kind="mixture")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"`num_std` must be a number in \[0, inf\). Got -1"):
        confidence_bound(prediction, num_std=-1)
