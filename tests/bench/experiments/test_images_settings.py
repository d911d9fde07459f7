"""Settings of methods on images."""

from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tests.datasets.images.test_raw_sources import write_appa_real
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
from vebnn.datasets import uci
from vebnn.datasets.images import Images, load_images
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


@pytest.fixture
def faces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Images:
    monkeypatch.setattr(uci, "cache_folder", lambda: tmp_path / "cache")
    write_appa_real(tmp_path)
    return load_images("appa-real", tmp_path).train


def test_the_papers_network_takes_a_step_on_images_of_appa_real(faces: Images) -> None:
    network = arguments(METHODS["MVE (NLL)"], "paper")["network"]
    built = network.build(faces.x.shape[1:], 2, key=jax.random.key(0))
    x, y = faces.x[-2:] / np.float32(255), jnp.array([0.0, 1.0])

    def loss(one: Any) -> jax.Array:
        mean, log_variance = jax.vmap(one)(x).T
        return jnp.mean(log_variance + (y - mean) ** 2 / jnp.exp(log_variance))

    # To compile well would take longer than two steps.
    step = jax.jit(jax.value_and_grad(loss), compiler_options={"xla_backend_optimization_level": 0})
    before, gradient = step(built)
    length = sum(jnp.sum(slope**2) for slope in jax.tree.leaves(gradient))
    after, _ = step(jax.tree.map(lambda weight, slope: weight - 0.01 / length * slope, built, gradient))
    # To first order, the loss falls by 0.01.
    assert float(before - after) == pytest.approx(0.01, rel=0.2)


@pytest.mark.slow
def test_the_papers_network_is_fitted_to_images_of_appa_real(faces: Images) -> None:
    method = METHODS["MVE (NLL)"]
    settings = arguments(method, "paper") | {"training": Training(2, batch_size=2)}
    model = method.make(**settings, random_state=0)
    model.fit(faces.x[:4], faces.y[:4], X_val=faces.x[4:6], y_val=faces.y[4:6])
    assert np.isfinite(model.predict(faces.x[:2])).all()
