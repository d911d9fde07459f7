import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tests.support.settings import quick
from vebnn import MLP, MCDropout, Training, VeBNNRegressor
from vebnn.inference import Problem
from vebnn.inference.evaluation import Shared, evaluate, evaluate_draws, moments, pool_chains
from vebnn.inference.mc_dropout import OneMask, _masks
from vebnn.likelihoods.log_likelihoods import GaussianNoiseGiven, IsotropicPrior
from vebnn.networks import build_networks
from vebnn.strategies.cooperative.mean import MeanStep
from vebnn.training import SILENT, Objective

SENTENCE = r"MC dropout needs a network with dropout, e\.g\. MLP\(\(50, 50\), dropout_rate=0\.1\)"
QUICK = Training(num_epochs=20, learning_rate=1e-2, batch_size=16, patience=5)


def problem_of(recipe, linear) -> Problem:
    starts = build_networks(recipe, (2,), 1, jax.random.split(jax.random.key(3), 2))
    return Problem(
        objective=Objective(GaussianNoiseGiven(), IsotropicPrior(np.float32(1))),
        data=linear.data,
        initialise=lambda keys: build_networks(recipe, (2,), 1, keys),
        starts=starts,
        validation_rows=np.arange(0, 61, 5),
    )


@pytest.fixture(scope="module")
def posterior(linear):
    problem = problem_of(MLP((12, 12), "tanh", dropout_rate=0.3), linear)
    return MCDropout(num_samples=30, training=QUICK).run(jax.random.key(0), problem, SILENT)


def test_a_draw_is_a_function(posterior, linear) -> None:
    draws = pool_chains(posterior.draws)
    network = OneMask(draws.network.value, draws.key_data[4])
    x = linear.data.x
    # Asked twice, alone or among other rows, it gives the same answer.
    alone = np.stack([network(row) for row in x])
    np.testing.assert_array_equal(alone, np.stack([network(row) for row in x]))
    np.testing.assert_allclose(evaluate_draws(draws, x)[4], alone, rtol=1e-4)
    np.testing.assert_allclose(evaluate(network, x), alone, rtol=1e-4)


def test_the_same_units_are_missing_at_every_input() -> None:
    # One hidden layer of ones: an output counts the units that are left, whatever the input.
    networks = build_networks(
        MLP((50,), "softplus", dropout_rate=0.4), (1,), 1, jax.random.split(jax.random.key(0), 1)
    )
    first = jax.tree.map(lambda leaf: leaf[0], networks)
    counting = eqx.tree_at(
        lambda one: (one.weights.weights, one.weights.biases),
        first,
        ([np.zeros((50, 1)), np.ones((1, 50))], [np.zeros(50), np.zeros(1)]),
    )
    draws = _masks(counting, jax.random.split(jax.random.key(1), 20))
    outputs = evaluate_draws(draws, np.linspace(-3, 3, 9, dtype=np.float32)[:, None])[..., 0]
    np.testing.assert_allclose(outputs, np.repeat(outputs[:, :1], 9, axis=1), rtol=1e-5)
    assert len(np.unique(outputs[:, 0])) > 3


def test_masks_have_the_moments_of_bernoulli_variables() -> None:
    """With f(x) = Σ w_j h_j(x) z_j/(1−p) + b the mean is f without dropout, and the variance

    p/(1−p) Σ (w_j h_j(x))².
    """
    rate, num_masks = 0.25, 20_000
    networks = build_networks(
        MLP((10,), "tanh", dropout_rate=rate), (2,), 1, jax.random.split(jax.random.key(0), 1)
    )
    first = jax.tree.map(lambda leaf: leaf[0], networks)
    draws = _masks(first, jax.random.split(jax.random.key(1), num_masks))
    x = np.random.default_rng(0).standard_normal((5, 2)).astype(np.float32)
    mean, variance = moments(draws, x)
    weights, biases = (
        [np.asarray(leaf) for leaf in part] for part in (first.weights.weights, first.weights.biases)
    )
    hidden = np.tanh(x @ weights[0].T + biases[0])
    parts = hidden * weights[1]
    expected_mean = parts.sum(1, keepdims=True) + biases[1]
    expected = rate / (1 - rate) * (parts**2).sum(1, keepdims=True)
    error = np.sqrt(expected / num_masks)
    assert (np.abs(mean - expected_mean) < 4 * error).all()
    # The kurtosis of a Bernoulli sum is at most that of one of its parts: 1/(p(1−p)) − 3 above 3.
    spread = np.sqrt((1 / (rate * (1 - rate)) - 1) / num_masks)
    assert (np.abs(variance / expected - 1) < 4 * spread).all()


def test_different_draws_differ_and_only_in_their_masks(posterior, linear) -> None:
    assert posterior.draws.key_data.shape == (1, 30, 2)
    # All masks share the weights of one network.
    assert isinstance(posterior.draws.network, Shared)
    assert posterior.draws.network.value.weights.weights[0].shape == (12, 2)
    outputs = evaluate_draws(pool_chains(posterior.draws), linear.data.x)
    assert len(np.unique(outputs[..., 0], axis=0)) == 30
    assert not posterior.markov
    assert 1 <= posterior.info["best_epoch"][0] <= 20


@pytest.mark.parametrize("network", [MLP((8,)), MLP((8, 8), dropout_rate=(0.0, 0.0)), MLP(())])
def test_without_dropout_there_is_one_sentence_before_training(network, monkeypatch) -> None:
    X = np.linspace(-1, 1, 20)[:, None]
    trained = []
    monkeypatch.setattr(MeanStep, "train", lambda *_, **__: trained.append(1))
    with pytest.raises(ValueError, match=SENTENCE):
        quick(network=network, inference="mc_dropout").fit(X, X[:, 0])
    assert not trained


def test_the_engine_itself_says_so_too(linear, key) -> None:
    with pytest.raises(ValueError, match=SENTENCE):
        MCDropout().run(key, problem_of(MLP((8,)), linear), SILENT)


def test_default_network_has_the_dropout_of_the_paper() -> None:
    for inference in ("mc_dropout", MCDropout()):
        settings = VeBNNRegressor(inference=inference)._strategy(100)
        assert settings.network.dropout_rate == 0.1
    assert VeBNNRegressor()._strategy(100).network.dropout_rate == 0
    mine = MLP((3,), dropout_rate=0.5)
    assert VeBNNRegressor(mine, inference="mc_dropout")._strategy(100).network is mine


def test_networks_of_ones_own_work(linear) -> None:
    class Own(eqx.Module):
        layers: list
        dropout: eqx.nn.Dropout

        def __call__(self, x, *, key=None):
            h = jnp.tanh(self.layers[0](x))
            return self.layers[1](self.dropout(h, key=key, inference=key is None))

    keys = jax.random.split(jax.random.key(0), 2)
    layers = [eqx.nn.Linear(2, 9, key=keys[0]), eqx.nn.Linear(9, 1, key=keys[1])]
    problem = problem_of(Own(layers, eqx.nn.Dropout(0.5)), linear)
    first = jax.tree.map(lambda leaf: leaf[0], problem.starts)
    MCDropout().check(first, linear.data.x)
    draws = _masks(first, jax.random.split(jax.random.key(1), 5))
    outputs = evaluate_draws(draws, linear.data.x)
    assert len(np.unique(outputs[..., 0], axis=0)) == 5


def test_wrong_settings_get_a_sentence() -> None:
    with pytest.raises(ValueError, match="`num_samples` must be a whole number of at least 1"):
        MCDropout(num_samples=0)
