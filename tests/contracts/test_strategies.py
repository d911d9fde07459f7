"""The contract of strategies, with every engine, through the estimators."""

from functools import cache

import jax
import numpy as np
import pytest

from tests.support.draws import split_leaves
from tests.support.settings import SMALL_ENGINES, small_model
from vebnn.inference import ENGINES

pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.usefixtures("quick_compilation"),
]
STRATEGIES = ("joint", "cooperative", "mixture")
PARTS = ("mean", "aleatoric_variance", "epistemic_variance", "draws")


@pytest.fixture(params=STRATEGIES)
def strategy(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture(params=sorted(ENGINES))
def engine(request: pytest.FixtureRequest) -> str:
    return request.param


def some_data(num_outputs: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((40, 2))
    y = 7 + 3 * np.sin(X @ rng.standard_normal((2, num_outputs)))
    y += 0.3 * rng.standard_normal((40, num_outputs))
    return X, y[:, 0] if num_outputs == 1 else y


@cache
def fitted(strategy: str, engine: str, num_outputs: int, random_state: int = 0, again: bool = False):
    return small_model(strategy, engine, random_state).fit(*some_data(num_outputs))


# Three outputs for every pair; one output for every engine, with the strategies in turn: compiling
# takes long, and tests/contracts/test_engines.py has every engine with one output as well.
EVERY = [(strategy, engine, 3) for strategy in STRATEGIES for engine in sorted(ENGINES)]
IN_TURN = [(STRATEGIES[turn % 3], engine, 1) for turn, engine in enumerate(sorted(ENGINES))]


@pytest.mark.parametrize(("strategy", "engine", "num_outputs"), EVERY + IN_TURN)
def test_predictions_are_like_the_targets(strategy: str, engine: str, num_outputs: int) -> None:
    X, y = some_data(num_outputs)
    prediction = fitted(strategy, engine, num_outputs).predict_distribution(X[:9])
    for part in ("mean", "std", "aleatoric_std", "epistemic_std"):
        values = getattr(prediction, part)
        assert values.shape == y[:9].shape
        assert np.isfinite(values).all()
    assert (prediction.aleatoric_std > 0).all()
    np.testing.assert_allclose(
        prediction.std**2, prediction.aleatoric_std**2 + prediction.epistemic_std**2, rtol=1e-12
    )
    assert (prediction.epistemic_std == 0).all() == (np.prod(SMALL_ENGINES[engine][1]) == 1)


def test_members_and_chains_are_one_fleet(strategy: str, engine: str) -> None:
    model = fitted(strategy, engine, 3)
    chains, draws = SMALL_ENGINES[engine][1]
    posterior = model.fitted_.posterior
    own, shared = split_leaves(posterior.draws)
    for leaf in own:
        assert leaf.shape[:2] == (chains, draws)
    assert bool(shared) == (engine in ("mc_dropout", "laplace"))
    assert all(np.isfinite(leaf).all() for leaf in own + shared)
    assert posterior.trace.shape[0] == chains
    assert model.fitted_.probe.shape[:2] == (chains, draws)
    outputs = model.predict_distribution(some_data(3)[0]).draws
    assert outputs.shape == (chains * draws, 40, 3)


def test_the_random_state_decides(strategy: str, engine: str) -> None:
    X, _ = some_data(3)
    models = (fitted(strategy, engine, 3, **which) for which in ({}, {"again": True}))
    one, same = (model.predict_distribution(X) for model in models)
    for part in PARTS:
        np.testing.assert_array_equal(getattr(one, part), getattr(same, part))
    other = fitted(strategy, engine, 3, random_state=1).predict_distribution(X)
    assert (other.mean != one.mean).any()
    assert (other.aleatoric_variance != one.aleatoric_variance).any()


def test_a_saved_model_predicts_the_same_bits(strategy: str, engine: str, tmp_path) -> None:
    X, _ = some_data(3)
    model = fitted(strategy, engine, 3)
    model.save(tmp_path / "model")
    loaded = type(model).load(tmp_path / "model")
    assert loaded.get_params() == model.get_params()
    here, there = model.predict_distribution(X), loaded.predict_distribution(X)
    for part in PARTS:
        np.testing.assert_array_equal(getattr(here, part), getattr(there, part))
    info, same = model.fitted_.posterior.info, loaded.fitted_.posterior.info
    assert info.keys() == same.keys()
    for entry in info:
        np.testing.assert_array_equal(info[entry], same[entry])


def test_other_data_of_the_same_shape_compile_nothing(
    strategy: str, engine: str, compiled: list[str]
) -> None:
    # A fit of its own: the programs of an earlier one may have been evicted.
    X, y = some_data(3)
    _ = small_model(strategy, engine).fit(X, y).predict_distribution(X).components
    compiled.clear()
    X, y = some_data(3, seed=1)
    prediction = small_model(strategy, engine).fit(X, y).predict_distribution(X)
    assert np.isfinite(prediction.components.mean).all()
    assert compiled == []


def test_compilations_are_noticed(compiled: list[str]) -> None:
    # Otherwise the test above would pass whatever is compiled.
    jax.jit(lambda x: x + 1)(np.zeros(3)).block_until_ready()
    assert compiled
