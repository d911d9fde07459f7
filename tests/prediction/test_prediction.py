import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, stats

from vebnn import Prediction
from vebnn.prediction import Components


def make(draws, noise_std, **more):
    draws, noise_std = np.asarray(draws, float), np.asarray(noise_std, float)
    return Prediction(
        mean=draws.mean(0),
        aleatoric_variance=noise_std**2,
        epistemic_variance=draws.var(0),
        load_components=lambda: Components.of_draws(draws, noise_std[None] ** 2),
        **more,
    )


@pytest.fixture
def prediction():
    # Two well separated draws: the mixture is far from its Gaussian.
    return make([[-2.0, 0.0, 1.0], [2.0, 0.5, 1.0]], [0.5, 1.0, 0.2])


def test_total_variance_is_the_sum(prediction):
    np.testing.assert_allclose(
        prediction.std**2, prediction.aleatoric_std**2 + prediction.epistemic_std**2
    )
    np.testing.assert_allclose(prediction.epistemic_std, [2.0, 0.25, 0.0])


@pytest.mark.parametrize("kind", ["gaussian", "mixture"])
def test_densities_integrate_to_one_and_agree_with_the_cdf(prediction, kind):
    grid = np.linspace(-12, 12, 20_001)
    for row in range(3):
        one = make(prediction.draws[:, row : row + 1], prediction.aleatoric_std[row : row + 1])
        density = np.exp([one.log_prob(np.array([value]), kind)[0] for value in grid[::20]])
        assert integrate.trapezoid(density, grid[::20]) == pytest.approx(1, abs=1e-3)
        below = one.cdf(np.array([0.7]), kind)[0]
        left = grid[::20] <= 0.7
        assert integrate.trapezoid(density[left], grid[::20][left]) == pytest.approx(below, abs=0.01)


def test_mixture_has_the_same_two_moments(prediction):
    samples = prediction.sample(200_000, random_state=0)
    np.testing.assert_allclose(samples.mean(0), prediction.mean, atol=0.03)
    np.testing.assert_allclose(samples.std(0), prediction.std, rtol=0.02)


def test_gaussian_quantiles_are_scipys(prediction):
    expected = stats.norm.ppf(0.9, prediction.mean, prediction.std)
    np.testing.assert_allclose(prediction.quantile(0.9), expected)


@settings(max_examples=40, deadline=None)
@given(
    draws=st.lists(st.floats(-1e3, 1e3), min_size=1, max_size=6),
    noise=st.floats(1e-3, 1e3),
    q=st.floats(0.001, 0.999),
)
def test_mixture_quantile_inverts_the_cdf(draws, noise, q):
    one = make(np.array(draws)[:, None], [noise])
    np.testing.assert_allclose(one.cdf(one.quantile(q, "mixture"), "mixture"), q, atol=1e-6)


@pytest.fixture
def branching():
    # Two draws, two modes, three rows; weights differ from row to row and from draw to draw.
    mean = np.array([[[-3.0, 0.0, 1.0], [3.0, 0.5, 1.0]], [[-2.0, 0.2, 1.5], [4.0, 0.1, 0.5]]])
    variance = np.array([[[0.2, 1.0, 0.3]], [[0.5, 2.0, 0.1]]])  # the same for both modes
    first = np.array([[0.3, 0.9, 0.5], [0.4, 0.8, 0.5]])
    weight = np.stack([first, 1 - first], 1)
    centre = np.sum(weight * mean, 1)
    own = np.sum(weight * (variance + mean**2), 1) - centre**2
    return Prediction(
        mean=centre.mean(0),
        aleatoric_variance=own.mean(0),
        epistemic_variance=centre.var(0),
        load_components=lambda: Components(mean, variance, weight),
    )


def by_hand(prediction, function, y):
    """Average a function of single Gaussians over draws and modes, one by one."""
    mean, variance, weight = prediction.components
    variance = np.broadcast_to(variance, mean.shape)
    total = np.zeros(3)
    for draw in range(2):
        for mode in range(2):
            here = (draw, mode)
            total += 0.5 * weight[here] * function(y, mean[here], np.sqrt(variance[here]))
    return total


