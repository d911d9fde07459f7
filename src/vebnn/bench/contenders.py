"""Who takes part in a comparison: methods of this library, what people use instead, and your own.

A contender is a function of training rows, new rows and a seed, that returns a forecast for these.
"""

import importlib
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.model_selection import train_test_split

from vebnn.bench.baselines import PEERS
from vebnn.bench.forecasts import Forecast
from vebnn.bench.methods import Method, find_method
from vebnn.bench.results import r_hat
from vebnn.calibration import CommonFactor
from vebnn.core.arguments import require_one_of
from vebnn.inference import ENGINES
from vebnn.presets import (
    default_mean_training,
    default_variance_training,
    paper,
    paper_joint,
    stretched,
)

Contender = Callable[[np.ndarray, np.ndarray, np.ndarray, int], Forecast]

PRESETS = ("paper", "standard", "quick")
STANDARD_RATES = (3e-4, 1e-3, 3e-3)  # of the five of the paper
QUICK = 0.25  # of the default length
CALIBRATION_SHARE = 0.2


@dataclass(frozen=True)
class OurMethod:
    """One of this library's methods as a contender."""

    method: Method
    preset: str

    def __call__(self, X: np.ndarray, y: np.ndarray, X_new: np.ndarray, seed: int) -> Forecast:
        """Fit and predict."""
        model = self.method.make(**arguments(self.method, self.preset, len(X)), random_state=seed)
        model.fit(X, y)
        prediction = model.predict_distribution(X_new)
        notes = {"r_hat": r_hat(model), "model": " ".join(repr(model).split())}
        if getattr(model, "learning_rate_", None) is not None:
            notes["learning_rate"] = float(model.learning_rate_)
        return Forecast(prediction.mean, prediction.variance, notes=notes)


@dataclass(frozen=True)
class Calibrated:
    """A contender whose variance is multiplied by the paper's constant c.

    c is learned on 20 % of the training rows, by a model that has not seen them; the model that
    predicts has seen all.
    """

    contender: Contender

    def __call__(self, X: np.ndarray, y: np.ndarray, X_new: np.ndarray, seed: int) -> Forecast:
        """Fit twice, and predict."""
        X_fit, X_val, y_fit, y_val = train_test_split(
            X, y, test_size=CALIBRATION_SHARE, random_state=seed
        )
        held_out = self.contender(X_fit, y_fit, X_val, seed)
        nothing = np.zeros_like(held_out.variance)
        factor = CommonFactor.learn(y_val, held_out.mean, held_out.variance, nothing)
        raw = self.contender(X, y, X_new, seed)
        variance, _ = factor.apply(raw.variance, np.zeros_like(raw.variance))
        return Forecast(raw.mean, variance, notes={**raw.notes, "factors": list(factor.factors)})


def find_contender(name: str, preset: str = "standard") -> Contender:
    """Return the contender of a name.

    Args:
      name: a method such as ``"VeBNN (pSGLD)"``, a peer such as ``"NGBoost"``, or
        ``"module:function"`` for one of your own.
      preset: how this library's methods are trained; ``"paper"`` also calibrates, whatever the method.
    """
    require_one_of("preset", preset, PRESETS)
    contender: Contender
    if ":" in name:
        contender = _imported(name)
    elif name in PEERS:
        contender = PEERS[name]
    else:
        contender = OurMethod(find_method(name), preset)
    return Calibrated(contender) if preset == "paper" else contender


def full_name(name: str) -> str:
    """Return a name as tables spell it; ``module:function`` is spelt as it was given.

    Raises:
      ValueError: if nobody has this name.
    """
    by_plain_name = {peer.casefold(): peer for peer in PEERS}
    if ":" in name:
        _imported(name)
        return name
    if name.casefold() in by_plain_name:
        return by_plain_name[name.casefold()]
    try:
        return find_method(name).name
    except ValueError as error:
        raise ValueError(f"{error} Others: {', '.join(PEERS)}, or module:function.") from None


def arguments(method: Method, preset: str, num_rows: int) -> dict[str, Any]:
    """Return what a preset says to the estimator of a method."""
    engine: Any = method.arguments.get("inference")
    cooperative = method.strategy == "cooperative"
    if preset == "paper":
        return paper("uci", engine) if cooperative else paper_joint("uci", engine)
    if preset == "standard":
        return {} if cooperative else {"learning_rates": STANDARD_RATES}
    chosen: dict[str, Any] = {}
    if engine is not None:
        chosen["inference"] = stretched(ENGINES[engine].for_rows(num_rows), QUICK)
    mean_training = stretched(default_mean_training(num_rows), QUICK)
    if not cooperative:
        return chosen | {"training": mean_training}
    variance_training = stretched(default_variance_training(num_rows), QUICK)
    return chosen | {"mean_training": mean_training, "variance_training": variance_training}


def _imported(name: str) -> Contender:
    module_name, _, function_name = name.partition(":")
    if os.getcwd() not in sys.path:
        sys.path.append(os.getcwd())
    try:
        return getattr(importlib.import_module(module_name), function_name)
    except (ImportError, AttributeError) as error:
        raise ValueError(
            f"The method {name!r} must be module:function, where Python finds both. {error}."
        ) from None
