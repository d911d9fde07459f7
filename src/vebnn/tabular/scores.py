"""How good predictions are on rows whose targets are known, target by target."""

from typing import NamedTuple

import numpy as np

from vebnn.metrics import coverage, rmse
from vebnn.prediction import Prediction, crps

DEFAULT_LEVEL = 0.95


class TargetScore(NamedTuple):
    """Scores of one target, in its units."""

    target: str
    num_rows: int
    rmse: float
    baseline_rmse: float  # of always predicting the mean of the training rows
    tll: float  # mean log-density, or log-probability of whole numbers; natural logarithm
    level: float  # of the intervals
    coverage: float  # share of the observations inside their intervals
    aleatoric_std: float  # median over rows
    epistemic_std: float  # median over rows
    below_zero: float = 0.0  # share of the intervals that reach below 0
    crps: float | None = None  # continuous ranked probability score; None in older models
    num_sequences: int = 0  # that the rows are steps of; 0 if they are single rows

    @property
    def num_independent(self) -> int:
        """How many of the rows chance treats apart: errors within a sequence are alike."""
        return self.num_sequences or self.num_rows


def columns_of(values: np.ndarray) -> np.ndarray:
    """Return ``(rows, targets)``, also for one target given as a vector."""
    return values[:, None] if values.ndim == 1 else values


def score_targets(
    prediction: Prediction,
    observed: np.ndarray,
    targets: tuple[str, ...],
    means: tuple[float, ...],
    level: float = DEFAULT_LEVEL,
    rows: np.ndarray | slice = slice(None),
    num_sequences: int = 0,
) -> tuple[TargetScore, ...]:
    """Compare predictions with observations, ``(rows, targets)``.

    The means are those of the targets in the training rows; ``rows`` are the rows to score, as an index
    or a mask; ``num_sequences`` is how many sequences these are steps of.
    """
    y = observed.reshape(prediction.mean.shape)
    of_rows = prediction.log_prob(y), crps(prediction, y)
    parts = (prediction.mean, *of_rows, prediction.aleatoric_std, prediction.epistemic_std)
    mean, log_prob, distance, aleatoric, epistemic, lower, upper = (
        columns_of(part)[rows] for part in (*parts, *prediction.interval(level))
    )
    return tuple(
        TargetScore(
            target=name,
            num_rows=len(y),
            rmse=rmse(y, mean[:, at]),
            baseline_rmse=rmse(y, np.full_like(y, means[at])),
            tll=float(np.mean(log_prob[:, at])),
            level=level,
            coverage=coverage(y, lower[:, at], upper[:, at]),
            aleatoric_std=float(np.median(aleatoric[:, at])),
            epistemic_std=float(np.median(epistemic[:, at])),
            below_zero=float(np.mean(lower[:, at] < 0)),
            crps=float(np.mean(distance[:, at])),
            num_sequences=num_sequences,
        )
        for at, (name, y) in enumerate(zip(targets, observed[rows].T, strict=True))
    )
