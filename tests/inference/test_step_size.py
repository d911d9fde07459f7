"""The step size of SGLD and SGHMC: from the largest curvature, at the end of pilot chains."""

import jax
import numpy as np
import pytest

from tests.support.linear import flatten, rescaled
from vebnn.inference import SGHMC, SGLD
from vebnn.inference import step_size as module
from vebnn.inference.step_size import MOST_ROWS, largest_curvature
from vebnn.training import SILENT

CHAINS = {"num_samples": 2, "burn_in": 3, "thinning": 1, "num_chains": 2}


def test_curvature_is_the_largest_eigenvalue(linear, key: jax.Array) -> None:
    expected = np.linalg.eigvalsh(np.linalg.inv(linear.covariance)).max()
    assert largest_curvature(key, linear.problem, 3) == pytest.approx(expected, rel=1e-3)


def test_curvature_of_many_rows_is_estimated_from_some(linear, key: jax.Array) -> None:
    data, precision = rescaled(linear, 3 * MOST_ROWS, 1.0)
    found = largest_curvature(key, linear.problem._replace(data=data), 1)
    assert found == pytest.approx(np.linalg.eigvalsh(precision).max(), rel=0.1)


@pytest.mark.parametrize("num_batches", [1, 7])
def test_safe_steps_widen_the_steepest_direction_by_a_tenth(num_batches: int) -> None:
    curvature = 130.0
    # SGLD: the variance is too large by η λ B/4.
    step_size = SGLD().safe_step_size(curvature, num_batches)
    assert step_size * curvature * num_batches / 4 == pytest.approx(0.1)
    # SGHMC: by η λ (1/4 + (B − 1)/(2a)), of which the first part is a quarter of what it may be.
    step_size = SGHMC(friction=0.05).safe_step_size(curvature, num_batches)
    excess = step_size * curvature * (1 / 4 + (num_batches - 1) / 0.1)
    assert excess == pytest.approx(0.1 - 0.75 * step_size * curvature)
    assert excess < 0.1


@pytest.fixture
def used(monkeypatch: pytest.MonkeyPatch) -> list:
    """Step sizes and problems of the chains that would be run."""
    runs: list = []

    def keep(key, sampler, problem, stage, *, step_size):
        runs.append((step_size, problem))

    monkeypatch.setattr(module, "sample_chains", keep)
    return runs


@pytest.mark.parametrize("kind", [SGLD, SGHMC])
def test_an_open_step_size_is_that_of_the_curvature_after_the_pilot(
    kind, linear, key: jax.Array, monkeypatch: pytest.MonkeyPatch, used: list
) -> None:
    seen = []
    monkeypatch.setattr(
        module, "largest_curvature", lambda _, problem, __: seen.append(problem) or 50.0
    )
    sampler = kind(**CHAINS, pilot=20, batch_size=16)
    sampler.run(key, linear.problem, SILENT)
    ((step_size, problem),) = used
    assert step_size == sampler.safe_step_size(50.0, 4)  # 61 rows in batches of at most 16
    # The curvature is measured where the pilot chains end, and there the chains start.
    assert seen == [problem]
    starts = flatten(problem.starts)
    assert starts.shape == (2, 3)
    assert not np.allclose(starts, flatten(linear.starts)[:2])


@pytest.mark.parametrize("kind", [SGLD, SGHMC])
def test_a_given_step_size_needs_no_pilot(
    kind, linear, key: jax.Array, monkeypatch: pytest.MonkeyPatch, used: list
) -> None:
    monkeypatch.setattr(module, "largest_curvature", lambda *_: pytest.fail("measured"))
    problem = linear.problem
    kind(**CHAINS, step_size=1e-3).run(key, problem, SILENT)
    assert used == [(1e-3, problem)]


@pytest.mark.parametrize(("kind", "burn_in"), [(SGLD, 100), (SGHMC, 500)])
@pytest.mark.parametrize(("rows", "noise"), [(50, 1e-4), (50, 1.0), (5_000, 1e-4), (5_000, 1.0)])
def test_an_open_step_size_suits_any_number_of_rows_and_any_noise(
    linear, key: jax.Array, kind, burn_in: int, rows: int, noise: float
) -> None:
    data, precision = rescaled(linear, rows, noise)
    sampler = kind(num_samples=100, burn_in=burn_in, thinning=5, num_chains=4, pilot=300)
    posterior = sampler.run(key, linear.problem._replace(data=data), SILENT)
    draws = flatten(posterior.draws).astype(float)
    ratio = draws.std((0, 1)) / np.sqrt(np.diag(np.linalg.inv(precision)))
    # Not a tuned sampler, but one that neither freezes nor diverges.
    assert (ratio > 0.7).all()
    assert (ratio < 1.4).all()
    if kind is SGHMC:
        assert posterior.info["kinetic_temperature"].shape == (4,)


@pytest.mark.parametrize("pilot", [0, 1.5])
def test_wrong_pilots_get_a_sentence(pilot) -> None:
    with pytest.raises(ValueError, match="`pilot` must be a whole number of at least 1"):
        SGLD(pilot=pilot)
