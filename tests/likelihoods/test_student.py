"""Student-t noise against SciPy and against its definition as a mixture of Gaussians."""

import numpy as np
import pytest
from scipy import integrate, stats

from vebnn.likelihoods import student

FREEDOM = np.array([2.5, 4.0, 30.0])


def test_the_density_is_that_of_scipy() -> None:
    y = np.array([-40.0, 0.3, 2.0])
    variance = np.array([0.2, 1.0, 3.0])
    scale = np.sqrt(variance * (FREEDOM - 2) / FREEDOM)
    found = student.log_prob(y, 0.5, variance, FREEDOM)
    np.testing.assert_allclose(found, stats.t.logpdf(y, FREEDOM, 0.5, scale), rtol=1e-5)


def test_variance_and_squared_scale_are_each_other_s_inverse() -> None:
    variance = student.variance_of(0.7**2, FREEDOM)
    np.testing.assert_allclose(variance, stats.t.var(FREEDOM, scale=0.7))
    np.testing.assert_allclose(student.squared_scale_of(variance, FREEDOM), 0.7**2)


@pytest.mark.parametrize("residual", [0.0, 1.0, 8.0])
def test_the_weight_is_the_mean_precision_by_bayes_rule(residual: float) -> None:
    freedom, scale = 3.0, 0.5

    def joint(precision: float) -> float:
        noise = stats.norm.pdf(residual, 0, scale / np.sqrt(precision))
        return noise * stats.gamma.pdf(precision, freedom / 2, scale=2 / freedom)

    total, first = (
        integrate.quad(lambda t, power=power: t**power * joint(t), 0, np.inf)[0] for power in (0, 1)
    )
    found = student.expected_precision(residual**2, scale**2, freedom)
    assert found == pytest.approx(first / total, rel=1e-6)
