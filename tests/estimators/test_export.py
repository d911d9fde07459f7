"""Exported programs predict what the library predicts, without it."""

import subprocess
import sys

import numpy as np
import pytest

from tests.support.settings import quick, quick_joint, quick_mixture, small_model
from vebnn import GRU, ResNet, Training
from vebnn.estimators.export import enable_x64, program_of

pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.usefixtures("quick_compilation"),
]

ALONE = """
import sys
from pathlib import Path

import jax
import numpy as np
from jax import export

jax.config.update("jax_enable_x64", True)
program = export.deserialize(Path(sys.argv[1]).read_bytes())
for name in sys.argv[2:]:
    x = np.load(name)
    np.save(name.replace("x", "y"), np.stack(program.call(x)))
assert not any(name.startswith("vebnn") for name in sys.modules)
"""


def assert_same(found, p) -> None:
    for values, name in zip(found, ("mean", "aleatoric_std", "epistemic_std"), strict=True):
        expected = getattr(p, name)
        assert np.shape(values) == expected.shape
        np.testing.assert_allclose(values, expected, rtol=1e-5, atol=1e-7, err_msg=name)


def called(model, x: np.ndarray) -> list:
    with enable_x64(True):
        return program_of(model).call(x)


def some_rows() -> tuple[np.ndarray, np.ndarray]:
    """Return rows with gaps, and with seconds since 1970, which single precision cannot hold."""
    rng = np.random.default_rng(0)
    X = np.column_stack([1.7e9 + rng.uniform(0, 3_600, 60), rng.normal(size=60)])
    y = 50 + np.sin(X[:, 0] / 1_000) + 0.1 * rng.standard_normal(60)
    X[::7, 1] = np.nan
    return X, y


def test_a_file_predicts_in_a_process_without_the_library(tmp_path) -> None:
    X, y = some_rows()
    model = quick(num_folds=2, rounds=1).fit(X[:50], y[:50]).calibrate(X[50:], y[50:], "separate")
    file = tmp_path / "model.stablehlo"
    model.export(file)
    names = []
    for number in (1, 7, 60):  # one program for all numbers of rows
        names.append(str(tmp_path / f"x{number}.npy"))
        np.save(names[-1], X[:number])
    subprocess.run([sys.executable, "-c", ALONE, file, *names], check=True, cwd=tmp_path, timeout=300)
    for number in (1, 7, 60):
        found = np.load(tmp_path / f"y{number}.npy")
        assert_same(found, model.predict_distribution(X[:number]))


@pytest.mark.slow
def test_every_strategy_and_kind() -> None:
    X, y = some_rows()
    both = np.column_stack([y, np.exp(y / 50)])
    models = [
        quick_joint(target=("real", "positive"), inference="ensemble").fit(X, both),
        quick_joint(loss="evidential").fit(X, y),
        quick_mixture(em_steps=1, rounds=1).fit(X, y),
        small_model("vebnn", "mc_dropout").fit(X, y),
    ]
    for model in models:
        assert_same(called(model, X), model.predict_distribution(X))


@pytest.mark.slow
def test_sequences_and_images() -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(12, 5, 2))
    y = X.cumsum(1)
    X[3, 3:], y[3, 3:] = np.nan, np.nan
    training = Training(num_epochs=3)
    model = quick_joint(network=GRU((4,)), training=training).fit(X, y)
    assert_same(called(model, X), model.predict_distribution(X))
    longer = np.nan_to_num(np.tile(X, (1, 2, 1)))
    assert_same(called(model, longer), model.predict_distribution(longer))
    images = rng.integers(0, 255, (12, 8, 8, 1), dtype=np.uint8)
    model = quick_joint(network=ResNet(10, 4), training=training).fit(images, images.mean((1, 2, 3)))
    assert_same(called(model, images), model.predict_distribution(images))


def test_targets_without_closed_forms_are_refused(tmp_path) -> None:
    X, _ = some_rows()
    model = quick_joint(target="count", training=Training(num_epochs=2)).fit(X, np.arange(60.0))
    with pytest.raises(ValueError, match=r'must be "real" or "positive". Got "count"'):
        model.export(tmp_path / "m.stablehlo")
    assert not list(tmp_path.iterdir())


def test_a_folder_is_refused(tmp_path) -> None:
    X, y = some_rows()
    model = quick_joint(training=Training(num_epochs=2)).fit(X, y)
    with pytest.raises(ValueError, match=r"must be a file\. Got the folder"):
        model.export(tmp_path)
