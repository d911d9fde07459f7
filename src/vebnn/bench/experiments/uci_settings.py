"""How every method is trained on tables: the paper's way, with the defaults, or quickly."""

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from sklearn.model_selection import train_test_split

from vebnn import presets
from vebnn.bench.baselines import BASELINES
from vebnn.bench.forecasts import Forecast, Forecaster
from vebnn.bench.methods import Method, find_method
from vebnn.bench.own_methods import OwnMethod
from vebnn.bench.results import r_hat
from vebnn.calibration import CommonFactor
from vebnn.core.arguments import require_one_of
from vebnn.inference import ENGINES
from vebnn.prediction import BackTransformed
from vebnn.tabular import effort

# Length of training over the default one, as in ``vebnn fit --effort``; rows call the default standard.
EFFORTS = {"standard" if name == "normal" else name: factor for name, factor in effort.EFFORTS.items()}
UCI_PRESETS = ("paper", *EFFORTS)
STANDARD_RATES = (3e-4, 1e-3, 3e-3)  # of the five of the paper
CALIBRATION_SHARE = 0.2


def forecast(
    method: Method,
    preset: str,
    X: np.ndarray,
    y: np.ndarray,
    X_new: np.ndarray,
    seed: int,
    *,
    target_kind: str = "real",
    groups: np.ndarray | None = None,
) -> Forecast:
    """Fit a method of this library, and predict; one output if the target is transformed."""
    settings = arguments(method, preset, len(X)) | {"target": target_kind}
    model = method.make(**settings, random_state=seed).fit(X, y, groups=groups)
    prediction = model.predict_distribution(X_new)
    notes = {"r_hat": r_hat(model), "model": " ".join(repr(model).split())}
    if method.strategy == "cooperative":
        notes |= {"rounds": model.rounds_[-1].number, "chosen_round": model.chosen_round_}
    if getattr(model, "learning_rate_", None) is not None:
        notes["learning_rate"] = float(model.learning_rate_)
    law = prediction.law
    if isinstance(law, BackTransformed):
        prediction = law.transformed
    noise = prediction.aleatoric_variance
    found = Forecast(prediction.mean, prediction.variance, notes=notes, noise_variance=noise)
    return found.in_units_of(law.targets[0]) if isinstance(law, BackTransformed) else found


@dataclass(frozen=True)
class Calibrated:
    """A forecaster whose variance is multiplied by the paper's constant c.

    c is learned on 20 % of the training rows, from a model that was not trained on them; the model
    that predicts is trained on all rows.
    """

    forecaster: Forecaster

    def __call__(self, X: np.ndarray, y: np.ndarray, X_new: np.ndarray, seed: int) -> Forecast:
        """Fit twice, and predict."""
        X_fit, X_val, y_fit, y_val = train_test_split(
            X, y, test_size=CALIBRATION_SHARE, random_state=seed
        )
        held_out = self.forecaster(X_fit, y_fit, X_val, seed)
        zero = np.zeros_like(held_out.variance)
        factor = CommonFactor.learn(y_val, held_out.mean, held_out.variance, zero)
        raw = self.forecaster(X, y, X_new, seed)
        variance, _ = factor.apply(raw.variance, np.zeros_like(raw.variance))
        notes = {**raw.notes, "factors": list(factor.factors)}
        return Forecast(raw.mean, variance, notes=notes, raw_variance=raw.variance)


def find_forecaster(
    name: str,
    preset: str = "standard",
    target_kind: str = "real",
    groups: np.ndarray | None = None,
) -> tuple[str, Forecaster]:
    """Return a method's name as tables spell it, and its forecaster.

    Args:
      name: a method such as ``"VeBNN (pSGLD)"``, a baseline such as ``"NGBoost"``, or
        ``"file.py:function"`` or ``"module:function"`` for a function of your own.
      preset: how this library's methods are trained; ``"paper"`` also calibrates every method.
      target_kind: of the target, for methods of this library; see :mod:`vebnn.prediction.targets`.
      groups: of the training rows, for methods of this library: rows that they keep together.
    """
    require_one_of("preset", preset, UCI_PRESETS)
    forecaster: Forecaster
    baselines = {known.casefold(): known for known in BASELINES}
    if ":" in name:
        forecaster = OwnMethod.find(name)
    elif name.casefold() in baselines:
        name = baselines[name.casefold()]
        forecaster = BASELINES[name]
    else:
        try:
            method = find_method(name)
        except ValueError as error:
            others = f"Baselines: {', '.join(BASELINES)}, or file.py:function."
            raise ValueError(f"{error} {others}") from None
        name = method.name
        forecaster = partial(forecast, method, preset, target_kind=target_kind, groups=groups)
    return name, Calibrated(forecaster) if preset == "paper" else forecaster


def arguments(method: Method, preset: str, num_rows: int) -> dict[str, Any]:
    """Return the arguments of a method's estimator in a preset."""
    engine: Any = method.arguments.get("inference")
    cooperative = method.strategy == "cooperative"
    if preset == "paper":
        settings = presets.paper if cooperative else presets.paper_joint
        return settings("uci", engine)
    if preset == "standard":
        return {} if cooperative else {"learning_rates": STANDARD_RATES}
    chosen: dict[str, Any] = {}
    factor = EFFORTS[preset]
    if engine is not None:
        chosen["inference"] = presets.stretched(ENGINES[engine].for_rows(num_rows), factor)
    mean_training = presets.stretched(presets.default_mean_training(num_rows), factor)
    if not cooperative:
        return chosen | {"training": mean_training}
    variance_training = presets.stretched(presets.default_variance_training(num_rows), factor)
    return chosen | {"mean_training": mean_training, "variance_training": variance_training}
