import json
import os
from dataclasses import dataclass

import equinox as eqx
import jax
import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from tests.support.settings import quick
from vebnn import MAP, JointRegressor, Training, VeBNNRegressor
from vebnn.serialization.folders import MODEL

pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.usefixtures("quick_compilation"),
]


@pytest.fixture(scope="module")
def X():
    return np.random.default_rng(0).uniform(-2, 2, (60, 3))


@pytest.fixture(scope="module")
def model(X):
    return quick().fit(X, np.stack([X.sum(1), X[:, 0]], 1))


@pytest.fixture
def folder(model, tmp_path):
    model.save(tmp_path / "model")
    return tmp_path / "model"


def test_a_loaded_model_predicts_the_same_bits(model, X, folder):
    loaded = VeBNNRegressor.load(folder)
    here, there = model.predict_distribution(X), loaded.predict_distribution(X)
    for name in ("mean", "aleatoric_variance", "epistemic_variance", "draws"):
        np.testing.assert_array_equal(getattr(here, name), getattr(there, name))
    assert loaded.get_params() == model.get_params()
    assert loaded.rounds_ == model.rounds_
    assert loaded.diagnostics_.typical_r_hat == model.diagnostics_.typical_r_hat


def test_a_network_of_ones_own_is_passed_again(X, tmp_path):
    own = eqx.nn.MLP(3, 1, 8, 1, key=jax.random.key(0))
    model = quick(network=own).fit(X, X[:, 0])
    model.save(tmp_path / "model")
    with pytest.raises(ValueError, match=r"Pass it again: load\(folder, network=...\)"):
        VeBNNRegressor.load(tmp_path / "model")
    loaded = VeBNNRegressor.load(tmp_path / "model", network=own)
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))


def test_another_network_than_the_saved_one_is_refused(X, tmp_path):
    own = eqx.nn.MLP(3, 1, 8, 1, key=jax.random.key(0))
    quick(network=own).fit(X, X[:, 0]).save(tmp_path / "model")
    deeper = eqx.nn.MLP(3, 1, 8, 2, key=jax.random.key(0))
    with pytest.raises(ValueError, match="arrays where the saved model has"):
        VeBNNRegressor.load(tmp_path / "model", network=deeper)
    bent = eqx.nn.MLP(3, 1, 8, 1, activation=jax.numpy.tanh, key=jax.random.key(0))
    with pytest.raises(ValueError, match="does not give the saved outputs"):
        VeBNNRegressor.load(tmp_path / "model", network=bent)


def test_the_wrong_class_says_which_is_right(folder):
    with pytest.raises(ValueError, match=r"is a VeBNNRegressor, not a JointRegressor. Use VeBNN"):
        JointRegressor.load(folder)


@dataclass(frozen=True)
class Stubborn(MAP):
    """An engine of the user's own."""


def test_an_engine_of_ones_own_is_passed_again(X, tmp_path):
    model = quick(inference=Stubborn(Training(20)), random_state=np.random.RandomState(0)).fit(
        X, X[:, 0]
    )
    model.save(tmp_path / "model")
    with pytest.raises(ValueError, match="inference="):
        VeBNNRegressor.load(tmp_path / "model")
    loaded = VeBNNRegressor.load(tmp_path / "model", inference=Stubborn(Training(20)))
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    assert loaded.random_state is None


@pytest.mark.parametrize("failure", [OSError, KeyboardInterrupt])
def test_a_failed_swap_brings_the_old_model_back(model, folder, failure, monkeypatch):
    replace, calls = os.replace, []

    def fails_once(source, target):
        calls.append(source)
        if len(calls) == 3:  # after the two files' own renames come the old folder's and the new one's
            raise failure("denied")
        replace(source, target)

    before = (folder / "model.json").read_bytes()
    monkeypatch.setattr("vebnn.serialization.files.exchange", lambda first, second: False)
    monkeypatch.setattr("vebnn.serialization.files.os.replace", fails_once)
    with pytest.raises(failure, match="denied"):
        model.save(folder)
    assert (folder / "model.json").read_bytes() == before


