"""Scores of active learning: the information in a measurement."""

from typing import Literal

import numpy as np
from scipy import special

from vebnn.acquisition.outputs import Output, select_output
from vebnn.core.arguments import require_one_of
from vebnn.prediction import Prediction

# The entropy of a mixture is integrated by the trapezoidal rule, in units of the noise std. The
# integrand is analytic and vanishes at both ends, so the error falls exponentially with the spacing; at
# a quarter of a std it is below 1e-6. Densities are cut off 8 stds from their centre.
_SPACING = 0.25
_REACH = 8.0
_BLOCK_POINTS = 256


def epistemic_variance(prediction: Prediction, *, output: Output = None) -> np.ndarray:
    """Return the variance of the mean over draws, in squared units of the output.

    Several outputs are summed after division by their mean total variance over the rows, so that the
    sum does not depend on units.

    Args:
      prediction: of the candidates.
      output: the number or name of one output; all by default.
    """
    epistemic = select_output(prediction.epistemic_variance, prediction, output)
    if epistemic.shape[1] == 1:
        return epistemic[:, 0]
    total = select_output(prediction.aleatoric_variance, prediction, output) + epistemic
    return np.sum(epistemic / total.mean(0), axis=1)


def bald(
    prediction: Prediction, *, kind: Literal["gaussian", "mixture"] = "gaussian", output: Output = None
) -> np.ndarray:
    """Return the mutual information of an observation and the network, in nats.

    BALD (Houlsby et al. 2011, eq. 2): the entropy of the prediction less the mean entropy given one
    draw of the network. With the two moments of the prediction that is

        ½ log(1 + epistemic variance / aleatoric variance),

    and with the draws, the entropy of the mixture of Gaussians less that of the noise. The latter score
    is at most the former, and at most the log of the number of draws.

    The noise is the mean over draws. All draws of VeBNN share it; for other methods, the information
    about the noise itself is left out.

    Several outputs are summed. The sum is their joint information if the draws of different outputs are
    uncorrelated, and an upper bound otherwise.

    Args:
      prediction: of the candidates.
      kind: ``"gaussian"`` (two moments) or ``"mixture"`` (all draws; slower).
      output: the number or name of one output; all by default.

    Raises:
      ValueError: if a row has no noise, so that its information is infinite.
    """
    require_one_of("kind", kind, ("gaussian", "mixture"))
    noise = select_output(prediction.aleatoric_variance, prediction, output)
    if not np.all(noise > 0):
        raise ValueError(
            f"The mutual information needs an aleatoric variance above 0 at every row. Got "
            f"{noise.min():g}; use the epistemic variance instead."
        )
    if kind == "gaussian":
        epistemic = select_output(prediction.epistemic_variance, prediction, output)
        return 0.5 * np.log1p(epistemic / noise).sum(1)
    in_noise_stds = select_output(prediction.draws, prediction, output) / np.sqrt(noise)
    flat = in_noise_stds.reshape(len(in_noise_stds), -1)
    information = np.array([_information_of_mixture(centers) for centers in flat.T])
    return information.reshape(noise.shape).sum(1)


def _information_of_mixture(centers: np.ndarray) -> float:
    """Return the entropy of the equal mixture of N(center, 1), less that of N(0, 1)."""
    # Gaps without density have no entropy: shortening them keeps the integral and shortens the grid.
    gaps = np.minimum(np.diff(np.sort(centers)), 2 * _REACH)
    centers = np.concatenate([[0.0], np.cumsum(gaps)])
    points = np.arange(centers[0] - _REACH, centers[-1] + _REACH + _SPACING, _SPACING)
    entropy = 0.0
    for block in np.split(points, range(_BLOCK_POINTS, len(points), _BLOCK_POINTS)):
        first, last = np.searchsorted(centers, [block[0] - _REACH, block[-1] + _REACH])
        distance = block[:, None] - centers[None, first:last]
        density = np.exp(-0.5 * distance**2).sum(1) / (len(centers) * np.sqrt(2 * np.pi))
        entropy += _SPACING * special.entr(density).sum()
    return entropy - 0.5 * (1 + np.log(2 * np.pi))
