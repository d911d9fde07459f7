"""Saved models: a folder with ``model.json`` and ``weights.safetensors``, and no code in either.

The JSON file says what the model is and carries checksums of itself and of the weights, so that a
truncated or edited file is found out. Both are written to a temporary folder that is then renamed.
"""

import shutil
from collections.abc import Callable
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import numpy as np

from vebnn import calibration
from vebnn.core.types import Params
from vebnn.estimators.preprocessing import Standardiser
from vebnn.inference import ENGINES, Posterior
from vebnn.inference.problem import posterior_like
from vebnn.networks import GRU, MLP
from vebnn.serialization.files import (
    read_arrays,
    replace_folder,
    temporary_name,
    write_arrays,
    write_bytes,
)
from vebnn.serialization.sealed import digest, seal, unseal
from vebnn.training import Training

FORMAT = 3
_OLDEST_FORMAT = 2  # knew of no calibration
_DESCRIPTION, _WEIGHTS = "model.json", "weights.safetensors"
_KNOWN = {kind.__name__: kind for kind in (GRU, MLP, Training, *ENGINES.values())}
_FACTS = ("one_output_", "target_names_", "n_features_in_")
_UNITS = ("x_units_", "y_units_")


def save(model: Any, folder: str | Path) -> None:
    """Write a fitted estimator to a folder, replacing a saved model that is there.

    Raises:
      FileExistsError: if the folder holds something that is not a saved model.
    """
    folder = Path(folder)
    there = {path.name for path in folder.iterdir()} if folder.exists() else set()
    if not there <= {_DESCRIPTION, _WEIGHTS}:
        raise FileExistsError(f"The folder {folder} holds other files. Choose a new or empty one.")
    fitted = model.fitted_
    arrays = {
        **_named("draws", fitted.posterior.draws),
        **_named("skeleton", eqx.filter(fitted.posterior.skeleton, eqx.is_inexact_array)),
        **{f"info.{name}": np.asarray(value) for name, value in fitted.posterior.info.items()},
        "trace": fitted.posterior.trace,
        "probe": fitted.probe,
        "probe_x": fitted.probe_x,
    }
    for name, piece in (model._pieces() | {name: getattr(model, name) for name in _UNITS}).items():
        arrays |= _named(name, piece)
    folder.parent.mkdir(parents=True, exist_ok=True)
    temporary = temporary_name(folder)
    try:
        write_arrays(temporary / _WEIGHTS, arrays, {})
        body = {
            "estimator": type(model).__name__,
            "parameters": {
                name: _describe(value) for name, value in model.get_params(deep=False).items()
            },
            "facts": {name: getattr(model, name) for name in _FACTS},
            "feature_names": _listed(getattr(model, "feature_names_in_", None)),
            "in_shape": list(model.in_shape_),
            "story": model._story(),
            "calibration": calibration.describe(model.calibration_),
            "markov": fitted.posterior.markov,
            "info": list(fitted.posterior.info),
            "weights": digest((temporary / _WEIGHTS).read_bytes()),
        }
        write_bytes(temporary / _DESCRIPTION, seal("model", body, FORMAT))
        replace_folder(temporary, folder)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def load(estimator: type, folder: str | Path, **your_own: Any) -> Any:
    """Read a saved estimator; it predicts bit for bit as the one that was saved.

    Raises:
      ValueError: if the files are damaged, edited or of another version or estimator, or if the model
        uses a network or engine of the user's own that was not passed again, or not the same one.
    """
    folder = Path(folder)
    body = _read_description(folder)
    if (kind := body["estimator"]) != estimator.__name__:
        raise ValueError(
            f"The model in {folder} is a {kind}, not a {estimator.__name__}. Use {kind}.load(folder)."
        )
    weights = folder / _WEIGHTS
    if not weights.exists() or digest(weights.read_bytes()) != body["weights"]:
        raise ValueError(f"The file {weights} is missing, truncated or was edited. Save it again.")
    arrays, _ = read_arrays(weights)
    parameters = {name: _revive(value) for name, value in body["parameters"].items()}
    parameters |= your_own
    missing = [name for name, value in parameters.items() if value is _YOUR_OWN]
    if missing:
        again = ", ".join(f"{name}=..." for name in missing)
        raise ValueError(
            f"The model in {folder} was made with something of your own. Pass it again: "
            f"load(folder, {again})."
        )
    model = estimator(**parameters)
    for name in _FACTS:
        setattr(model, name, _tupled(body["facts"][name]))
    for name in _UNITS:
        setattr(model, name, _filled(name, Standardiser(np.zeros(0), np.zeros(0)), arrays))
    if body["feature_names"] is not None:
        model.feature_names_in_ = np.asarray(body["feature_names"], object)
    model.in_shape_ = tuple(body["in_shape"])
    posterior, probe = _posterior(model, body, arrays), arrays["probe"]
    fill = partial(_filled, arrays=arrays)
    model.fitted_ = model._rebuild(posterior, probe, arrays["probe_x"], fill, body["story"])
    model._publish()
    model.calibration_ = calibration.revive(body.get("calibration"))
    if your_own:
        _check_same_function(model)
    return model


