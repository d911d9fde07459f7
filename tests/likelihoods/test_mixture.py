import numpy as np
import pytest
from scipy import integrate, special, stats

from vebnn.likelihoods import gaussian, mixture
from vebnn.likelihoods.mixture import Mixture


@pytest.fixture
def modes(rng):
    """Three modes of two outputs at five rows, and their variances."""
    mean = rng.normal(size=(5, 2, 3))
    log_weight = special.log_softmax(rng.normal(size=(5, 2, 3)), axis=-1)
    return Mixture(mean, log_weight), rng.uniform(0.1, 2, (5, 2, 3))


def densities(target, modes, variance):
    """π_m N(y | μ_m, σ_m²), as SciPy has it."""
    by_mode = stats.norm.pdf(target[..., None], modes.mean, np.sqrt(variance))
    return np.exp(modes.log_weight) * by_mode


def test_log_density_is_scipys(modes, rng):
    target = rng.normal(size=(5, 2))
    log_normal = stats.norm.logpdf(target[..., None], modes[0].mean, np.sqrt(modes[1]))
    expected = special.logsumexp(log_normal, axis=-1, b=np.exp(modes[0].log_weight))
    np.testing.assert_allclose(mixture.log_prob(target, *modes), expected, rtol=1e-5)


def test_a_row_far_from_every_mode_has_a_finite_log_density(modes):
    far = np.full((5, 2), 1e3)
    log_density = mixture.log_prob(far, *modes)
    assert np.isfinite(log_density).all()
    assert (np.asarray(log_density) < -1e5).all()
    np.testing.assert_allclose(mixture.responsibilities(far, *modes).sum(-1), 1, rtol=1e-6)


def test_responsibilities_are_bayes_rule_and_sum_to_one(modes, rng):
    target = rng.normal(size=(5, 2))
    found = mixture.responsibilities(target, *modes)
    joint = densities(target, *modes)
    np.testing.assert_allclose(found, joint / joint.sum(-1, keepdims=True), rtol=1e-5)
    np.testing.assert_allclose(found.sum(-1), 1, rtol=1e-6)


def test_moments_are_those_of_the_density(modes):
    grid = np.linspace(-15, 15, 6_001)
    mean, variance = mixture.mean_and_variance(*modes)
    for row in range(5):
        one = jax_free(modes, row)
        density = densities(np.repeat(grid[:, None], 2, 1), *one).sum(-1)
        by_hand = integrate.trapezoid(density * grid[:, None], grid, axis=0)
        around = integrate.trapezoid(density * (grid[:, None] - by_hand) ** 2, grid, axis=0)
        np.testing.assert_allclose(mean[row], by_hand, atol=1e-5)
        np.testing.assert_allclose(variance[row], around, rtol=1e-4)


def jax_free(modes, row):
    given, variance = modes
    return Mixture(given.mean[row], given.log_weight[row]), variance[row]


def test_layout_of_the_network_outputs():
    # Two outputs with two modes: first all means, output by output, then all logits.
    raw = np.array([[0.1, 0.2, 0.3, 0.4, 0.0, np.log(3.0), 1.0, 1.0]], np.float32)
    found = mixture.from_network(raw, 2)
    # Means are counted from −1 and 1, where the modes start.
    np.testing.assert_allclose(found.mean[0], [[-0.9, 1.2], [-0.7, 1.4]], rtol=1e-6)
    np.testing.assert_allclose(np.exp(found.log_weight[0]), [[0.25, 0.75], [0.5, 0.5]], rtol=1e-6)


def test_one_mode_is_a_gaussian(rng):
    raw, target = rng.normal(size=(4, 6)), rng.normal(size=(4, 3))
    variance = rng.uniform(0.5, 1, (4, 3))
    found = mixture.log_prob(target, mixture.from_network(raw, 1), variance[..., None])
    np.testing.assert_allclose(found, gaussian.log_prob(target, raw[:, :3], variance), rtol=1e-5)


@pytest.mark.parametrize("num_modes", [2, 3, 5])
def test_modes_start_apart(num_modes):
    centres = mixture.starting_centres(num_modes)
    gap = np.diff(centres)
    assert (centres[0], centres[-1]) == (-1, 1)
    # Four standard deviations from one to the next.
    np.testing.assert_allclose(gap / np.sqrt(mixture.starting_variance(num_modes)), 4)
