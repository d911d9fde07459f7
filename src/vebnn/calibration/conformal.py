"""Distribution-free intervals: split conformal prediction."""

import math
import warnings
from dataclasses import dataclass, field

import numpy as np

from vebnn.calibration.held_out import HeldOut, Learned, rank_of
from vebnn.calibration.variances import Variances, for_outputs
from vebnn.core.arguments import require_number
from vebnn.metrics.arrays import matched


class UnreachableLevel(ValueError):
    """A level that needs more held-out rows."""


@dataclass(frozen=True)
class ConformalScores(Learned):
    """Conformal intervals of every level: the scores that :class:`ConformalIntervals` are learned from.

    The guarantee is for rows that were not used in any other way. If they also stopped the training
    early or chose a setting, it holds only approximately.

    Args:
      scores: \\|y − mean\\| / std of the held-out rows in increasing order, for each output.
      num_rows: number of rows; a sequence is one.
    """

    scores: tuple[tuple[float, ...], ...] = field(repr=False)
    num_rows: int

    @classmethod
    def _learn(cls, rows: HeldOut) -> "ConformalScores":  # type: ignore[override]
        return cls(tuple(map(tuple, np.sort(rows.scores, axis=0).T.tolist())), rows.num_rows)

    @property
    def highest_level(self) -> float:
        """The highest level whose intervals are finite, n/(n + 1)."""
        return self.num_rows / (self.num_rows + 1)

    def multipliers(self, level: float) -> np.ndarray:
        """Return q for each output, so that mean ± q · std has the guarantee.

        Raises:
          UnreachableLevel: if the rows are too few, so that q would be infinite.
        """
        require_number("level", level, 0, 1)
        num_scores = len(self.scores[0])
        rank = rank_of(level, num_scores // self.num_rows * (self.num_rows + 1))
        if rank > num_scores:
            raise UnreachableLevel(
                f"Conformal intervals of level {level:g} need at least {rows_needed(level)} held-out "
                f"rows. Got {self.num_rows}, which are enough up to level {self.highest_level:.4g}; "
                f"lower the level, or calibrate on more rows."
            )
        return np.array([ordered[rank - 1] for ordered in self.scores])


def rows_needed(level: float) -> int:
    """Return the smallest number of held-out rows for finite intervals of that level."""
    return math.ceil(round(level / (1 - level), 9))


@dataclass(frozen=True)
class ConformalIntervals(Learned):
    """Intervals mean ± q · std that hold at least ``level`` of new targets of any distribution.

    Split conformal prediction (Papadopoulos et al. 2002; Lei et al. 2018, secs. 2.2 and 5.2) with the
    score \\|y − mean\\| / std: q is the ⌈(n + 1) · level⌉-th smallest score of n held-out rows. If
    those and a new row are exchangeable, P(new target inside) ≥ level, averaged over draws of both.

    The steps of a sequence are not exchangeable with each other, but whole sequences are. With T steps
    in a row, q is the ⌈(n + 1) · T · level⌉-th smallest of all n · T scores, which makes the expected
    share of a new sequence's steps inside at least ``level`` (conformal risk control, Angelopoulos et
    al. 2024, Theorem 1).

    Args:
      multipliers: q for each output, or None for infinite intervals, if the rows are too few.
      level: the guaranteed coverage.
    """

    multipliers: tuple[float | None, ...]
    level: float

    @classmethod
    def _learn(cls, rows: HeldOut, level: float = 0.95) -> "ConformalIntervals":
        held_out = ConformalScores._learn(rows)
        try:
            return cls(tuple(held_out.multipliers(level).tolist()), level)
        except UnreachableLevel as error:
            warnings.warn(f"{error} Until then the intervals are infinite.", stacklevel=3)
            return cls((None,) * len(held_out.scores), level)

    def interval(
        self, mean: np.ndarray, aleatoric_variance: np.ndarray, epistemic_variance: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return lower and upper ends for new rows."""
        variances = Variances.checked(aleatoric_variance, epistemic_variance)
        mean, total = matched(mean=mean, total_variance=variances.total)
        reach = tuple(math.inf if one is None else one for one in self.multipliers)
        half = for_outputs(reach, mean) * np.sqrt(total)
        return mean - half, mean + half