def _posterior(model: Any, body: dict, arrays: dict[str, np.ndarray]) -> Posterior:
    network = model._network_like(steps=arrays["probe"].shape[3:-1])
    draws, skeleton = posterior_like(model._engine(num_rows=1), *network)
    fixed, rest = eqx.partition(skeleton, eqx.is_inexact_array)
    return Posterior(
        draws=_filled("draws", draws, arrays),
        trace=arrays["trace"],
        markov=body["markov"],
        skeleton=eqx.combine(_filled("skeleton", fixed, arrays), rest),
        info={name: arrays[f"info.{name}"] for name in body["info"]},
    )


def _check_same_function(model: Any) -> None:
    mean, _, weight = model._components(model.fitted_.probe_x)
    now, then = np.sum(weight * mean, axis=1)[0], model.fitted_.probe[0, 0]
    seen = ~np.isnan(then)
    if now.shape != then.shape or not np.allclose(now[seen], then[seen], 1e-3, 1e-3):
        raise ValueError(
            "The network passed to load does not give the saved outputs for the saved weights. Pass "
            "the very network the model was made with."
        )


def _read_description(folder: Path) -> dict:
    path = folder / _DESCRIPTION
    if not path.exists():
        raise ValueError(f"There is no saved model in {folder}: {_DESCRIPTION} is missing.")
    return unseal(path, "model", FORMAT, again="save the model again", oldest=_OLDEST_FORMAT)


class _YourOwn:
    """Stands for a network that JSON cannot describe."""


_YOUR_OWN = _YourOwn()
_OWN_DESCRIBED = {"kind": "your own"}
_CONTAINERS: dict[str, Callable] = {"tuple": tuple, "list": list, "array": np.asarray}


def _describe(value: Any) -> Any:
    if type(value) in _KNOWN.values():
        described = {field.name: _describe(getattr(value, field.name)) for field in fields(value)}
        return {"kind": type(value).__name__, **described}
    if isinstance(value, tuple | list):
        items = [_describe(item) for item in value]
        # One function makes all of an (init, apply) pair the user's own.
        kind = "tuple" if isinstance(value, tuple) else "list"
        return _OWN_DESCRIBED if _OWN_DESCRIBED in items else {"kind": kind, "items": items}
    if isinstance(value, np.ndarray) and value.dtype.kind in "fiu":
        return {"kind": "array", "items": np.atleast_1d(value).tolist()}
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, np.integer | np.floating):
        return value.item()
    if isinstance(value, np.random.RandomState):
        return None  # it has served its purpose
    return _OWN_DESCRIBED


def _revive(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    kind = value.pop("kind")
    if kind == "your own":
        return _YOUR_OWN
    if kind in _CONTAINERS:
        return _CONTAINERS[kind]([_revive(item) for item in value["items"]])
    return _KNOWN[kind](**{name: _revive(item) for name, item in value.items()})


def _named(name: str, tree: Params) -> dict[str, np.ndarray]:
    return {f"{name}.{n}": np.asarray(leaf) for n, leaf in enumerate(jax.tree.leaves(tree))}


def _filled(name: str, like: Params, arrays: dict[str, np.ndarray]) -> Any:
    """Put saved arrays into a pytree of the same structure."""
    leaves, structure = jax.tree.flatten(like)
    saved = [arrays[key] for key in arrays if key.startswith(f"{name}.")]
    if len(saved) != len(leaves):
        raise ValueError(
            f"The network has {len(leaves)} arrays where the saved model has {len(saved)}. Pass the "
            f"very network the model was made with."
        )
    return jax.tree.unflatten(structure, [arrays[f"{name}.{n}"] for n in range(len(leaves))])


def _listed(names: Any) -> list[str] | None:
    return None if names is None else [str(name) for name in names]


def _tupled(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value