def test_mixtures_of_several_modes_by_hand(branching):
    y = np.array([2.5, 0.3, -0.2])
    density = by_hand(branching, stats.norm.pdf, y)
    np.testing.assert_allclose(branching.log_prob(y, "mixture"), np.log(density), rtol=1e-10)
    below = by_hand(branching, stats.norm.cdf, y)
    np.testing.assert_allclose(branching.cdf(y, "mixture"), below, rtol=1e-10)
    levels = np.array([0.1, 0.5, 0.9])
    for level, quantile in zip(levels, branching.quantile(levels, "mixture"), strict=True):
        np.testing.assert_allclose(by_hand(branching, stats.norm.cdf, quantile), level, atol=1e-8)


def test_samples_of_several_modes_have_the_moments(branching):
    samples = branching.sample(200_000, random_state=0)
    np.testing.assert_allclose(samples.mean(0), branching.mean, atol=0.03)
    np.testing.assert_allclose(samples.std(0), branching.std, rtol=0.01)
    # Between the branches of the first row there is next to nothing.
    gap = np.mean((samples[:, 0] > -0.5) & (samples[:, 0] < 0.5))
    expected = by_hand(branching, stats.norm.cdf, 0.5) - by_hand(branching, stats.norm.cdf, -0.5)
    assert gap == pytest.approx(expected[0], abs=2e-3)


def test_draws_and_modes_have_their_shapes(branching, prediction):
    np.testing.assert_allclose(branching.draws[1, 0], 0.4 * -2 + 0.6 * 4)
    assert branching.modes.mean.shape == branching.modes.weight.shape == (2, 3)
    np.testing.assert_allclose(branching.modes.weight.sum(0), 1)
    # With one mode, it is the prediction itself.
    (mean,), (noise,), (ignorance,), (weight,) = prediction.modes
    np.testing.assert_array_equal(mean, prediction.mean)
    np.testing.assert_array_equal(noise, prediction.aleatoric_std)
    np.testing.assert_array_equal(ignorance, prediction.epistemic_std)
    np.testing.assert_array_equal(weight, 1)


def test_intervals_hold_what_they_promise(prediction):
    for kind in ("gaussian", "mixture"):
        lower, upper = prediction.interval(0.8, kind)
        mass = prediction.cdf(upper, kind) - prediction.cdf(lower, kind)
        np.testing.assert_allclose(mass, 0.8, atol=1e-6)


def test_a_mixture_sample_follows_one_network():
    # Two rows whose draws move together: samples must be either both low or both high.
    one = make([[-5.0, -5.0], [5.0, 5.0]], [0.1, 0.1])
    low, high = one.sample(100, random_state=1).T
    assert (np.sign(low) == np.sign(high)).all()


def test_frames_have_units_names_and_index(prediction):
    frame = prediction.to_frame(0.9)
    assert list(frame) == ["mean", "std", "aleatoric_std", "epistemic_std", "lower", "upper"]
    two = make(
        np.zeros((3, 4, 2)), np.ones((4, 2)), target_names=("load", "drift"), index=pd.Index([*"abcd"])
    )
    frame = two.to_frame()
    assert list(frame.index) == [*"abcd"]
    assert "load_mean" in frame
    assert "drift_upper" in frame


def test_sequences_do_not_fit_a_table():
    with pytest.raises(ValueError, match="take a time step first"):
        make(np.zeros((3, 4, 5, 2)), np.ones((4, 5, 2))).to_frame()


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda p: p.quantile(1.0), "`q` must be strictly between 0 and 1"),
        (lambda p: p.interval(95), "`level` must be strictly between 0 and 1"),
        (lambda p: p.quantile(0.5, "normal"), 'must be "gaussian" or "mixture"'),
        (lambda p: p.log_prob(np.zeros((3, 1))), "shape of `y` must be"),
    ],
)
def test_wrong_arguments_get_a_sentence(prediction, call, sentence):
    with pytest.raises(ValueError, match=sentence):
        call(prediction)
