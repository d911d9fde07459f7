"""How noise goes together, from noise whose correlation is known."""

import numpy as np
import pytest

from vebnn.strategies.cooperative.dependence import dependence_of

ROWS, TIME, OUTPUTS = 400, 12, 2


def ones(shape: tuple[int, ...]) -> np.ndarray:
    return np.ones(shape)


def autoregressive(rng: np.random.Generator, rho: float, shape: tuple[int, ...]) -> np.ndarray:
    """Return noise of variance 1 and correlation ρ^distance along axis −2."""
    values = rng.standard_normal(shape)
    for step in range(1, shape[-2]):
        fresh = np.sqrt(1 - rho**2) * values[..., step, :]
        values[..., step, :] = rho * values[..., step - 1, :] + fresh
    return values


def test_independent_noise_keeps_its_weight(rng: np.random.Generator) -> None:
    z, u = rng.standard_normal((ROWS, TIME, OUTPUTS)), rng.standard_normal((3, ROWS, TIME, OUTPUTS))
    found = dependence_of(z, u, ones(z.shape), None)
    assert found.share == pytest.approx(1, abs=0.03)
    np.testing.assert_allclose(found.autocorrelation, np.eye(TIME)[0], atol=0.03)


def test_smooth_changes_of_autoregressive_noise_have_the_variance_of_their_sum() -> None:
    """Changes that are constant along a sequence: the share is that of an average, to the factor
    1 − distance/time by which distant steps count less."""
    rng = np.random.default_rng(0)
    z = 3 * autoregressive(rng, 0.8, (4_000, TIME, 1))  # the scale does not matter
    u = np.broadcast_to(rng.standard_normal((5, 4_000, 1, 1)), (5, 4_000, TIME, 1))
    found = dependence_of(z, u, ones(z.shape), None)
    distance = np.arange(1, TIME)
    taper = (1 - distance / TIME) ** 2
    assert 1 / found.share == pytest.approx(1 + 2 * np.sum(taper * 0.8**distance), rel=0.03)
    known = (1 - np.arange(TIME) / TIME) * 0.8 ** np.arange(TIME)
    np.testing.assert_allclose(found.autocorrelation, known, atol=0.03)


def test_outputs_that_are_copies_count_once(rng: np.random.Generator) -> None:
    z, u = rng.standard_normal((ROWS, TIME, 1)), rng.standard_normal((3, ROWS, TIME, 1))
    twice = [np.concatenate([part, part], axis=-1) for part in (z, u)]
    found = dependence_of(*twice, ones((ROWS, TIME, 2)), None)
    assert found.share == pytest.approx(0.5, abs=0.02)


def test_padding_does_not_count(rng: np.random.Generator) -> None:
    z = autoregressive(rng, 0.9, (ROWS, TIME, 1))
    u = autoregressive(rng, 0.9, (3, ROWS, TIME, 1))
    short = dependence_of(z, u, ones(z.shape), None)
    z, u = (np.concatenate([part, 1e3 + part], axis=-2) for part in (z, u))
    weight = ones(z.shape)
    weight[:, TIME:] = 0
    longer = dependence_of(z, u, weight, None)
    assert longer.share == pytest.approx(short.share)
    np.testing.assert_allclose(longer.autocorrelation[:TIME], short.autocorrelation)


def test_a_correlation_along_time_is_that_of_a_process_whatever_the_data(
    rng: np.random.Generator,
) -> None:
    """Toeplitz matrices of any size have no negative eigenvalue, even from a single sequence."""
    from scipy.linalg import toeplitz

    z = rng.standard_normal((1, 30, 1)) + np.linspace(-3, 3, 30)[None, :, None]
    found = dependence_of(z, z[None], ones(z.shape), None)
    first = np.concatenate([found.autocorrelation, np.zeros(40)])
    assert np.linalg.eigvalsh(toeplitz(first)).min() > -1e-9


def test_groups_whose_inputs_are_the_same_have_the_design_effect_of_kish() -> None:
    """1 + (n − 1) ρ, for n rows in a group with intraclass correlation ρ and constant changes."""
    rng = np.random.default_rng(1)
    groups, size, rho = 4_000, 5, 0.4
    group = rng.permutation(np.repeat(np.arange(groups), size))
    shared = np.sqrt(rho) * rng.standard_normal((groups, 1))[group]
    z = shared + np.sqrt(1 - rho) * rng.standard_normal((len(group), 1))
    u = rng.standard_normal((3, groups, 1))[:, group]
    found = dependence_of(z, u, ones(z.shape), group)
    assert 1 / found.share == pytest.approx(1 + (size - 1) * rho, rel=0.05)
    assert found.autocorrelation is None
    # Changes that differ from row to row average the common part of the noise away.
    scattered = rng.standard_normal((3, len(group), 1))
    assert dependence_of(z, scattered, ones(z.shape), group).share == pytest.approx(1, abs=0.05)
