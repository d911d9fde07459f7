"""Saved models: a folder with ``model.json`` and ``weights.safetensors``, and no code in either."""

from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from vebnn.calibration import describe, revive
from vebnn.estimators.gaps import Gaps
from vebnn.estimators.preprocessing import Standardiser
from vebnn.estimators.target_kinds import kinds_of
from vebnn.inference import ENGINES
from vebnn.networks import GRU, MLP, Augmentation, ResNet
from vebnn.presets import default_network, default_variance_network
from vebnn.serialization.files import new_folder
from vebnn.serialization.folders import MODEL, understanding
from vebnn.serialization.trees import arrays_of, fill
from vebnn.strategies.contract import Saved, Shapes
from vebnn.training import Training

_RECIPES = (GRU, MLP, ResNet)
_KNOWN: dict[str, Any] = {
    kind.__name__: kind for kind in (*_RECIPES, Augmentation, Training, *ENGINES.values())
}
_FACTS = ("one_output_", "target_names_", "n_features_in_")
_UNITS = ("x_units_", "y_units_")


def save(model: Any, folder: str | Path) -> None:
    """Write a fitted estimator to a folder, replacing a saved model that is there.

    Raises:
      FileExistsError: if the folder holds something that is not a saved model.
    """
    with new_folder(folder, MODEL.names) as new:
        write(model, new)


def write(model: Any, folder: Path) -> None:
    """Write the files of a fitted estimator to a new folder."""
    fitted, names = model.fitted_, getattr(model, "feature_names_in_", None)
    trees = fitted.arrays() | {name: getattr(model, name) for name in _UNITS}
    parameters = model.get_params(deep=False)
    body = {
        "estimator": type(model).__name__,
        "parameters": {name: _describe(value) for name, value in parameters.items()},
        "defaults": _defaults_in_use(model),
        "facts": {name: getattr(model, name) for name in _FACTS},
        "feature_names": None if names is None else [str(name) for name in names],
        "in_shape": list(model.in_shape_),
        "gaps": None if model.gaps_ is None else model.gaps_._asdict(),
        "story": fitted.describe(),
        "calibration": describe(model.calibration_),
        "markov": fitted.posterior.markov,
        "info": list(fitted.posterior.info),
    }
    arrays = {path: array for name in trees for path, array in arrays_of(name, trees[name]).items()}
    MODEL.write(folder, body, {"weights": arrays})


def own_parameters(model: Any) -> list[str]:
    """Return the names of arguments that a saved model cannot describe: networks of your own, …."""
    described = {name: _describe(value) for name, value in model.get_params(deep=False).items()}
    return [name for name, value in described.items() if value == _OWN_DESCRIBED]


def load(estimator: type, folder: str | PathLike[str], **your_own: Any) -> Any:
    """Read a saved estimator; it predicts bit for bit as the one that was saved.

    Raises:
      ValueError: if the files are damaged, edited or of another version or estimator, or if the model
        uses a network or engine of the user's own that was not passed again, or not the same one.
    """
    with understanding(folder):
        return _load(estimator, folder, your_own)


def _load(estimator: type, folder: str | PathLike[str], your_own: dict[str, Any]) -> Any:
    body, files = MODEL.read(folder)
    arrays = _with_draws_of_noise(_without_skeletons(files["weights"]))
    if (kind := body["estimator"]) != estimator.__name__:
        raise ValueError(
            f"The model in {Path(folder)} is a {kind}, not a {estimator.__name__}. "
            f"Use {kind}.load(folder)."
        )
    parameters = {name: _revive(value) for name, value in body["parameters"].items()} | your_own
    missing = [name for name, value in parameters.items() if value is _YOUR_OWN]
    if missing:
        again = ", ".join(f"{name}=..." for name in missing)
        raise ValueError(
            f"The model in {Path(folder)} was made with something of your own. Pass it again: "
            f"load(folder, {again})."
        )
    model = estimator(**parameters)
    for names in (body["facts"]["target_names_"], body["feature_names"]):
        whole = isinstance(names, list) and all(isinstance(name, str) for name in names)
        if names is not None and not whole:
            raise TypeError("names that are no text")
    for name in _FACTS:
        fact = body["facts"][name]
        setattr(model, name, tuple(fact) if isinstance(fact, list) else fact)
    for name in _UNITS:
        setattr(model, name, fill(name, Standardiser(np.zeros(0), np.zeros(0)), arrays))
    model.target_kinds_ = kinds_of(model.target, len(model.y_units_.scale))
    if body["feature_names"] is not None:
        model.feature_names_in_ = np.asarray(body["feature_names"], object)
    model.in_shape_ = tuple(body["in_shape"])
    model.gaps_ = _revive_gaps(model, body)
    in_shape = model.in_shape_
    if model.gaps_ is not None:
        in_shape = (in_shape[0] + len(model.gaps_.marked),)
    # Before networks of that shape are built: a small file must not ask for much memory.
    if arrays["probe_x"].shape[1:] != in_shape:
        raise ValueError(
            f"The model in {Path(folder)} has inputs of shape {in_shape}, but its arrays have "
            f"{arrays['probe_x'].shape[1:]}. Save the model again."
        )
    shapes = Shapes(in_shape, arrays["probe"].shape[3:-1], len(model.y_units_.scale))
    saved = Saved(body["story"], partial(fill, arrays=arrays), body["markov"], tuple(body["info"]))
    strategy = model._strategy(num_rows=1)
    defaults = body.get("defaults", _old_defaults(strategy))
    left_open = {name: _revive(value) for name, value in defaults.items() if parameters[name] is None}
    model.fitted_ = replace(strategy, **left_open).revive(shapes, saved)
    model._publish()
    model.calibration_ = revive(body.get("calibration"))
    if your_own:
        _check_same_function(model.fitted_)
    return model


