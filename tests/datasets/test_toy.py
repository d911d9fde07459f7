import numpy as np
import pytest

from vebnn.datasets.toy import load_toy, observe, true_mean, true_noise_std


def test_shapes_and_range() -> None:
    data = load_toy(50)
    assert data.X.shape == (50, 1)
    assert data.y.shape == (50,)
    assert data.X.min() >= 0
    assert data.X.max() <= 10


def test_seed_decides_everything() -> None:
    np.testing.assert_array_equal(load_toy(20, random_state=4).y, load_toy(20, random_state=4).y)
    assert not np.array_equal(load_toy(20, random_state=4).y, load_toy(20, random_state=5).y)


def test_known_values() -> None:
    x = np.array([0.0, np.pi / 2, 3.0])
    np.testing.assert_allclose(true_mean(x), [0, np.pi / 2, 3 * np.sin(3)])
    np.testing.assert_allclose(true_noise_std(x), 0.3 * np.sqrt([1, 1 + np.pi**2 / 4, 10]))
    np.testing.assert_allclose(true_noise_std(x, "homoscedastic"), 0.5)


@pytest.mark.parametrize("noise", ["heteroscedastic", "homoscedastic"])
def test_observations_have_the_stated_mean_and_noise(noise, rng: np.random.Generator) -> None:
    size = 40_000
    for place in (0.0, 2.0, 9.0):
        x = np.full(size, place)
        residual = observe(x, noise, rng) - true_mean(x)
        std = true_noise_std(x, noise)[0]
        # Four standard errors of a mean, and of a standard deviation.
        assert abs(residual.mean()) < 4 * std / np.sqrt(size)
        assert abs(residual.std() - std) < 4 * std / np.sqrt(2 * size)


def test_noise_is_that_of_the_two_sources_of_the_paper(rng: np.random.Generator) -> None:
    # The paper adds 0.3 x ε₁ and 0.3 ε₂; together they are one Gaussian.
    x, size = 7.0, 100_000
    two_sources = 0.3 * x * rng.standard_normal(size) + 0.3 * rng.standard_normal(size)
    assert two_sources.std() == pytest.approx(float(true_noise_std(np.array(x))), rel=0.01)
