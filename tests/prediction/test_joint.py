"""The joint distribution of several outputs, against SciPy."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from vebnn import Prediction
from vebnn.prediction import Components

CORRELATION = np.array([[1.0, 0.7], [0.7, 1.0]])
STD = np.array([[0.5, 2.0], [1.0, 0.1], [0.3, 0.3]])  # (rows, outputs)
MEANS = np.random.default_rng(0).normal(size=(5, 3, 2))  # (draws, rows, outputs)
Y = np.array([[0.3, -1.0], [1.0, 0.2], [-0.5, 0.4]])


def predicted(means: np.ndarray = MEANS, correlation: np.ndarray | None = CORRELATION) -> Prediction:
    return Prediction(
        means.mean(0),
        STD**2,
        means.var(0),
        lambda: Components.of_draws(means, STD[None] ** 2),
        noise_correlation=correlation,
    )


def noise_covariance(row: int) -> np.ndarray:
    return np.diag(STD[row]) @ CORRELATION @ np.diag(STD[row])


@pytest.mark.parametrize("row", range(3))
def test_covariances_are_those_of_the_parts(row: int) -> None:
    p = predicted()
    np.testing.assert_allclose(p.aleatoric_covariance[row], noise_covariance(row))
    np.testing.assert_allclose(p.epistemic_covariance[row], np.cov(MEANS[:, row].T, bias=True))
    np.testing.assert_allclose(np.diag(p.covariance[row]), p.variance[row])


def test_noise_of_its_own_has_a_diagonal_covariance() -> None:
    found = predicted(correlation=None).aleatoric_covariance[0]
    np.testing.assert_allclose(found, np.diag(STD[0] ** 2))


def test_the_joint_density_is_that_of_scipy() -> None:
    p = predicted()
    of_rows, of_mixture = p.log_prob_joint(Y), p.log_prob_joint(Y, "mixture")
    for row in range(3):
        epistemic = np.cov(MEANS[:, row].T, bias=True)
        whole = stats.multivariate_normal(MEANS[:, row].mean(0), noise_covariance(row) + epistemic)
        assert of_rows[row] == pytest.approx(whole.logpdf(Y[row]))
        each = [stats.multivariate_normal(m, noise_covariance(row)).pdf(Y[row]) for m in MEANS[:, row]]
        assert of_mixture[row] == pytest.approx(np.log(np.mean(each)))


def test_without_correlation_or_ignorance_it_is_the_sum_over_outputs() -> None:
    p = predicted(np.repeat(MEANS[:1], 5, axis=0), None)
    np.testing.assert_allclose(p.log_prob_joint(Y), p.log_prob(Y).sum(-1))
    np.testing.assert_allclose(p.log_prob_joint(Y, "mixture"), p.log_prob(Y).sum(-1))


@pytest.mark.parametrize("kind", ["gaussian", "mixture"])
def test_samples_have_the_covariance(kind) -> None:
    p = predicted()
    drawn = p.sample(40_000, kind, random_state=1)
    for row in range(3):
        std = p.std[row]
        found = np.cov(drawn[:, row].T) / np.outer(std, std)
        np.testing.assert_allclose(found, p.covariance[row] / np.outer(std, std), atol=0.03)
        np.testing.assert_allclose(drawn[:, row].mean(0), p.mean[row], atol=0.05 * std.max())


def test_every_output_by_itself_is_as_without_correlation() -> None:
    one, other = predicted(), predicted(correlation=None)
    for kind in ("gaussian", "mixture"):
        np.testing.assert_array_equal(one.log_prob(Y, kind), other.log_prob(Y, kind))
        np.testing.assert_array_equal(one.quantile(0.9, kind), other.quantile(0.9, kind))


@pytest.mark.parametrize("kind", ["gaussian", "mixture"])
def test_other_noise_and_single_outputs_have_no_covariance(kind) -> None:
    heavy = replace(predicted(correlation=None), degrees_of_freedom=np.array([3.0, 4.0]))
    with pytest.raises(ValueError, match="needs real targets with Gaussian noise"):
        heavy.log_prob_joint(Y, kind)
    means = MEANS[..., 0]
    single = Prediction(
        means.mean(0),
        STD[:, 0] ** 2,
        means.var(0),
        lambda: Components.of_draws(means, STD[None, :, 0] ** 2),
    )
    with pytest.raises(ValueError, match="given as the columns of y"):
        single.log_prob_joint(Y[:, 0], kind)
