"""What every inference engine owes: a new engine is one more row."""

from functools import cache
from typing import Any

import jax
import numpy as np
import pytest

from vebnn.cooperative import Cooperative, fit_cooperative
from vebnn.inference import ENGINES, Engine, Posterior, Problem
from vebnn.inference.functions import evaluate_draws, pool_chains
from vebnn.inference.problem import posterior_like
from vebnn.likelihoods.of_networks import GaussianNoiseGiven, IsotropicPrior
from vebnn.networks import MLP
from vebnn.networks.adapters import build_networks
from vebnn.training import SILENT, Objective, Training
from vebnn.types import Dataset

SHORT = Training(num_epochs=6, batch_size=16, patience=3)

CHAINS = {"num_samples": 4, "burn_in": 3, "thinning": 2, "num_chains": 2}

# name → small settings and the (chains, draws) they ask for
SMALL: dict[str, tuple[dict[str, Any], tuple[int, int]]] = {
    "map": ({"training": SHORT}, (1, 1)),
    "ensemble": ({"training": SHORT, "num_members": 3}, (3, 1)),
    "mc_dropout": ({"training": SHORT, "num_samples": 5}, (1, 5)),
    "bbb": ({"training": SHORT, "num_samples": 4, "num_members": 2}, (2, 4)),
    "sgld": (CHAINS | {"batch_size": 16}, (2, 4)),
    "psgld": (CHAINS | {"batch_size": 16}, (2, 4)),
    "sghmc": (CHAINS | {"batch_size": 16}, (2, 4)),
    "nuts": (CHAINS | {"burn_in": 30}, (2, 4)),
}


@pytest.fixture(params=sorted(ENGINES))
def name(request: pytest.FixtureRequest) -> str:
    return request.param


def small(name: str) -> Engine:
    return ENGINES[name](**SMALL[name][0])


def network_for(name: str) -> MLP:
    # Enough units that no two of a few masks are likely to be the same.
    return MLP((30,), "tanh", dropout_rate=0.3) if name == "mc_dropout" else MLP((4,), "tanh")


def some_data(num_outputs: int, num_rows: int = 40) -> Dataset:
    rng = np.random.default_rng(0)
    x = rng.standard_normal((num_rows, 2))
    target = np.sin(x @ rng.standard_normal((2, num_outputs))) + 0.1 * rng.standard_normal(
        (num_rows, num_outputs)
    )
    ones = np.ones_like(target)
    return Dataset(*(part.astype(np.float32) for part in (x, target, ones, 0.05 * ones)))


@cache
def run(name: str, num_outputs: int, seed: int = 0, again: bool = False) -> tuple[Posterior, Dataset]:
    data = some_data(num_outputs)
    network = network_for(name)
    starts, skeleton = build_networks(
        network, (2,), num_outputs, jax.random.split(jax.random.key(9), 2)
    )
    problem = Problem(
        objective=Objective(GaussianNoiseGiven(skeleton), IsotropicPrior(np.float32(1))),
        data=data,
        initialise=lambda keys: build_networks(network, (2,), num_outputs, keys)[0],
        starts=starts,
        validation_rows=np.arange(8),
        skeleton=skeleton,
    )
    return small(name).run(jax.random.key(seed), problem, SILENT), data


def test_every_engine_has_a_row() -> None:
    assert SMALL.keys() == ENGINES.keys()


@pytest.mark.parametrize("num_outputs", [1, 3])
def test_draws_have_the_shape_of_networks_and_are_finite(name: str, num_outputs: int) -> None:
    posterior, data = run(name, num_outputs)
    chains, draws = SMALL[name][1]
    key = jax.random.split(jax.random.key(0), 1)
    networks = build_networks(network_for(name), (2,), num_outputs, key)
    like, skeleton = posterior_like(small(name), *networks)
    assert jax.tree.structure(posterior.draws) == jax.tree.structure(like)
    assert jax.tree.structure(posterior.skeleton) == jax.tree.structure(skeleton)
    for leaf, one in zip(jax.tree.leaves(posterior.draws), jax.tree.leaves(like), strict=True):
        assert leaf.shape == (chains, draws, *one.shape[1:])
        assert np.isfinite(leaf).all()
    assert posterior.trace.shape[0] == chains
    assert np.isfinite(posterior.trace[:, 0]).all()
    assert isinstance(posterior.markov, bool)
    for value in posterior.info.values():
        assert value.shape == (chains,)
        assert np.isfinite(value).all()
    outputs = evaluate_draws(posterior.skeleton, pool_chains(posterior.draws), data.x)
    assert np.isfinite(outputs).all()
    assert outputs.shape == (chains * draws, *data.target.shape)


def test_the_key_decides(name: str) -> None:
    runs = (run(name, 1), run(name, 1, again=True), run(name, 1, seed=1))
    one, same, other = (jax.tree.leaves(posterior.draws) for posterior, _ in runs)
    for first, second in zip(one, same, strict=True):
        np.testing.assert_array_equal(first, second)
    assert any(not np.array_equal(first, second) for first, second in zip(one, other, strict=True))


def test_draws_of_one_posterior_differ(name: str) -> None:
    posterior, data = run(name, 1)
    outputs = evaluate_draws(posterior.skeleton, pool_chains(posterior.draws), data.x)[..., 0]
    assert len(np.unique(outputs, axis=0)) == len(outputs) == np.prod(SMALL[name][1])


def test_runs_inside_the_cooperative_algorithm(name: str) -> None:
    settings = Cooperative(
        network=network_for(name),
        variance_network=MLP((3,), "tanh"),
        engine=small(name),
        rounds=1,
        iterate="posterior",
        choose_round="last",
        residuals="cross_fit",
        num_folds=2,
        rescale_residuals=True,
        variance_loss="gamma",
        mean_training=SHORT,
        learning_rates=(),
        variance_training=SHORT,
        weight_decay=1e-6,
        prior_precision=1.0,
        validation_fraction=0.2,
        refit=False,
    )
    fitted = fit_cooperative(jax.random.key(0), settings, some_data(3), stage=SILENT)
    for leaf in jax.tree.leaves(fitted.posterior.draws):
        assert leaf.shape[:2] == SMALL[name][1]
        assert np.isfinite(leaf).all()
    (only,) = fitted.rounds
    assert np.isfinite([only.log_marginal_likelihood, only.validation_nll]).all()
