from dataclasses import replace

import jax
import numpy as np
import pytest

from tests.support.linear import PLACES
from tests.support.settings import BRIEF, quick, quick_joint
from vebnn import GRU, MLP, Laplace, Training
from vebnn.inference import laplace
from vebnn.inference.evaluation import evaluate, evaluate_draws, moments, pool_chains
from vebnn.networks import build_networks
from vebnn.strategies.cooperative.mean import MeanStep
from vebnn.training import SILENT

LONG = Training(num_epochs=3_000, learning_rate=1e-2, batch_size=100)
SHORT = {"mean_training": BRIEF, "variance_training": BRIEF}
SMALL = Laplace(num_samples=8, training=BRIEF)


def some_rows() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 2))
    return X, np.sin(X[:, 0]) + 0.1 * rng.standard_normal(40)


def one(recipe, in_shape: tuple[int, ...], outputs: int = 1, **steps):
    networks = build_networks(recipe, in_shape, outputs, jax.random.key(1)[None], **steps)
    return jax.tree.map(lambda leaf: leaf[0], networks)


def size_of(network) -> int:
    return sum(leaf.size for leaf in jax.tree.leaves(network))


def outputs_at_places(posterior) -> np.ndarray:
    return evaluate_draws(pool_chains(posterior.draws), PLACES[:, :2].astype(np.float32))[..., 0]


def test_posterior_of_conjugate_linear_regression(linear, key: jax.Array) -> None:
    """A linear network is its own linearisation: only Monte Carlo error is allowed."""
    # Without validation rows, training goes on to the mode.
    engine = Laplace(num_samples=20_000, prior_precision=1.0, training=replace(LONG, patience=None))
    posterior = engine.run(key, linear.problem._replace(validation_rows=np.arange(0)), SILENT)
    outputs = outputs_at_places(posterior).astype(float)
    mean = PLACES @ linear.mean
    std = np.sqrt(np.einsum("ij,jk,ik->i", PLACES, linear.covariance, PLACES))
    # The best epoch is that of the likelihood, which the prior of precision 1 hardly moves.
    assert (np.abs(outputs.mean(0) - mean) < 0.2 * std).all()
    assert (np.abs(outputs.std(0) / std - 1) < 4 / np.sqrt(2 * 20_000)).all()
    assert not posterior.markov


def test_prior_precision_maximises_the_marginal_likelihood(linear, key: jax.Array) -> None:
    best = Laplace(training=LONG).run(key, linear.problem, SILENT).info
    for factor in (0.8, 1.25):
        fixed = Laplace(prior_precision=factor * best["prior_precision"][0], training=LONG)
        info = fixed.run(key, linear.problem, SILENT).info
        assert info["log_marginal_likelihood"][0] < best["log_marginal_likelihood"][0]
    assert 0 < best["effective_parameters"][0] < 3
    assert best["best_epoch"].shape == (1,)


@pytest.mark.parametrize("subset", ["all", "last_layer"])
def test_a_draw_is_linear_in_its_change(subset: str) -> None:
    network = one(MLP((4,), "tanh"), (2,), 2)
    linear = Laplace(subset=subset)._linearised(network)
    x = np.array([[0.3, -2.0], [1.0, 0.5]], np.float32)
    values = linear.values()
    assert values.size == (size_of(network) if subset == "all" else 10)
    np.testing.assert_allclose(evaluate(linear, x), evaluate(network, x), rtol=1e-6)
    change = 0.1 * jax.random.normal(jax.random.key(0), values.shape)
    moved = type(linear)(network, linear.unravel(change), linear.places)
    jacobian = np.stack([jax.jacobian(linear.outputs)(values, row) for row in x])
    np.testing.assert_allclose(
        evaluate(moved, x), evaluate(network, x) + jacobian @ np.asarray(change), rtol=1e-4, atol=1e-5
    )
    if subset == "last_layer":  # the outputs are linear in these parameters anyway
        other = np.stack([linear.outputs(values + change, row) for row in x])
        np.testing.assert_allclose(evaluate(moved, x), other, rtol=1e-4, atol=1e-5)


def test_last_layer_of_a_gru_is_its_linear_one() -> None:
    network = one(GRU((5, 3)), (4, 2), 2, steps=(4,))
    linear = Laplace(subset="last_layer")._linearised(network)
    expected = [network.weights.output_weight.shape, network.weights.output_bias.shape]
    assert [part.shape for part in linear.change] == expected


def test_large_networks_get_their_last_layer_by_default(monkeypatch) -> None:
    network = one(MLP((30,)), (2,))
    assert Laplace()._linearised(network).values().size == size_of(network)
    monkeypatch.setattr(laplace, "FULL", size_of(network) - 1)
    assert Laplace()._linearised(network).values().size == 31


def test_spread_grows_away_from_the_rows() -> None:
    X, y = some_rows()
    model = quick(network=MLP((8,), "tanh"), inference=Laplace(100, training=BRIEF), **SHORT).fit(X, y)
    near, far = model.predict_distribution(np.array([[0.0, 0.0], [6.0, -6.0]])).epistemic_std
    assert 0 < near < far
    posterior = model.fitted_.posterior
    x = X.astype(np.float32)
    spread = np.var(evaluate_draws(pool_chains(posterior.draws), x), axis=0)
    np.testing.assert_allclose(moments(pool_chains(posterior.draws), x).variance, spread, rtol=1e-2)


@pytest.mark.usefixtures("quick_compilation")
def test_sequences_and_a_saved_model(tmp_path) -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((12, 5, 2))
    y = X.cumsum(1)[..., :1]
    recipes = {"network": GRU((4,)), "variance_network": GRU((2,))}
    model = quick(**recipes, **SHORT, inference=replace(SMALL, subset="last_layer")).fit(X, y)
    prediction = model.predict_distribution(X)
    assert prediction.draws.shape == (8, 12, 5, 1)
    model.save(tmp_path / "model")
    loaded = type(model).load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.predict_distribution(X).draws, prediction.draws)


def test_joint_losses_that_are_no_likelihood_are_refused() -> None:
    with pytest.raises(ValueError, match=r"'beta_nll' is no likelihood, so Laplace has no posterior"):
        quick_joint(loss="beta_nll", inference=SMALL).fit(*some_rows())


def test_an_unknown_last_layer_is_refused_before_training(monkeypatch) -> None:
    trained = []
    monkeypatch.setattr(MeanStep, "train", lambda *_, **__: trained.append(1))

    def init(key, x):
        return {"slope": jax.random.normal(key, x.shape)}

    def apply(params, x):
        return (params["slope"] @ x)[None]

    with pytest.raises(ValueError, match="knows the last layer of MLP and GRU networks alone"):
        quick(network=(init, apply), inference=Laplace(subset="last_layer")).fit(*some_rows())
    assert not trained


def test_too_many_parameters_are_refused_before_training(monkeypatch) -> None:
    trained = []
    monkeypatch.setattr(MeanStep, "train", lambda *_, **__: trained.append(1))
    with pytest.raises(ValueError, match=r"at most 10,000 of them\. Got 10,\d+; use a smaller"):
        quick(network=MLP((100, 100)), inference=Laplace(subset="all")).fit(*some_rows())
    assert not trained


def test_wrong_settings_get_a_sentence() -> None:
    with pytest.raises(ValueError, match="`num_samples` must be"):
        Laplace(num_samples=0)
    with pytest.raises(ValueError, match="`subset` must be"):
        Laplace(subset="first")
    with pytest.raises(ValueError, match="`prior_precision` must be"):
        Laplace(prior_precision=0.0)
