"""Settings of methods on images."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from vebnn import PSGLD, Ensemble, MCDropout, Training
from vebnn.bench.experiments.images_settings import (
    GROUPS,
    IMAGE_PRESETS,
    SMALL,
    arguments,
    image_methods,
    settings_of,
    sizes_of,
)
from vebnn.bench.methods import METHODS
from vebnn.networks import ResNet

EVERY = sorted({name for names in GROUPS.values() for name in names})


@pytest.mark.parametrize("preset", IMAGE_PRESETS)
@pytest.mark.parametrize("name", EVERY)
def test_settings_are_arguments_of_the_estimators(name: str, preset: str) -> None:
    method = METHODS[name]
    strategy = method.make(**arguments(method, preset))._strategy(100)
    assert isinstance(strategy.network, ResNet)
    assert (strategy.network.dropout_rate > 0) == ("Dropout" in name)
    assert strategy.network.depth == (34 if preset == "paper" else SMALL.network.depth)


def test_the_papers_lengths() -> None:
    training = Training(75, learning_rate=1e-3, batch_size=32)
    found = arguments(METHODS["VeBNN (pSGLD)"], "paper")
    assert found["inference"] == PSGLD(num_samples=10, burn_in=20, thinning=2, batch_size=32)
    assert found["mean_training"] == training
    assert found["variance_training"].num_epochs == 20
    assert found["variance_network"] == ResNet(34, head=())
    ensemble = arguments(METHODS["MVE (β-NLL=0.5 / Ensembles)"], "paper")
    assert ensemble["inference"] == Ensemble(5, training)
    dropout = arguments(METHODS["VeBNN (MC-Dropout)"], "paper")
    assert isinstance(dropout["inference"], MCDropout)
    assert dropout["network"] == ResNet(34, dropout_rate=0.1)
    assert arguments(METHODS["Evidential"], "paper")["network"] == ResNet(34, head=())


def test_small_settings_are_in_one_place() -> None:
    found = arguments(METHODS["VeBNN (Ensembles)"], "small")
    assert found["inference"] == Ensemble(SMALL.num_members, SMALL.training)
    assert found["num_folds"] == SMALL.cooperative["num_folds"]
    assert sizes_of("small") == SMALL.sizes
    assert sizes_of("paper").num_train is None
    # Rows of other lengths are computed again.
    assert str(SMALL.training) in settings_of("small").values()
    # A set with a gap keeps about half of the generated images.
    assert SMALL.cells.train >= 2 * SMALL.sizes.num_train


def test_groups_of_methods() -> None:
    assert len(image_methods(["paper"])) == 7
    assert image_methods(["mve (natural)", "MVE (Natural)"]) == ["MVE (Natural)"]
    assert set(image_methods(["paper", "loss"])) - set(image_methods(["paper"])) == {
        "MVE (Ensembles)",
        "MVE (NLL)",
    }


def test_the_papers_network_takes_steps_on_images_of_its_size() -> None:
    network = arguments(METHODS["MVE (NLL)"], "paper")["network"]
    built = network.build((64, 64, 3), 2, key=jax.random.key(0))
    x = np.random.default_rng(0).integers(0, 256, (2, 64, 64, 3)).astype(np.float32) / 255
    y = jnp.array([0.0, 1.0])

    def loss(one: object) -> jax.Array:
        mean, log_variance = jax.vmap(one)(x).T
        return jnp.mean(log_variance + (y - mean) ** 2 / jnp.exp(log_variance))

    step = jax.jit(jax.value_and_grad(loss))
    before, gradient = step(built)
    after, _ = step(jax.tree.map(lambda weight, slope: weight - 1e-4 * slope, built, gradient))
    assert after < before
