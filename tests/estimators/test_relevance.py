"""The posterior of each input's scale and effect: known networks, known data, saved models."""

from types import SimpleNamespace

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pandas
import pytest

from tests.support.settings import Stay, quick
from vebnn import MCLMC, MLP, MCDropout, VeBNNRegressor
from vebnn.estimators.relevance import relevance_of
from vebnn.networks import Network, build_networks
from vebnn.networks.network import Structure

pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.usefixtures("quick_compilation"),
]

SCALED = MLP((16,), "tanh", prior="learned", linear=True)
NAMES = ["wave", "slope", "idle", "void", "spare"]


def linear_draws(slopes, log_scales) -> Network:
    """Return one chain of linear networks f(x) = exp(log_scales) · slopes · x, one per row of each."""
    slopes, log_scales = np.atleast_2d(slopes), np.atleast_2d(log_scales)
    num_draws, num_inputs = slopes.shape
    keys = jax.random.split(jax.random.key(0), num_draws)
    draws = build_networks(MLP((), prior="learned"), (num_inputs,), 1, keys)
    draws = jax.tree.map(jnp.zeros_like, draws)
    # The factor 1/√fan_in is a part of learned scales.
    draws.weights.weights[0] = jnp.asarray(slopes[:, None] * np.sqrt(num_inputs), jnp.float32)
    object.__setattr__(draws.weights.scales, "inputs", jnp.asarray(log_scales, jnp.float32))
    return jax.tree.map(lambda leaf: leaf[None], draws)


def fitted_with(draws: Network, x: np.ndarray) -> SimpleNamespace:
    """Return what relevance needs of a fitted strategy."""
    posterior = SimpleNamespace(draws=draws)
    return SimpleNamespace(posterior=posterior, probe=np.zeros((1, 1, len(x), 1)), probe_x=x)


def test_scales_and_effects_of_known_networks(rng):
    x = rng.normal(size=(400, 3)).astype(np.float32)
    slopes = np.array([[1.0, -0.5, 0.0], [2.0, -0.5, 0.0]])
    logs = np.log([[1.0, 2.0, 0.1], [1.0, 4.0, 0.3]])
    found = relevance_of(fitted_with(linear_draws(slopes, logs), x), None)
    assert found.names == ("x0", "x1", "x2")
    np.testing.assert_allclose(found.scale.mean, [1, 3, 0.2], rtol=1e-5)
    np.testing.assert_allclose(found.scale.lower, [1, 2.05, 0.105], rtol=1e-5)
    np.testing.assert_allclose(found.scale.upper, [1, 3.95, 0.295], rtol=1e-5)
    # The std of a_j x_j in each draw, with a_j the product of slope and scale.
    np.testing.assert_allclose(found.effect.mean, [1.5, 1.5, 0], rtol=0.08)
    np.testing.assert_allclose(found.effect.lower, [1.025, 1.025, 0], rtol=0.08)


def test_inputs_of_a_category_are_exchanged_together(rng):
    same = rng.normal(size=(100, 1)).astype(np.float32)
    x = np.hstack([same, rng.normal(size=(100, 1)).astype(np.float32), same])
    found = relevance_of(fitted_with(linear_draws([1, 1, -1], np.log([1, 3, 2])), x), None)
    # f = x0 + 3 x1 − 2 x0: the two columns together have the effect of one with slope −1.
    together = found.combined({"both": [0, 2], "other": [1]})
    assert together.names == ("both", "other")
    np.testing.assert_allclose(together.scale.mean, [2, 3], rtol=1e-5)
    np.testing.assert_allclose(together.effect.mean, x[:, :2].std(0) * [1, 3], rtol=0.1)
    assert together.order.tolist() == [1, 0]


@pytest.fixture(scope="module")
def model(quick_compilation) -> VeBNNRegressor:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 5))
    y = 40 + 10 * np.sin(2 * X[:, 0]) + 8 * X[:, 1] + rng.normal(0, 2, 150)
    engine = MCLMC(num_samples=30, burn_in=500, thinning=10, num_chains=2)
    frame = pandas.DataFrame(X * [1, 1e3, 1, 1e-3, 1], columns=NAMES)
    settings = {"variance_inference": "map", "rounds": 1}
    return quick(network=SCALED, inference=engine, **settings).fit(frame, y)


def test_useful_inputs_come_first(model):
    relevance = model.relevance_
    assert relevance.names == tuple(NAMES)
    assert relevance.scales.shape == (60, 5)
    useful, useless = slice(0, 2), slice(2, 5)
    assert relevance.scale.mean[useful].min() > 1.3 * relevance.scale.mean[useless].max()
    assert relevance.effect.lower[useful].min() > relevance.effect.upper[useless].max()
    # Std of 10 sin(2x) and of 8 x, over that of y.
    np.testing.assert_allclose(relevance.effect.mean[useful], [0.64, 0.72], atol=0.1)
    assert set(relevance.order[:2]) == {0, 1}


def test_frame_has_mean_and_interval_of_both(model):
    frame = model.relevance_.to_frame()
    assert frame.index.tolist() == NAMES
    ends = ("", "_lower", "_upper")
    assert frame.columns.tolist() == [name + end for name in ("scale", "effect") for end in ends]
    assert (frame["scale_lower"] < frame["scale"]).all()
    assert (frame["effect"] < frame["effect_upper"]).all()


def test_a_saved_model_has_the_same_relevance(model, tmp_path):
    model.save(tmp_path / "model")
    loaded = VeBNNRegressor.load(tmp_path / "model")
    pandas.testing.assert_frame_equal(loaded.relevance_.to_frame(), model.relevance_.to_frame())


def test_there_is_none_with_the_unit_prior(sine):
    X, y = sine
    assert quick(network=MLP((4,), prior="unit"), inference=Stay()).fit(X, y).relevance_ is None


def test_dropout_masks_have_no_posterior_of_scales(rng):
    masks = MCDropout().posterior_like(linear_draws([1, 1], [0, 0]))
    assert relevance_of(fitted_with(masks, rng.normal(size=(9, 2))), None) is None


class SumOverTime(eqx.Module):
    """A network for sequences, with a scale per input: weighted inputs, summed up to each time."""

    weight: jax.Array | None

    @property
    def input_scales(self):
        return jnp.exp(self.weight)

    def __call__(self, x, *, key=None):
        return jnp.cumsum(x @ self.weight)[:, None]


def test_sequences_exchange_an_input_at_all_times(rng):
    weights = jnp.broadcast_to(jnp.array([1.0, 0.0]), (1, 2, 2))  # one chain, two draws, two inputs
    x = rng.normal(size=(200, 3, 2)).astype(np.float32)
    fitted = fitted_with(Network(SumOverTime(weights), Structure(SumOverTime(None))), x)
    fitted.probe = np.zeros((1, 2, 200, 3, 1))
    fitted.probe[:, :, :, 2] = np.nan  # padding: the variances are 1 and 2 at the other two times
    found = relevance_of(fitted, ["force", "heat"])
    np.testing.assert_allclose(found.scale.mean, [np.e, 1], rtol=1e-5)
    np.testing.assert_allclose(found.effect.mean, [np.sqrt(1.5), 0], rtol=0.08)