def test_saving_again_replaces_the_model_and_leaves_nothing_else(model, X, folder):
    model.save(folder)
    assert sorted(path.name for path in folder.parent.iterdir()) == ["model"]
    assert sorted(path.name for path in folder.iterdir()) == ["model.json", "weights.safetensors"]


@pytest.mark.parametrize("beside", [[], ["model.json"], ["model.json", "weights.safetensors"]])
def test_other_files_are_not_overwritten(model, tmp_path, beside):
    (tmp_path / "thesis.tex").write_text("months of work")
    for name in beside:
        (tmp_path / name).write_text("{}")
    with pytest.raises(FileExistsError, match="holds other files"):
        model.save(tmp_path)
    assert (tmp_path / "thesis.tex").read_text() == "months of work"


@pytest.mark.parametrize("name", ["model.json", "weights.safetensors"])
def test_a_truncated_file_is_refused(folder, name):
    path = folder / name
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(ValueError, match="truncated"):
        VeBNNRegressor.load(folder)


def test_an_edited_weight_is_refused(folder):
    arrays = load_file(folder / "weights.safetensors")
    first = min(name for name in arrays if name.startswith("draws/"))
    arrays[first] = arrays[first] + 1
    save_file(arrays, folder / "weights.safetensors")
    with pytest.raises(ValueError, match="edited"):
        VeBNNRegressor.load(folder)


def test_an_edited_description_is_refused(folder):
    path = folder / "model.json"
    description = json.loads(path.read_text())
    description["model"]["facts"]["n_features_in_"] = 4
    path.write_text(json.dumps(description))
    with pytest.raises(ValueError, match="edited"):
        VeBNNRegressor.load(folder)


def test_another_format_says_so(folder):
    path = folder / "model.json"
    path.write_text(path.read_text().replace(f'"format": {MODEL.version}', '"format": 99'))
    with pytest.raises(ValueError, match="has format 99"):
        VeBNNRegressor.load(folder)


def test_a_folder_without_a_model_says_so(tmp_path):
    with pytest.raises(ValueError, match="no saved model"):
        VeBNNRegressor.load(tmp_path)


def test_an_interrupted_save_leaves_the_old_model(model, X, folder, monkeypatch):
    before = (folder / "weights.safetensors").read_bytes()

    def full_disk(*_):
        raise OSError("No space left on device")

    monkeypatch.setattr("vebnn.serialization.folders.write_bytes", full_disk)
    with pytest.raises(OSError, match="No space"):
        model.save(folder)
    assert (folder / "weights.safetensors").read_bytes() == before
    assert [path.name for path in folder.parent.iterdir()] == ["model"]


def test_a_model_with_checkpoints_and_a_random_generator_loads(tmp_path) -> None:
    # The generator is not saved, and loading needs none.
    X = np.linspace(-1, 1, 20)[:, None]
    generator = np.random.RandomState(0)
    model = quick(random_state=generator, checkpoint=tmp_path / "checkpoint").fit(X, X[:, 0])
    model.save(tmp_path / "model")
    loaded = type(model).load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))


def test_a_small_file_does_not_ask_for_much_memory(folder):
    body = json.loads((folder / "model.json").read_bytes())["model"]
    (folder / "model.json").write_bytes(MODEL.seal(body | {"in_shape": [5_000_000]}))
    with pytest.raises(ValueError, match=r"inputs of shape \(5000000,\), but its arrays have \(3,\)"):
        VeBNNRegressor.load(folder)


@pytest.mark.parametrize(
    "change",
    [
        {"in_shape": None},
        {"facts": []},
        {"parameters": {"network": {}}},
        {"story": 3},
        {"feature_names": [[]]},
        {"feature_names": 3},
        {"gaps": None},
        {"gaps": {"medians": [0, 0], "marked": []}},
        {"gaps": {"medians": [0, 0, "x"], "marked": []}},
        {"gaps": {"medians": [0, 0, 0], "marked": [3]}},
    ],
)
def test_a_description_that_makes_no_sense_is_refused(folder, change):
    body = json.loads((folder / "model.json").read_bytes())["model"]
    (folder / "model.json").write_bytes(MODEL.seal(body | change))
    with pytest.raises(ValueError, match=r"does not make sense .* edited, or made by another version"):
        VeBNNRegressor.load(folder)
