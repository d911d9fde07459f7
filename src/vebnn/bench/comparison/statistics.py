"""Tests and ranks of paired scores (Demšar 2006)."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pandas
from scipy.stats import rankdata, wilcoxon

# With five pairs even five wins out of five have p = 2/2⁵ = 0.0625.
FEWEST_PAIRS = 6
SIGNIFICANT = 0.05


class SignedRank(NamedTuple):
    """Wilcoxon's signed-rank test of paired scores, two-sided."""

    num_pairs: int
    p_value: float | None  # None if there are too few pairs
    direction: int  # 1 if the first scores are larger by rank sum, -1 if the second are

    @property
    def significant(self) -> bool:
        """Return whether the scores differ significantly."""
        return self.p_value is not None and self.p_value < SIGNIFICANT


def signed_rank(differences: Sequence[float] | np.ndarray | pandas.Series) -> SignedRank:
    """Test whether paired scores differ (Wilcoxon 1945); pairs without a difference do not count.

    Args:
      differences: the first score minus the second, for each pair.
    """
    every = np.asarray(differences, float)
    some = every[every != 0]
    direction = int(np.sign(np.sum(np.sign(some) * rankdata(np.abs(some))))) if some.size else 0
    if every.size < FEWEST_PAIRS:
        return SignedRank(every.size, None, direction)
    p_value = float(wilcoxon(some).pvalue) if some.size else 1.0
    return SignedRank(every.size, p_value, direction)


class Ranks(NamedTuple):
    """Average ranks of methods; 1 is best, and ties share."""

    average: Mapping[str, float]
    datasets: tuple[str, ...]  # those on which all methods have a number


def average_ranks(losses: pandas.DataFrame) -> Ranks:
    """Rank methods on every data set that all of them have, and average.

    Args:
      losses: methods × data sets; smaller is better. Methods without a number are left out.
    """
    common = losses.dropna(how="all").dropna(axis="columns")
    average = common.rank().mean(axis="columns").dropna()
    return Ranks(average.to_dict(), tuple(common.columns))
