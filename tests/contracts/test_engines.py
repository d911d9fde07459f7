"""The contract of inference engines: a new engine is one more row in tests/support/settings.py."""

from dataclasses import replace
from functools import cache

import jax
import numpy as np
import pytest

from tests.support.draws import split_leaves
from tests.support.settings import SHORT, SMALL_ENGINES, small_engine, small_network
from vebnn.core.types import NoisyDataset
from vebnn.inference import ENGINES, Posterior, Problem
from vebnn.inference.engine import Budget, Engine, PointEngine
from vebnn.inference.evaluation import evaluate_draws, pool_chains
from vebnn.inference.sampling import ChainSampler
from vebnn.likelihoods.log_likelihoods import GaussianNoiseGiven, IsotropicPrior
from vebnn.networks import build_networks
from vebnn.training import SILENT, Objective


@pytest.fixture(params=sorted(ENGINES))
def name(request: pytest.FixtureRequest) -> str:
    return request.param


def some_data(num_outputs: int, num_rows: int = 40) -> NoisyDataset:
    rng = np.random.default_rng(0)
    x = rng.standard_normal((num_rows, 2))
    target = np.sin(x @ rng.standard_normal((2, num_outputs))) + 0.1 * rng.standard_normal(
        (num_rows, num_outputs)
    )
    ones = np.ones_like(target)
    return NoisyDataset(*(part.astype(np.float32) for part in (x, target, ones, 0.05 * ones)))


@cache
def run(
    name: str, num_outputs: int, seed: int = 0, again: bool = False
) -> tuple[Posterior, NoisyDataset]:
    data = some_data(num_outputs)
    network = small_network(name)
    starts = build_networks(network, (2,), num_outputs, jax.random.split(jax.random.key(9), 2))
    problem = Problem(
        objective=Objective(GaussianNoiseGiven(), IsotropicPrior(np.float32(1))),
        data=data,
        initialise=lambda keys: build_networks(network, (2,), num_outputs, keys),
        starts=starts,
        validation_rows=np.arange(8),
    )
    return small_engine(name).run(jax.random.key(seed), problem, SILENT), data


def test_every_engine_has_a_row() -> None:
    assert SMALL_ENGINES.keys() == ENGINES.keys()


@pytest.mark.parametrize("num_outputs", [1, 3])
def test_draws_have_the_shape_of_networks_and_are_finite(name: str, num_outputs: int) -> None:
    posterior, data = run(name, num_outputs)
    chains, draws = SMALL_ENGINES[name][1]
    key = jax.random.split(jax.random.key(0), 1)
    networks = build_networks(small_network(name), (2,), num_outputs, key)
    like = small_engine(name).posterior_like(jax.tree.map(lambda leaf: leaf[0], networks))
    assert jax.tree.structure(posterior.draws) == jax.tree.structure(like)
    (own, shared), (own_like, shared_like) = split_leaves(posterior.draws), split_leaves(like)
    assert own
    for leaf, one in zip(own, own_like, strict=True):
        assert leaf.shape == (chains, draws, *one.shape)
        assert np.isfinite(leaf).all()
    for leaf, one in zip(shared, shared_like, strict=True):
        assert leaf.shape == one.shape
        assert np.isfinite(leaf).all()
    assert posterior.trace.shape[0] == chains
    assert np.isfinite(posterior.trace[:, 0]).all()
    assert isinstance(posterior.markov, bool)
    for value in posterior.info.values():
        assert value.shape == (chains,)
        assert np.isfinite(value).all()
    outputs = evaluate_draws(pool_chains(posterior.draws), data.x)
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
    outputs = evaluate_draws(pool_chains(posterior.draws), data.x)[..., 0]
    assert len(np.unique(outputs, axis=0)) == len(outputs) == np.prod(SMALL_ENGINES[name][1])


def test_settings_fit_any_number_of_rows(name: str) -> None:
    few, many = (ENGINES[name].for_rows(num_rows) for num_rows in (1, 100_000))
    assert type(few) is type(many) is ENGINES[name]


def test_settings_follow_the_budget_of_an_experiment(name: str) -> None:
    budget = Budget(
        SHORT, {"num_samples": 7, "burn_in": 2, "thinning": 3}, replace(SHORT, num_epochs=9)
    )
    engine = ENGINES[name].for_budget(budget)
    assert isinstance(engine, ENGINES[name])
    if isinstance(engine, ChainSampler):
        assert (engine.num_samples, engine.burn_in, engine.thinning) == (7, 2, 3)
    elif name in ("ensemble", "mc_dropout", "laplace"):
        assert engine.training == SHORT
    elif name == "bbb":
        assert engine.training == budget.elbo


def test_starts_are_as_many_as_the_chains_that_use_them(name: str) -> None:
    chains, _ = SMALL_ENGINES[name][1]
    # Members of an ensemble start from fresh initialisations.
    assert small_engine(name).num_starts == (0 if name == "ensemble" else chains)


def test_a_compared_learning_rate_is_used_by_engines_that_minimise(name: str) -> None:
    engine = small_engine(name)
    other = engine.with_learning_rate(0.123)
    if isinstance(engine, PointEngine):
        assert other == replace(engine, training=replace(SHORT, learning_rate=0.123))
    else:
        assert other == engine


def test_capabilities(name: str) -> None:
    engine = ENGINES[name]
    assert issubclass(engine, Engine)
    assert engine.needs_likelihood == (name not in ("map", "ensemble", "mc_dropout"))
    assert engine.needs_dropout == (name == "mc_dropout")
    assert engine.mean_field == (name == "bbb")
