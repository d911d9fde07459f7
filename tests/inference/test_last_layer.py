import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from vebnn import JointRegressor, VeBNNRegressor
from vebnn.core.types import NoisyDataset
from vebnn.inference import NUTS, PSGLD, Ensemble, LastLayer, Problem
from vebnn.inference.evaluation import evaluate_draws, pool_chains
from vebnn.likelihoods.log_likelihoods import GaussianNoiseGiven, IsotropicPrior
from vebnn.networks import MLP, ResNet, build_networks
from vebnn.training import SILENT, Objective, Training


class Halves(eqx.Module):
    """Features that are given, and a linear head without a bias."""

    scale: jax.Array
    head: eqx.nn.Linear

    def __init__(self):
        self.scale = jnp.ones(())
        self.head = eqx.nn.Linear(2, 1, use_bias=False, key=jax.random.key(1))

    def features(self, x):
        return self.scale * jnp.stack([x[0], x[0] ** 2])

    def __call__(self, x):
        return self.head(self.features(x))


@pytest.fixture(scope="module")
def problem():
    rng = np.random.default_rng(0)
    x = rng.uniform(-1, 1, (40, 1)).astype(np.float32)
    noise = np.full((40, 1), 0.25, np.float32)
    target = (x - 0.5 * x**2 + 0.5 * rng.standard_normal((40, 1))).astype(np.float32)

    def initialise(keys):
        return build_networks(Halves(), (1,), 1, keys)

    starts = initialise(jax.random.split(jax.random.key(0), 1))
    objective = Objective(GaussianNoiseGiven(), IsotropicPrior(np.float32(1)))
    data = NoisyDataset(x, target, np.ones_like(target), noise)
    return Problem(objective, data, initialise, starts, np.arange(5))


def test_draws_of_the_head_are_those_of_bayesian_linear_regression(problem):
    found = LastLayer(NUTS(num_samples=2_000, num_chains=2)).run(jax.random.key(3), problem, SILENT)
    x, target, _, noise = problem.data
    features = np.column_stack([x, x**2]).astype(float)
    scale = float(problem.starts.weights.module.scale[0])
    precision = scale**2 * features.T @ features / noise[0, 0] + np.eye(2)
    mean = np.linalg.solve(precision, scale * features.T @ target[:, 0] / noise[0, 0])
    covariance = np.linalg.inv(precision)
    weights = np.asarray(found.draws.head.weights.weight).reshape(-1, 2)
    np.testing.assert_allclose(weights.mean(0), mean, atol=5 * np.sqrt(covariance.max() / 500))
    np.testing.assert_allclose(np.cov(weights.T), covariance, rtol=0.25, atol=0.01)
    outputs = evaluate_draws(pool_chains(found.draws), x)[..., 0]
    np.testing.assert_allclose(outputs, scale * weights @ features.T, rtol=1e-4, atol=1e-5)


def test_the_layers_below_are_those_of_the_warm_start(problem):
    short = Ensemble(3, Training(num_epochs=2))
    found = LastLayer(short).run(jax.random.key(0), problem, SILENT)
    below = found.draws.below.value
    assert below.weights.module.scale == problem.starts.weights.module.scale[0]
    assert found.draws.head.weights.weight.shape[:2] == (3, 1)


def test_a_network_without_a_head_is_refused(problem):
    plain = build_networks(MLP((3,)), (1,), 1, jax.random.split(jax.random.key(0), 1))
    with pytest.raises(ValueError, match=r"parts `features` and `head`, such as ResNet\(18\)"):
        LastLayer(PSGLD()).check(jax.tree.map(lambda leaf: leaf[0], plain), problem.data.x)
    with pytest.raises(ValueError, match='must be "cross_fit" or "in_sample"'):
        VeBNNRegressor(last_layer=True, residuals="posterior")._strategy(10)


@pytest.mark.parametrize("strategy", [VeBNNRegressor, JointRegressor])
def test_an_estimator_with_a_residual_network_is_saved_and_loaded(strategy, tmp_path):
    rng = np.random.default_rng(0)
    images = rng.integers(0, 255, (24, 8, 8, 1)).astype(np.uint8)
    target = images.mean((1, 2, 3)) / 20
    training = Training(num_epochs=2, batch_size=8)
    name = "mean_training" if strategy is VeBNNRegressor else "training"
    settings = {name: training}
    if strategy is VeBNNRegressor:
        settings |= {"variance_training": training, "residuals": "in_sample"}
    model = strategy(
        ResNet(4, 4, head=(6,)),
        inference=PSGLD(num_samples=4, burn_in=2, thinning=1),
        last_layer=True,
        random_state=0,
        **settings,
    ).fit(images, target)
    found = model.predict_distribution(images[:5])
    assert (found.epistemic_std > 0).all()
    model.save(tmp_path / "model")
    again = strategy.load(tmp_path / "model").predict_distribution(images[:5])
    np.testing.assert_array_equal(again.mean, found.mean)
    np.testing.assert_array_equal(again.epistemic_std, found.epistemic_std)
