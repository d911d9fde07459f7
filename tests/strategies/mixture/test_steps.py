import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import optimize, special, stats

from vebnn import MAP, MLP, Training
from vebnn.core.types import Dataset
from vebnn.likelihoods.mixture import Mixture
from vebnn.strategies.mixture.modes import (
    MixtureMoments,
    WholeMixture,
    match_labels,
    relabelled,
    split_whole,
)
from vebnn.strategies.mixture.steps import MixtureCooperative, MixtureSteps, Modes
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


def learn_noise(observed: np.ndarray, em_steps: int, start: np.ndarray, offset: float = 0.0):
    """Run Step 2 with a variance network that can only say constants: all inputs are zero."""
    settings = MixtureCooperative(
        network=MLP(()),
        variance_network=MLP(()),
        num_modes=2,
        engine=MAP(),
        rounds=1,
        choose_round="last",
        residuals="in_sample",
        num_folds=2,
        num_starts=1,
        em_steps=em_steps,
        rescale_residuals=True,
        mean_training=Training(1),
        variance_training=Training(num_epochs=400, learning_rate=2e-2, batch_size=NUM_ROWS),
        weight_decay=0.0,
        prior_precision=1.0,
        validation_fraction=0.2,
    )
    zero = np.zeros((NUM_ROWS, 1), np.float32)
    data = Dataset(zero, observed[:, None].astype(np.float32), np.ones_like(zero), zero)
    steps = MixtureSteps(jax.random.key(0), settings, data, None, SILENT)
    shape = (NUM_ROWS, 1, 2)
    mixture = Mixture(
        np.broadcast_to(CENTRES, shape).astype(np.float32),
        np.broadcast_to(np.log(WEIGHT), shape).astype(np.float32),
    )
    modes = Modes(mixture, np.full(shape, offset, np.float32))
    noise = steps.step_2(1, modes, np.broadcast_to(start, (1, 2)).astype(np.float32))
    found = steps.noise_variance(noise, data.x)
    assert np.ptp(found, axis=0).max() < 1e-6
    return found[0, 0]


def closed_form_m_step(observed: np.ndarray, variance: np.ndarray) -> np.ndarray:
    """σ_m² = Σ ρ r / Σ ρ, with ρ by Bayes' rule."""
    joint = WEIGHT * stats.norm.pdf(observed[:, None], CENTRES, np.sqrt(variance))
    share = joint / joint.sum(1, keepdims=True)
    squared = (observed[:, None] - CENTRES) ** 2
    return (share * squared).sum(0) / share.sum(0)


def test_one_m_step_is_the_closed_form(observed):
    start = np.array([0.2, 0.2])
    expected = closed_form_m_step(observed, start)
    # Far from where it starts and where it will end, so that the step itself is seen.
    assert (np.abs(expected / start - 1) > 0.1).all()
    np.testing.assert_allclose(learn_noise(observed, 1, start), expected, rtol=0.02)


def test_repeated_steps_maximise_the_likelihood_of_the_mixture(observed):
    def negative(log_variance):
        std = np.exp(0.5 * log_variance)
        by_mode = stats.norm.logpdf(observed[:, None], CENTRES, std)
        return -special.logsumexp(by_mode, axis=1, b=WEIGHT).sum()

    best = np.exp(optimize.minimize(negative, np.log([0.2, 0.2])).x)
    # Three standard errors of a variance from the rows of each mode.
    assert (np.abs(best / TRUE_VARIANCE - 1) < 3 * np.sqrt(2 / (NUM_ROWS * WEIGHT))).all()
    np.testing.assert_allclose(learn_noise(observed, 12, np.array([0.2, 0.2])), best, rtol=0.02)


def test_what_is_not_noise_is_taken_off(observed):
    offset = 0.02
    with_offset = learn_noise(observed, 1, np.array([0.2, 0.2]) - offset, offset)
    expected = closed_form_m_step(observed, np.array([0.2, 0.2])) - offset
    np.testing.assert_allclose(with_offset, expected, rtol=0.03)


def test_labels_are_matched_for_every_output_on_its_own(rng):
    reference = Mixture(
        np.array([-2.0, 0.0, 2.0]) + rng.normal(size=(30, 2, 3)), np.log(np.full((30, 2, 3), 1 / 3))
    )
    orders = np.array([[[0, 1, 2], [2, 0, 1]], [[1, 2, 0], [0, 1, 2]]])
    shuffled = np.empty((2, 30, 2, 3))
    for network in range(2):
        for output in range(2):
            # The mode that is the reference's j-th stands at position orders[..., j].
            place = orders[network, output]
            shuffled[network][:, output, place] = reference.mean[:, output]
    shuffled += 0.1 * rng.normal(size=shuffled.shape)
    found = match_labels(shuffled, reference)
    np.testing.assert_array_equal(found, orders)
    again = relabelled(shuffled, found)
    assert np.abs(again - reference.mean).max() < 1


def test_modes_whose_labels_are_exchanged_stay_where_they_are():
    # A network says where its modes are as distances from the starting centres, −1 and 1.
    at, logit, variance = np.array([0.9, -0.9]), np.array([0.3, -0.2]), np.array([0.01, 0.04])
    raw = jnp.asarray([*(at - [-1, 1]), *logit], jnp.float32)
    constant = lambda values: lambda x, key=None: jnp.asarray(values, jnp.float32)  # noqa: E731
    whole = WholeMixture(constant(raw), jnp.array([[1, 0]]), constant(variance))
    mixture, found = split_whole(whole(jnp.zeros(1)), 2)
    np.testing.assert_allclose(mixture.mean[0], at[::-1], rtol=1e-6)
    np.testing.assert_allclose(mixture.log_weight[0], special.log_softmax(logit)[::-1], rtol=1e-5)
    np.testing.assert_allclose(found[0], variance[::-1])
    # However modes are numbered, the mixture is the same.
    weight = special.softmax(logit)
    mean, spread = MixtureMoments(whole, 2)(jnp.zeros(1))
    assert mean == pytest.approx(weight @ at, rel=1e-5)
    assert spread == pytest.approx(weight @ (variance + (at - weight @ at) ** 2), rel=1e-5)


def test_a_mode_that_nobody_belongs_to_does_not_decide_the_labels():
    # The reference's second mode has no weight: it may be anywhere.
    reference = Mixture(np.tile([1.0, 100.0], (4, 1, 1)), np.log(np.tile([1 - 1e-9, 1e-9], (4, 1, 1))))
    found = match_labels(np.tile([90.0, 1.1], (1, 4, 1, 1)), reference)
    np.testing.assert_array_equal(found, [[[1, 0]]])


def test_one_mode_needs_no_matching(rng):
    reference = Mixture(rng.normal(size=(4, 2, 1)), np.zeros((4, 2, 1)))
    assert match_labels(rng.normal(size=(3, 4, 2, 1)), reference).shape == (3, 2, 1)
