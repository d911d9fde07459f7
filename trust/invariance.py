"""Predictions do not depend on units, or on the order of rows.

Inputs and targets are standardised in double precision, and networks get them in single precision. A
change of units by powers of two is exact. Any other change can alter the last bit of a standardised
number, so that predictions may differ by 1e-5 of the std of the target. With mirrored inputs, the same
random start is another function: predictions then differ as they do between seeds, which is shown.
"""

from typing import Any

import numpy as np

from trust.fits import Fit
from trust.promises import Promise

MOST_OF_UNITS = 1e-5  # in std of the target
MOST_OF_ORDER = 1e-6
# Factor and offset of the inputs, and of the targets.
EXACT = ((2.0**20, 0.0), (2.0**-30, 0.0))
AFFINE = ((1.7, 31.4), (1e3, -2e4))
MIRRORED = ((-1.7, 31.4), (1e3, -2e4))

Change = tuple[tuple[float, float], tuple[float, float]]


def prove_invariance(fit: Fit, seed: int) -> tuple[list[Promise], dict[str, Any]]:
    """Fit the same rows in other units, and predict rows in another order."""
    rng = np.random.default_rng([seed, 3_000])
    X = rng.uniform(-1, 1, (60, 1))
    y = np.sin(3 * X[:, 0]) + 0.2 * rng.standard_normal(60)
    model = fit(X, y, seed)
    here = np.stack(model.predict(X, return_std=True))

    def difference(change: Change) -> float:
        """Return the largest change of a mean or a std, in std of the target."""
        (by_x, from_x), (by_y, from_y) = change
        other = by_x * X + from_x
        mean, std = fit(other, by_y * y + from_y, seed).predict(other, return_std=True)
        return _largest(np.stack([mean - from_y, std]) / by_y - here, y)

    exact, affine, mirrored = map(difference, (EXACT, AFFINE, MIRRORED))
    places = rng.uniform(-1, 1, (3_000, 1))  # more than one compiled block of rows
    shuffled = rng.permutation(len(places))
    straight = np.stack(model.predict(places, return_std=True))
    order = _largest(straight[:, shuffled] - model.predict(places[shuffled], return_std=True), y)
    promises = [
        Promise("powers of two in the units change no prediction", _words(exact), exact == 0),
        Promise("affine changes of units change no prediction", _words(affine), affine < MOST_OF_UNITS),
        Promise("the order of rows changes no prediction", _words(order), order < MOST_OF_ORDER),
    ]
    figures = {"exact": exact, "affine": affine, "mirrored": mirrored, "order": order}
    return promises, {"invariance": figures}


def _largest(difference: np.ndarray, y: np.ndarray) -> float:
    return float(np.abs(difference).max() / y.std())


def _words(difference: float) -> str:
    return "bit-identical" if difference == 0 else f"{difference:.1e} std of the target"
