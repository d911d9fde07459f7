"""Images: bytes stay bytes, lengths follow the cost, predictions do not depend on how images lie."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from vebnn import JointRegressor, VeBNNRegressor
from vebnn.estimators import images as lengths_module
from vebnn.estimators.images import ImageLengths
from vebnn.inference import PSGHMC, PSGLD, Ensemble
from vebnn.networks import MLP, ResNet
from vebnn.networks.cost import forward_operations
from vebnn.training import Training

SMALL = ResNet(4, 4, head=(6,))


class Brightness(eqx.Module):
    """A linear function of the mean pixel: the cheapest network for images."""

    weight: jax.Array
    bias: jax.Array

    def __init__(self):
        self.weight, self.bias = jnp.array([0.1]), jnp.zeros(1)

    def __call__(self, x):
        return self.weight * jnp.mean(x) + self.bias


@pytest.fixture(scope="module")
def discs():
    rng = np.random.default_rng(0)
    level = rng.uniform(0, 200, 60)
    images = level[:, None, None, None] + rng.uniform(0, 50, (60, 8, 8, 1))
    return images.astype(np.uint8), images.mean((1, 2, 3)) + rng.standard_normal(60)


def brief(network=None, **settings):
    training = Training(num_epochs=60, learning_rate=2e-2, batch_size=16)
    return VeBNNRegressor(
        network or Brightness(),
        variance_network=MLP((2,)),
        inference=PSGLD(num_samples=5, burn_in=5, thinning=1, batch_size=16),
        mean_training=training,
        variance_training=training,
        random_state=0,
        **settings,
    )


def test_bytes_stay_bytes_and_predict_in_the_units_of_y(discs):
    images, target = discs
    model = brief().fit(images[:40], target[:40])
    assert model.fitted_.probe_x.dtype == np.uint8
    found = model.predict_distribution(images[40:])
    assert np.corrcoef(found.mean, target[40:])[0, 1] > 0.99
    assert np.abs(found.mean - target[40:]).mean() < 8


def test_memory_mapped_images_give_the_same_model(discs, tmp_path):
    images, target = discs
    np.save(tmp_path / "images.npy", images)
    mapped = np.load(tmp_path / "images.npy", mmap_mode="r")
    here, there = (brief().fit(x, target).predict(x) for x in (images, mapped))
    np.testing.assert_array_equal(here, there)


def test_bytes_and_floats_of_the_same_units_agree(discs):
    images, target = discs
    model = brief().fit(images, target)
    one = jax.tree.map(lambda leaf: leaf[0, 0], model.fitted_.posterior.draws)
    floats = (images[0].astype(np.float32) - 127.5) / 63.75
    np.testing.assert_allclose(one(images[0]), one(floats), rtol=1e-6)


def test_wide_images_by_pieces_and_blocks_agree_with_one_at_a_time(discs):
    images, target = (np.tile(part, (12,) + (1,) * (part.ndim - 1)) for part in discs)
    images = np.kron(images, np.ones((1, 8, 8, 1), np.uint8))  # 64 × 64
    model = JointRegressor(Brightness(), loss="mse", training=Training(2), random_state=0)
    model.fit(images[:100], target[:100])
    whole = model.predict(images)
    alone = np.concatenate([model.predict(images[n : n + 1]) for n in (0, 300, 719)])
    np.testing.assert_allclose(whole[[0, 300, 719]], alone, rtol=1e-5)


def test_identical_images_are_one_group(discs):
    images, _ = discs
    model = brief()
    rows = model._prepare(np.repeat(images, 2, 0), np.arange(120.0), *[None] * 6)
    np.testing.assert_array_equal(rows.groups, np.repeat(np.arange(60), 2))
    assert rows.data.x.dtype == np.uint8


def test_operations_of_a_network_by_hand():
    by_hand = 2 * (12 * 5 + 5 * 1)  # products and sums
    found = forward_operations(MLP((5,), "relu"), (12,), 1)
    assert by_hand <= found <= by_hand + 4 * 6  # biases and activations
    # Twice the width, four times the products of all but the first convolution.
    narrow, wide = (forward_operations(ResNet(8, width), (32, 32, 1), 1) for width in (16, 32))
    assert 3 < wide / narrow < 4.2


def test_lengths_follow_the_cost(monkeypatch):
    monkeypatch.setattr(lengths_module, "forward_operations", lambda *_: 1e7)
    epochs = [ImageLengths.of(SMALL, (8, 8, 1), rows).mean_training.num_epochs
              for rows in (10, 8_000, 10**6)]  # fmt: skip
    assert epochs == [100, 50, 20]  # 4e12 operations, between the fewest and the most epochs
    lengths = ImageLengths.of_epochs(80)
    assert lengths.engine(PSGHMC).burn_in == 20
    assert lengths.engine(Ensemble).training == lengths.mean_training
    assert lengths.training("variance_training").num_epochs == 20


def test_defaults_for_images_are_affordable(discs):
    model = VeBNNRegressor(SMALL)
    model.in_shape_ = (8, 8, 1)
    strategy = model._strategy(100)
    assert (strategy.residuals, strategy.rounds, strategy.num_folds) == ("cross_fit", 1, 3)
    assert strategy.most_continuations == 0
    assert strategy.mean_training.num_epochs <= 100
    assert strategy.variance_network == ResNet(4, 4, head=())
    assert VeBNNRegressor()._strategy(100).num_folds == 5
