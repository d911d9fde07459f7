"""Scores of Bayesian optimisation: improvement on the best value so far.

The objective is the mean function, so its uncertainty is the epistemic part: noise makes single
observations better or worse, not the design.
"""

from typing import Literal

import numpy as np
from scipy import special

from vebnn.acquisition.outputs import Output, select_output
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
    """Return the expected improvement of the mean function on ``best``, never below 0.

    With f ~ N(mean, epistemic variance) and z = (best − mean)/std for a minimum (Jones et al. 1998,
    eq. 15),

        E max(best − f, 0) = std · (z Φ(z) + φ(z)),

    or the average of max(best − f, 0) over the draws f.

    Args:
      prediction: of the candidates.
      best: the best value of the mean function so far, such as ``model.predict(X).min()`` over the
        rows measured. The best of noisy observations is biased.
      goal: ``"minimise"`` or ``"maximise"``.
      kind: ``"gaussian"`` (two moments) or ``"draws"``.
      output: the number or name of the output to improve; needed if there are several.
    """
    require_number("best", best, -np.inf, np.inf)
    require_one_of("kind", kind, ("gaussian", "draws"))
    sign, mean, std = _objective(prediction, goal, output, "expected improvement")
    if kind == "draws":
        draws = select_output(prediction.draws, prediction, output)[..., 0]
        return np.maximum(sign * (draws - best), 0).mean(0)
    gain, certain = sign * (mean - best), std == 0
    expected = std * _standard_improvement(gain / np.where(certain, 1, std))
    return np.where(certain, np.maximum(gain, 0), expected)


def confidence_bound(
    prediction: Prediction, *, goal: Goal = "minimise", num_std: float = 2.0, output: Output = None
) -> np.ndarray:
    """Return the optimistic bound of the mean function.

    For a maximum it is the upper confidence bound, mean + ``num_std`` · epistemic std; for a minimum,
    minus the lower one (Srinivas et al. 2010, eq. 6, with √β as ``num_std``). With ``num_std=0`` it is
    the mean. Other arguments are those of :func:`expected_improvement`.
    """
    require_number("num_std", num_std, 0, np.inf, "[)")
    sign, mean, std = _objective(prediction, goal, output, "confidence bound")
    return sign * mean + num_std * std


def _objective(
    prediction: Prediction, goal: str, output: Output, score: str
) -> tuple[int, np.ndarray, np.ndarray]:
    """Return the sign of the goal, and mean and epistemic std of one output."""
    require_one_of("goal", goal, ("minimise", "maximise"))
    mean = select_output(prediction.mean, prediction, output)
    if (found := mean.shape[1]) != 1:
        raise ValueError(
            f"The {score} needs one number per row. Got {found}; choose one with `output`, such as "
            f"output=0, or take a time step first."
        )
    std = np.sqrt(select_output(prediction.epistemic_variance, prediction, output)[:, 0])
    return 1 if goal == "maximise" else -1, mean[:, 0], std


def _standard_improvement(z: np.ndarray) -> np.ndarray:
    """Return z Φ(z) + φ(z), which is E max(z + N(0, 1), 0)."""
    density = np.exp(-0.5 * z**2) / np.sqrt(2 * np.pi)
    # Far below 0 the two terms nearly cancel. Their ratio Φ/φ keeps the order of poor candidates.
    below = np.minimum(z, 0)
    ratio = np.sqrt(np.pi / 2) * special.erfcx(-below / np.sqrt(2))
    return np.where(z < 0, density * np.maximum(1 + below * ratio, 0), z * special.ndtr(z) + density)