def _revive_gaps(model: Any, body: dict[str, Any]) -> Gaps | None:
    """Return what stands for missing values; for models that were saved without, the means do."""
    if model._many_axes:
        return None
    if "gaps" not in body:
        return Gaps(tuple(model.x_units_.centre.tolist()))
    medians, marked = (tuple(body["gaps"][name]) for name in Gaps._fields)
    numbers = all(isinstance(median, int | float) for median in medians)
    fit = len(medians) + len(marked) == len(model.x_units_.scale) and {*marked} <= {
        *range(len(medians))
    }
    if not (numbers and fit):
        raise TypeError("missing values of features that are not there")
    return Gaps(tuple(map(float, medians)), marked)


# What a fitted strategy needs to be read, and what estimators may leave open.
_LEFT_OPEN = ("network", "variance_network", "variance_loss")


def _defaults_in_use(model: Any) -> dict[str, Any]:
    """Describe what stood for the arguments that were left open: other versions have other defaults."""
    strategy, given = model._strategy(num_rows=1), model.get_params(deep=False)
    names = [name for name in _LEFT_OPEN if name in given and given[name] is None]
    return {name: _describe(getattr(strategy, name)) for name in names}


def _old_defaults(strategy: Any) -> dict[str, Any]:
    """Describe the networks that models of a format before 5 have, if these were left open."""
    network = default_network(strategy.engine)
    variance_network = default_variance_network(strategy.network)
    return {"network": _describe(network), "variance_network": _describe(variance_network)}


def _with_draws_of_noise(arrays: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return the arrays of a format before 5 in the places of format 5.

    There, the noise was one network, without an axis of draws.
    """
    old = "noise/network/"
    named = {name: name.replace(old, "noise/draws/") for name in arrays if name.startswith(old)}
    # Formats before 4 number the arrays: those of the network, then scale, epochs and history.
    numbered = sorted(
        (name for name in arrays if name.startswith("noise.")), key=lambda name: int(name[6:])
    )
    named |= {name: name for name in numbered[:-3]}
    return {
        named.get(name, name): array[None] if name in named else array for name, array in arrays.items()
    }


def _without_skeletons(arrays: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return the arrays of a format before 4 in the places of format 4.

    There, the weights that all masks of MC dropout share were stored apart, as ``skeleton.0``, ….
    """
    apart = [name for name in arrays if name.startswith("skeleton.")]
    if not apart:
        return arrays
    rest = {name: array for name, array in arrays.items() if name not in apart}
    masks = rest.pop("draws.0")
    shared = [arrays[f"skeleton.{place}"] for place in range(len(apart))]
    return rest | {f"draws.{place}": array for place, array in enumerate([*shared, masks])}


def _check_same_function(fitted: Any) -> None:
    mean, _, weight = fitted.components(fitted.probe_x)
    now, then = np.sum(weight * mean, axis=1)[0], fitted.probe[0, 0]
    seen = ~np.isnan(then)
    if now.shape != then.shape or not np.allclose(now[seen], then[seen], 1e-3, 1e-3):
        raise ValueError(
            "The network passed to load does not give the saved outputs for the saved weights. Pass "
            "the very network the model was made with."
        )


class _YourOwn:
    """Stands for a network or an engine that JSON cannot describe."""


_YOUR_OWN = _YourOwn()
_OWN_DESCRIBED = {"kind": "your own"}
_CONTAINERS: Mapping[str, Callable] = {"tuple": tuple, "list": list, "array": np.asarray}


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
        return None  # only the fit needed it
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
