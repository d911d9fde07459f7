"""pSGLD against the no-U-turn sampler, which is exact up to Monte Carlo error, on the toy data."""

import blackjax
import equinox as eqx
import jax
import numpy as np
import pytest
from arviz_stats.base import array_stats
from jax.flatten_util import ravel_pytree

from vebnn.core.types import Array, Key, NoisyDataset
from vebnn.datasets.toy import DATA_RANGE, load_toy, true_noise_std
from vebnn.inference import PSGLD, Problem
from vebnn.inference.evaluation import evaluate_draws, pool_chains
from vebnn.likelihoods.log_likelihoods import GaussianNoiseGiven, IsotropicPrior
from vebnn.networks import MLP, Network, build_networks
from vebnn.training import SILENT, Objective, Training, all_rows, map_runs, train

NUM_CHAINS = 8
NUTS_CHAINS, NUTS_STEPS = 4, 500


class Nuts(eqx.Module):
    """One chain: window adaptation, then draws."""

    objective: Objective
    like: Network

    def __call__(self, data: NoisyDataset, run: tuple[Key, Array]) -> tuple[Array, Array]:
        key, start = run
        key_adapt, key_draw = jax.random.split(key)
        _, unravel = ravel_pytree(self.like)

        def log_density(position: Array) -> Array:
            return -self.objective(unravel(position), data, 1)

        adaptation = blackjax.window_adaptation(blackjax.nuts, log_density)
        (state, settings), _ = adaptation.run(key_adapt, start, num_steps=NUTS_STEPS)
        kernel = blackjax.nuts(log_density, **settings)

        def step(state, key_step):
            state, info = kernel.step(key_step, state)
            return state, (state.position, info.is_divergent)

        return jax.lax.scan(step, state, jax.random.split(key_draw, NUTS_STEPS))[1]


@pytest.mark.slow
def test_epistemic_std_agrees_with_nuts() -> None:
    toy = load_toy()
    x_scale, y_scale = toy.X.std(), toy.y.std()
    x = (toy.X - toy.X.mean()) / x_scale
    target = (toy.y[:, None] - toy.y.mean()) / y_scale
    variance = (true_noise_std(toy.X) / y_scale) ** 2
    data = NoisyDataset(*(part.astype(np.float32) for part in (x, target, np.ones_like(x), variance)))
    places = (np.linspace(*DATA_RANGE, 101)[:, None] - toy.X.mean()) / x_scale
    places = places.astype(np.float32)

    def by_chain(draws) -> np.ndarray:
        chains, per_chain = jax.tree.leaves(draws)[0].shape[:2]
        outputs = evaluate_draws(pool_chains(draws), places)
        return outputs.reshape(chains, per_chain, len(places)).astype(float)

    keys = jax.random.split(jax.random.key(0), NUM_CHAINS)
    starts = build_networks(MLP((10,), "tanh"), (1,), 1, keys)
    objective = Objective(GaussianNoiseGiven(), IsotropicPrior(np.float32(1)))
    # Both samplers start where Step 3 does: from trained networks.
    settings = Training(num_epochs=5_000, learning_rate=3e-3)
    rows = all_rows(len(x), NUM_CHAINS)
    warm = train(jax.random.key(1), objective, starts, data, rows, settings).params

    like = jax.tree.map(lambda leaf: leaf[0], warm)
    _, unravel = ravel_pytree(like)
    flat = jax.vmap(lambda params: ravel_pytree(params)[0])(warm)[:NUTS_CHAINS]
    nuts_keys = jax.random.split(jax.random.key(2), NUTS_CHAINS)
    with jax.numpy_rank_promotion("allow"):  # BlackJAX promotes ranks
        positions, divergent = map_runs(Nuts(objective, like), data, (nuts_keys, flat))
    draws = jax.tree.map(np.asarray, jax.vmap(jax.vmap(unravel))(positions))
    exact = by_chain(draws)
    # The reference itself must have converged.
    assert np.mean(divergent) < 0.01
    assert np.max(array_stats.rhat(exact, chain_axis=0, draw_axis=1)) < 1.05
    assert np.min(array_stats.ess(exact, chain_axis=0, draw_axis=1)) > 200

    problem = Problem(objective, data, lambda keys: None, warm, np.arange(0))
    engines = {
        "eight chains of the default": PSGLD(num_chains=NUM_CHAINS),
        "for this number of rows": PSGLD.for_rows(len(x)),
    }
    exact_mean, exact_std = exact.mean((0, 1)), exact.std((0, 1))
    for name, engine in engines.items():
        posterior = engine.run(jax.random.key(5), problem, SILENT)
        ours = by_chain(posterior.draws)
        difference = np.mean(np.abs(ours.std((0, 1)) - exact_std) / exact_std)
        bias = np.mean(np.abs(ours.mean((0, 1)) - exact_mean) / exact_std)
        print(f"\npSGLD, {name}: std differs from NUTS by {difference:.1%}, mean by {bias:.2f} std")
        assert difference <= 0.25
        assert bias <= 0.5
