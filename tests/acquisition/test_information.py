from itertools import pairwise

import numpy as np
import pytest
from scipy import integrate, stats

from tests.support.predictions import of_draws, of_moments
from vebnn.acquisition import bald, epistemic_variance


def entropy_by_quadrature(centers: np.ndarray, noise_std: float) -> float:
    """Integrate −p log p of a mixture of Gaussians adaptively, piece by piece."""

    def integrand(y: float) -> float:
        density = np.mean(stats.norm.pdf(y, centers, noise_std))
        return -density * np.log(density + 1e-300)

    edges = np.linspace(centers.min() - 12 * noise_std, centers.max() + 12 * noise_std, 20)
    return sum(integrate.quad(integrand, *pair)[0] for pair in pairwise(edges))


def test_epistemic_variance_is_that_of_the_prediction() -> None:
    np.testing.assert_array_equal(epistemic_variance(of_moments([0.0, 1.0], [4.0, 9.0])), [4, 9])


def test_several_outputs_count_alike_in_any_units() -> None:
    rng = np.random.default_rng(0)
    draws, noise = rng.standard_normal((50, 6, 2)), rng.uniform(0.5, 2, (6, 2))
    metres = of_draws(draws, noise)
    millimetres = of_draws(draws * [1, 1000], noise * [1, 1000**2])
    np.testing.assert_allclose(epistemic_variance(metres), epistemic_variance(millimetres))
    total = metres.variance.mean(0)
    expected = draws[..., 0].var(0) / total[0] + draws[..., 1].var(0) / total[1]
    np.testing.assert_allclose(epistemic_variance(metres), expected)


def test_gaussian_information_is_a_difference_of_entropies() -> None:
    epistemic, aleatoric = np.array([0.0, 0.3, 4.0]), np.array([1.0, 0.5, 0.1])
    found = bald(of_moments(np.zeros(3), epistemic, aleatoric))
    both = stats.norm(scale=np.sqrt(epistemic + aleatoric)).entropy()
    np.testing.assert_allclose(found, both - stats.norm(scale=np.sqrt(aleatoric)).entropy(), atol=1e-14)


@pytest.mark.parametrize("spread", [0.1, 1.0, 3.0, 10.0])
def test_mixture_information_against_adaptive_integration(spread: float) -> None:
    rng = np.random.default_rng(3)
    noise_std = 0.4
    draws = 5 + spread * noise_std * rng.standard_normal((7, 3))
    found = bald(of_draws(draws, noise_std**2), kind="mixture")
    for row in range(3):
        of_mixture = entropy_by_quadrature(draws[:, row], noise_std)
        of_noise = 0.5 * np.log(2 * np.pi * np.e * noise_std**2)
        assert found[row] == pytest.approx(of_mixture - of_noise, abs=2e-6)


def test_mixture_of_many_normal_draws_is_nearly_gaussian() -> None:
    quantiles = stats.norm.ppf((np.arange(2_000) + 0.5) / 2_000)
    prediction = of_draws(2.0 * quantiles[:, None], 1.0)
    found, expected = bald(prediction, kind="mixture"), bald(prediction)
    assert found == pytest.approx(expected, abs=1e-3)
    assert found < expected


def test_draws_that_do_not_overlap_tell_which_network_it_is() -> None:
    # log 3 at any distance: the empty space between them is not integrated.
    draws = np.array([[0.0, 0.0], [100.0, -1e9], [-50.0, 1e9]])
    np.testing.assert_allclose(bald(of_draws(draws, 1.0), kind="mixture"), np.log(3), atol=1e-9)


def test_equal_draws_have_no_information() -> None:
    prediction = of_draws(np.full((5, 2), 7.0), 0.3)
    np.testing.assert_allclose(bald(prediction, kind="mixture"), 0, atol=1e-9)
    np.testing.assert_array_equal(bald(prediction), 0)


@pytest.mark.parametrize("kind", ["gaussian", "mixture"])
def test_information_does_not_depend_on_units(kind) -> None:
    rng = np.random.default_rng(1)
    draws, noise = rng.standard_normal((20, 4)), rng.uniform(0.5, 1, 4)
    one = bald(of_draws(draws, noise), kind=kind)
    other = bald(of_draws(1e3 * draws + 5, 1e6 * noise), kind=kind)
    np.testing.assert_allclose(one, other, rtol=1e-6)


@pytest.mark.parametrize("kind", ["gaussian", "mixture"])
def test_information_of_several_outputs_is_the_sum(kind) -> None:
    rng = np.random.default_rng(2)
    prediction = of_draws(rng.standard_normal((30, 4, 2)), 0.5, names=("left", "right"))
    parts = [bald(prediction, kind=kind, output=output) for output in ("left", 1)]
    np.testing.assert_allclose(bald(prediction, kind=kind), sum(parts))
    alone = of_draws(prediction.draws[..., 0], 0.5)
    np.testing.assert_allclose(parts[0], bald(alone, kind=kind))


def test_sequences_are_summed_over_time() -> None:
    prediction = of_moments(np.zeros((5, 3, 2)), np.arange(6.0).reshape(3, 2))
    assert bald(prediction, output=1) == pytest.approx(0.5 * np.log([2, 4, 6]).sum())


def test_without_noise_information_is_infinite_and_refused() -> None:
    with pytest.raises(ValueError, match=r"aleatoric variance above 0 at every row. Got 0"):
        bald(of_moments(np.zeros(2), 1.0, [1.0, 0.0]))


def test_unknown_kind() -> None:
    with pytest.raises(ValueError, match=r"`kind` must be one of 'gaussian', 'mixture'. Got 'exact'"):
        bald(of_moments([0.0], 1.0), kind="exact")  # type: ignore[arg-type]


@pytest.mark.parametrize("output", [2, -1, "middle", True, 0.0])
def test_unknown_output(output) -> None:
    prediction = of_draws(np.zeros((3, 4, 2)), 1.0, names=("left", "right"))
    with pytest.raises(ValueError, match=r"`output` must be in 0, …, 1 or one of 'left', 'right'"):
        bald(prediction, output=output)


def test_the_only_output_has_number_zero() -> None:
    prediction = of_moments([0.0, 1.0], [4.0, 9.0])
    np.testing.assert_array_equal(epistemic_variance(prediction, output=0), [4, 9])
    with pytest.raises(ValueError, match=r"`output` must be in 0, …, 0. Got 1"):
        epistemic_variance(prediction, output=1)
