"""An estimator of sequences, asked row by row."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from vebnn.prediction import Prediction, steps_as_rows
from vebnn.tabular.sequences.steps import Steps

MULTIPLE = 16  # new sequences are padded to multiples of this length


@dataclass(frozen=True)
class ByRows:
    """Turns rows into padded sequences for an estimator, and its predictions into rows."""

    estimator: Any
    targets: tuple[str, ...]

    def fit(
        self,
        steps: Steps,
        y: Any,
        sample_weight: np.ndarray | None = None,
        *,
        y_std: np.ndarray | None = None,
        groups: np.ndarray | None = None,
    ) -> None:
        """Fit the estimator to the chosen rows; all arguments have an entry for each of them."""
        self.estimator.fit(
            steps.padded(),
            self._as_target(steps, y),
            None if sample_weight is None else steps.spread(sample_weight, 0.0),
            y_std=None if y_std is None else steps.spread(y_std, 0.0),
            groups=None if groups is None else steps.first_of_each(groups),
        )

    def calibrate(self, steps: Steps, y: Any, method: str, *, y_std: np.ndarray | None = None) -> None:
        """Calibrate the estimator by the chosen rows."""
        known = None if y_std is None else steps.spread(y_std, 0.0)
        self.estimator.calibrate(steps.padded(), self._as_target(steps, y), method, y_std=known)

    def predict_distribution(self, steps: Steps, *, y_std: np.ndarray | None = None) -> Prediction:
        """Return the prediction of the chosen rows."""
        known = None if y_std is None else steps.spread(y_std, 0.0, MULTIPLE)
        found = self.estimator.predict_distribution(steps.padded(MULTIPLE), y_std=known)
        return steps_as_rows(found, steps.places, self.targets)

    def _as_target(self, steps: Steps, y: Any) -> np.ndarray:
        """Return targets of rows as ``(sequences, time, outputs)``, NaN where none is known."""
        return steps.spread(np.asarray(y, float).reshape(len(steps), len(self.targets)), np.nan)
