"""Intervals that trust no distribution: split conformal prediction."""

import math
import warnings
from dataclasses import dataclass, field

import numpy as np

from vebnn.calibration.rows import error_scores, for_outputs, parts_of, rank_of, total_std
from vebnn.core.arguments import require_number
from vebnn.metrics.arrays import matched


class UnreachableLevel(ValueError):
    """A level for which the held-out rows are too few."""


@dataclass(frozen=True)
class ConformalScores:
    """Conformal intervals of every level: all that :class:`ConformalIntervals` can be learned from.

    The guarantee is for rows that were used in no other way. If they also stopped the training early or
    decided another choice, it holds only approximately.

    Args:
      scores: \\|y − mean\\| / std of the held-out rows in increasing order, for each output.
      num_rows: how many rows; a sequence is one.
    """

    scores: tuple[tuple[float, ...], ...] = field(repr=False)
    num_rows: int

    @classmethod
    def learn(
        cls,
        y: np.ndarray,
        mean: np.ndarray,
        aleatoric_variance: np.ndarray,
        epistemic_variance: np.ndarray,
    ) -> "ConformalScores":
        """Learn from held-out rows.

        Raises:
          ValueError: if arrays do not fit.
        """
        scores = np.sort(error_scores(y, mean, aleatoric_variance, epistemic_variance), axis=0)
        return cls(tuple(map(tuple, scores.T.tolist())), len(y))

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
    """Return the smallest number of held-out rows whose intervals of that level are finite."""
    return math.ceil(round(level / (1 - level), 9))


@dataclass(frozen=True)
class ConformalIntervals:
    """Intervals mean ± q · std that hold at least ``level`` of new targets, of whatever distribution.

    Split conformal prediction (Papadopoulos et al. 2002; Lei et al. 2018, secs. 2.2 and 5.2) with the
    score \\|y − mean\\| / std: q is the ⌈(n + 1) · level⌉-th smallest score of n held-out rows. If
    those and a new row are exchangeable, P(new target inside) ≥ level, averaged over draws of both.

    The steps of a sequence are not exchangeable with each other, but whole sequences are. With T steps
    in a row, q is the ⌈(n + 1) · T · level⌉-th smallest of all n · T scores, which makes the expected
    share of a new sequence's steps inside at least ``level`` (conformal risk control, Angelopoulos et
    al. 2024, Theorem 1).

    Args:
      multipliers: q for each output, or None for an infinite interval.
      level: what is guaranteed.
    """

    multipliers: tuple[float | None, ...]
    level: float

    @classmethod
    def learn(
        cls,
        y: np.ndarray,
        mean: np.ndarray,
        aleatoric_variance: np.ndarray,
        epistemic_variance: np.ndarray,
        level: float = 0.95,
    ) -> "ConformalIntervals":
        """Learn from held-out rows; warns if they are too few for anything but infinite intervals.

        Raises:
          ValueError: if arrays do not fit.
        """
        held_out = ConformalScores.learn(y, mean, aleatoric_variance, epistemic_variance)
        try:
            return cls(tuple(held_out.multipliers(level).tolist()), level)
        except UnreachableLevel:
            warnings.warn(
                f"Conformal intervals of level {level:g} need at least {rows_needed(level)} held-out "
                f"rows. Got {held_out.num_rows}, so the intervals are infinite; hold out more rows or "
                f"lower the level.",
                stacklevel=2,
            )
            return cls((None,) * len(held_out.scores), level)

    def interval(
        self, mean: np.ndarray, aleatoric_variance: np.ndarray, epistemic_variance: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return lower and upper ends for new rows."""
        mean, aleatoric, epistemic = matched(
            mean=mean, aleatoric_variance=aleatoric_variance, epistemic_variance=epistemic_variance
        )
        reach = tuple(math.inf if one is None else one for one in self.multipliers)
        half = for_outputs(reach, mean) * total_std(parts_of(aleatoric, epistemic))
        return mean - half, mean + half
