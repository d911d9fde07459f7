"""How much better than the best a candidate may be: for Bayesian optimisation.

The quantity to improve is the mean function, and what is uncertain about it is the epistemic part:
noise makes single observations better or worse, but nobody can keep what it gives.
"""

from typing import Literal

import numpy as np
from scipy import special

from vebnn.acquisition.outputs import Output, columns_of, draws_of, require_one_column
from vebnn.core.arguments import require_number, require_one_of
from vebnn.prediction import Prediction

Goal = Literal["minimise", "maximise"]


def expected_improvement(
    prediction: Prediction,
    *,
    best: float,
    goal: Goal = "minimise",
    kind: Literal["gaussian", "draws"] = "gaussian",
    output: Output = None,
) -> np.ndarray:
    """Return by how much the mean function is expected to be better than ``best``, never below 0.

    With f ~ N(mean, epistemic variance) and z = (best − mean)/std for a minimum (Jones et al. 1998,
    eq. 15),

        E max(best − f, 0) = std · (z Φ(z) + φ(z)),

    or the average of max(best − f, 0) over the draws f.

    Args:
      prediction: of the candidates.
      best: the best value of the mean function so far, such as ``model.predict(X).min()`` over the
        rows measured. The best of noisy observations would be too good to be true.
      goal: ``"minimise"`` or ``"maximise"``.
      kind: ``"gaussian"`` (two moments) or ``"draws"``.
      output: the number or name of the output to improve; needed if there are several.
    """
    require_number("best", best, -np.inf, np.inf)
    require_one_of("kind", kind, ("gaussian", "draws"))
    sign = _sign(goal)
    columns = columns_of(prediction, output)
    require_one_column(columns, "expected improvement")
    if kind == "draws":
        gains = sign * (draws_of(prediction, output)[..., 0] - best)
        return np.maximum(gains, 0).mean(0)
    gain, std = sign * (columns.mean[:, 0] - best), np.sqrt(columns.epistemic_variance[:, 0])
    certain = std == 0
    expected = std * _standard_improvement(gain / np.where(certain, 1, std))
    return np.where(certain, np.maximum(gain, 0), expected)


def confidence_bound(
    prediction: Prediction,
    *,
    goal: Goal = "minimise",
    num_std: float = 2.0,
    output: Output = None,
) -> np.ndarray:
    """Return how good the mean function may be, being optimistic.

    The upper confidence bound, mean + ``num_std`` · epistemic std, for a maximum; minus the lower one,
    mean − ``num_std`` · epistemic std, for a minimum (Srinivas et al. 2010, eq. 6, with √β as
    ``num_std``).

    Args:
      prediction: of the candidates.
      goal: ``"minimise"`` or ``"maximise"``.
      num_std: how optimistic; 0 believes the mean.
      output: the number or name of the output to improve; needed if there are several.
    """
    require_number("num_std", num_std, 0, np.inf, "[)")
    sign = _sign(goal)
    columns = columns_of(prediction, output)
    require_one_column(columns, "confidence bound")
    return sign * columns.mean[:, 0] + num_std * np.sqrt(columns.epistemic_variance[:, 0])


def _standard_improvement(z: np.ndarray) -> np.ndarray:
    """Return z Φ(z) + φ(z), which is E max(z + N(0, 1), 0)."""
    density = np.exp(-0.5 * z**2) / np.sqrt(2 * np.pi)
    # Far below 0 the two terms nearly cancel. With their ratio, Φ/φ, candidates far behind the best
    # still have the right order.
    below = np.minimum(z, 0)
    ratio = np.sqrt(np.pi / 2) * special.erfcx(-below / np.sqrt(2))
    return np.where(z < 0, density * np.maximum(1 + below * ratio, 0), z * special.ndtr(z) + density)


def _sign(goal: str) -> int:
    require_one_of("goal", goal, ("minimise", "maximise"))
    return 1 if goal == "maximise" else -1
