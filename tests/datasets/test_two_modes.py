import numpy as np
from scipy import integrate

from vebnn.datasets.two_modes import DATA_RANGE, load_two_modes, observe, true_log_prob, true_modes


def test_values_at_four_by_hand():
    truth = true_modes(np.array([4.0]))
    np.testing.assert_allclose(truth.mean[:, 0], [2.5 + np.sin(4), -2.5 + np.cos(4)])
    np.testing.assert_allclose(truth.std[:, 0], [0.4, 0.6])
    np.testing.assert_allclose(truth.weight[:, 0], [0.6, 0.4])


def test_the_modes_are_separate_and_their_noise_changes_places():
    truth = true_modes(np.linspace(*DATA_RANGE, 200))
    assert ((truth.mean[0] - truth.mean[1]) > 3.5 * truth.std.max(0)).all()
    assert truth.std.min() > 0.19
    assert truth.std[0, 0] < truth.std[1, 0]
    assert truth.std[0, -1] > truth.std[1, -1]


def test_observations_follow_the_truth():
    x = np.full(40_000, 4.0)
    y, upper = observe(x, np.random.default_rng(0))
    truth = true_modes(np.array([4.0]))
    assert abs(upper.mean() - 0.6) < 4 * np.sqrt(0.24 / len(x))
    for mode, rows in enumerate((upper, ~upper)):
        size = rows.sum()
        assert abs(y[rows].mean() - truth.mean[mode, 0]) < 4 * truth.std[mode, 0] / np.sqrt(size)
        assert abs(y[rows].std() / truth.std[mode, 0] - 1) < 4 / np.sqrt(2 * size)


def test_density_integrates_to_one():
    y = np.linspace(-8, 8, 4_001)
    density = np.exp(true_log_prob(np.full_like(y, 4.0), y))
    assert abs(integrate.trapezoid(density, y) - 1) < 1e-6


def test_a_seed_is_a_data_set():
    one, again, other = (load_two_modes(50, random_state=seed) for seed in (1, 1, 2))
    np.testing.assert_array_equal(one.y, again.y)
    assert (one.y != other.y).any()
    assert one.X.shape == (50, 1)
    assert one.X.min() >= 0
    assert one.X.max() <= 8
