"""Step 2 with several modes: expectation-maximisation of the noise."""

from types import SimpleNamespace

import jax
import numpy as np
import pytest
from scipy import optimize, special, stats

from tests.support.arrays import dataset, networks
from vebnn import MLP, Training
from vebnn.likelihoods.mixture import Mixture
from vebnn.strategies.mixture.em import (
    SMALLEST_WEIGHT,
    RowModes,
    e_step,
    learn_noise,
    noise_of_modes,
)
from vebnn.training import SILENT

NUM_ROWS = 2_000
CENTRES = np.array([-1.0, 0.5])
WEIGHT = np.array([0.3, 0.7])
TRUE_VARIANCE = np.array([0.36, 0.04])


@pytest.fixture(scope="module")
def observed() -> np.ndarray:
    """A sample of a mixture that is the same everywhere; the two modes overlap."""
    rng = np.random.default_rng(5)
    mode = rng.choice(2, NUM_ROWS, p=WEIGHT)
    return rng.normal(CENTRES[mode], np.sqrt(TRUE_VARIANCE[mode]))


def learn(observed: np.ndarray, em_steps: int, start: np.ndarray, offset: float = 0.0):
    """Run Step 2 with a variance network that can only output constants: all inputs are zero."""
    settings = SimpleNamespace(
        num_modes=2,
        em_steps=em_steps,
        rescale_residuals=True,
        variance_training=Training(num_epochs=400, learning_rate=2e-2, batch_size=NUM_ROWS),
    )
    data = dataset(np.zeros((NUM_ROWS, 1)), observed[:, None])
    shape = (NUM_ROWS, 1, 2)
    mixture = Mixture(
        np.broadcast_to(CENTRES, shape).astype(np.float32),
        np.broadcast_to(np.log(WEIGHT), shape).astype(np.float32),
    )
    noise = learn_noise(
        jax.random.key(0),
        networks(MLP(()), 1, 4),
        data,
        RowModes(mixture, np.full(shape, offset, np.float32)),
        np.broadcast_to(start, (1, 2)).astype(np.float32),
        settings,
        SILENT,
    )
    found = noise_of_modes(noise, data.x, 2)
    assert np.ptp(found, axis=0).max() < 1e-6
    return found[0, 0]


def closed_form_m_step(observed: np.ndarray, variance: np.ndarray) -> np.ndarray:
    """σ_m² = Σ ρ r / Σ ρ, with ρ by Bayes' rule."""
    joint = WEIGHT * stats.norm.pdf(observed[:, None], CENTRES, np.sqrt(variance))
    share = joint / joint.sum(1, keepdims=True)
    squared = (observed[:, None] - CENTRES) ** 2
    return (share * squared).sum(0) / share.sum(0)


def test_e_step_is_bayes_rule(rng):
    # Three rows, two outputs, two modes; each output has a mixture and a weight of its own.
    target, weight = rng.normal(size=(3, 2)), np.array([[1.0, 2.0], [0.0, 1.0], [3.0, 0.5]])
    mean, variance = rng.normal(size=(3, 2, 2)), rng.uniform(0.2, 1, (3, 2, 2))
    prior, offset = rng.dirichlet([2, 3], (3, 2)), rng.uniform(0.1, 0.5, (3, 2, 2))
    data = dataset(np.zeros((3, 1)), target, weight)
    modes = RowModes(Mixture(np.float32(mean), np.float32(np.log(prior))), np.float32(offset))
    found = e_step(data, modes, np.float32(variance)).reshape(3, 2, 2)
    for row in range(3):
        for output in range(2):
            std = np.sqrt(variance[row, output] + offset[row, output])
            density = stats.norm.pdf(target[row, output], mean[row, output], std)
            evidence = density @ prior[row, output]
            posterior = density * prior[row, output] / evidence
            expected = weight[row, output] * posterior
            np.testing.assert_allclose(found[row, output], expected, rtol=1e-4)


def test_a_mode_without_any_row_keeps_a_small_weight():
    mixture = Mixture(np.float32([[[0.0, 1e3]]]), np.log(np.float32([[[0.5, 0.5]]])))
    modes = RowModes(mixture, np.zeros((1, 1, 2), np.float32))
    found = e_step(dataset([[0.0]], [[0.0]]), modes, np.ones((1, 1, 2), np.float32))
    np.testing.assert_allclose(found, [[1, SMALLEST_WEIGHT]], rtol=1e-6)


def test_one_m_step_is_the_closed_form(observed):
    start = np.array([0.2, 0.2])
    expected = closed_form_m_step(observed, start)
    # Far from the start and from the end, so that the step itself is tested.
    assert (np.abs(expected / start - 1) > 0.1).all()
    np.testing.assert_allclose(learn(observed, 1, start), expected, rtol=0.02)


def test_repeated_steps_maximise_the_likelihood_of_the_mixture(observed):
    def negative(log_variance):
        std = np.exp(0.5 * log_variance)
        by_mode = stats.norm.logpdf(observed[:, None], CENTRES, std)
        return -special.logsumexp(by_mode, axis=1, b=WEIGHT).sum()

    best = np.exp(optimize.minimize(negative, np.log([0.2, 0.2])).x)
    # Three standard errors of a variance from the rows of each mode.
    assert (np.abs(best / TRUE_VARIANCE - 1) < 3 * np.sqrt(2 / (NUM_ROWS * WEIGHT))).all()
    np.testing.assert_allclose(learn(observed, 12, np.array([0.2, 0.2])), best, rtol=0.02)


def test_the_offset_is_not_learned_as_noise(observed):
    offset = 0.02
    with_offset = learn(observed, 1, np.array([0.2, 0.2]) - offset, offset)
    expected = closed_form_m_step(observed, np.array([0.2, 0.2])) - offset
    np.testing.assert_allclose(with_offset, expected, rtol=0.03)
