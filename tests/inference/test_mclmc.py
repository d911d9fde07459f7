import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.flatten_util import ravel_pytree

from tests.support.linear import assert_predictions, flatten
from tests.support.resuming import assert_resumes
from vebnn.core.types import NoisyDataset
from vebnn.inference import MCLMC, mclmc
from vebnn.inference.engine import Budget
from vebnn.inference.isokinetic import Particle
from vebnn.inference.mclmc import Spread, StepSize
from vebnn.likelihoods.log_likelihoods import GaussianNoiseGiven, IsotropicPrior
from vebnn.training import SILENT, Objective, Training, TrainingDiverged

SHORT = MCLMC(num_samples=3, burn_in=25, thinning=2, num_chains=2)


def test_posterior_of_conjugate_linear_regression(linear, key: jax.Array) -> None:
    """Short steps leave a bias far below the Monte Carlo error; nothing else may be wrong."""
    sampler = MCLMC(num_samples=1_500, burn_in=1_000, thinning=10, decoherence_length=1.0)
    posterior = sampler.run(key, linear.problem, SILENT)
    assert_predictions(flatten(posterior.draws), linear.mean, linear.covariance)
    assert posterior.markov
    info = posterior.info
    assert (info["failures"] == 0).all()
    np.testing.assert_allclose(info["energy_variance"], 5e-4, rtol=0.5)
    assert ((info["step_size"] > 0.3) & (info["step_size"] < 3)).all()  # in units of the posterior


def test_trace_is_the_objective_per_row(linear, key: jax.Array) -> None:
    posterior = SHORT.run(key, linear.problem, SILENT)
    assert posterior.trace.shape == (2, 31)
    for chain in range(2):
        for draw in range(3):
            params = jax.tree.map(lambda leaf, c=chain, d=draw: leaf[c, d], posterior.draws)
            value = linear.objective(params, linear.data, 1) / 61
            # Draws are those of steps 27, 29 and 31.
            np.testing.assert_allclose(posterior.trace[chain, 26 + 2 * draw], value, rtol=1e-4)


def test_rows_in_blocks_have_the_gradient_of_all_rows(linear, monkeypatch) -> None:
    params = jax.tree.map(lambda leaf: leaf[0], linear.starts)
    flat, unravel = ravel_pytree(params)
    chain = SHORT.chain(linear.objective, params)
    expected = jax.value_and_grad(lambda flat: linear.objective(unravel(flat), linear.data, 1))(flat)
    for block_rows, num_blocks in ((1_000, 1), (10, 7)):
        monkeypatch.setattr(mclmc, "BLOCK_ROWS", block_rows)
        blocks, num_rows = SHORT.prepare(linear.data)
        assert (blocks.x.shape[0], num_rows) == (num_blocks, 61)
        for here, there in zip(chain.potential(blocks)(flat), expected, strict=True):
            np.testing.assert_allclose(here, there, rtol=1e-4)


def test_interrupted_chains_are_resumed_from_their_checkpoint(linear, key, tmp_path) -> None:
    assert_resumes(lambda stage: SHORT.run(key, linear.problem, stage), tmp_path)


def test_step_size_is_tuned_to_the_mean_ratio(key: jax.Array) -> None:
    """Errors of the energy grow with the third power of the step: r = (ε/0.7)⁶ χ²."""
    noise = jax.random.normal(key, (2_000,)) ** 2

    def tune(size: StepSize, chi_squared: jax.Array) -> tuple[StepSize, None]:
        return size.tuned(jnp.minimum(jnp.exp(6 * (size.log - np.log(0.7))) * chi_squared, 50)), None

    end, _ = jax.lax.scan(tune, StepSize.start(jnp.float32(-5)), noise)
    np.testing.assert_allclose(np.exp(end.log), 0.7, rtol=0.1)


def test_scales_are_stds_of_independent_gaussians() -> None:
    std = np.array([0.1, 1.0, 20.0], np.float32)
    spread = Spread.start(std)
    for draw in std * np.random.default_rng(0).standard_normal((400, 3)).astype(np.float32):
        spread = spread.with_one_more(Particle(draw, None, None, draw / std**2))
    np.testing.assert_allclose(spread.scales(2 * std), std, rtol=0.1)


def test_scales_of_few_steps_stay_near_those_of_before() -> None:
    ones = jnp.ones(2)
    spread = Spread.start(ones).with_one_more(Particle(ones, None, ones, ones))
    np.testing.assert_allclose(spread.scales(3 * ones), 3, rtol=0.4)


def test_failed_steps_are_counted_and_not_taken(linear, key: jax.Array) -> None:
    """Beyond a slope of 0.9 the log posterior is not a number; the chain stays below."""

    class Fenced(GaussianNoiseGiven):
        def __call__(self, network, batch, key):
            slope = network.weights.weights[0][0, 0]
            return super().__call__(network, batch, key) + jnp.where(slope > 0.9, jnp.nan, 0.0)

    objective = Objective(Fenced(), IsotropicPrior(np.float32(1)))
    problem = linear.problem._replace(objective=objective)
    sampler = MCLMC(num_samples=100, burn_in=200, thinning=5)
    posterior = sampler.run(key, problem, SILENT)
    assert posterior.info["failures"].sum() > 0
    assert flatten(posterior.draws)[..., 0].max() <= 0.9


def test_data_without_a_finite_log_posterior_get_a_sentence(linear, key: jax.Array) -> None:
    data = NoisyDataset(*linear.data)._replace(target=np.full_like(linear.data.target, np.inf))
    with pytest.raises(TrainingDiverged, match=r"non-finite in chain 1 of 2\. Look for extreme"):
        SHORT.run(key, linear.problem._replace(data=data), SILENT)


def test_a_network_of_one_parameter_is_refused() -> None:
    with pytest.raises(ValueError, match=r"at least 2 parameters\. Got 1"):
        SHORT.check({"weight": np.ones(1)}, np.ones((3, 1)))


def test_gradients_by_name_are_bounded() -> None:
    lengths = [MCLMC.for_rows(rows).num_transitions for rows in (10, 1_000, 4_000, 10**6)]
    assert lengths == [2_000, 2_000, 980, 490]


def test_a_budget_of_epochs_is_one_of_gradients() -> None:
    chains = {"num_samples": 7, "burn_in": 20, "thinning": 1, "batch_size": 3}
    budget = Budget(Training(2), chains, Training(2))
    assert MCLMC.for_budget(budget) == MCLMC(7, burn_in=10, thinning=1, num_chains=1)


@pytest.mark.parametrize("setting", ["energy_variance", "decoherence_length"])
def test_wrong_settings_get_a_sentence(setting: str) -> None:
    with pytest.raises(ValueError, match=f"`{setting}` must be"):
        MCLMC(**{setting: 0.0})
