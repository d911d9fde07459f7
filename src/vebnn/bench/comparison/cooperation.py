"""Does cooperation help? VeBNN against joint training with the same engine, split by split."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from vebnn.bench.comparison.measures import Metric
from vebnn.bench.comparison.order import are_variants, family_of, ordered_datasets, ordered_methods
from vebnn.bench.comparison.reading import Results
from vebnn.bench.comparison.statistics import SignedRank, paired, signed_rank
from vebnn.bench.methods import METHODS

FIELDS = ("tll", "crps", "rmse", "wasserstein", "rmse_percent")


class OnDataset(NamedTuple):
    """The two on one data set, over the splits that both have."""

    advantage: float  # of the cooperative mean; positive is better
    wins: int
    losses: int
    ties: int
    test: SignedRank


@dataclass(frozen=True)
class Duel:
    """A cooperative method against a joint one with the same engine.

    Args:
      metric: what they are compared by.
      engine: the paper's name.
      cooperative: the method.
      joint: the other method.
      by_dataset: how it went on each data set.
      over_means: test of the advantages of the means, one for each data set.
      over_pairs: test of the advantages on all splits of all data sets together.
    """

    metric: Metric
    engine: str
    cooperative: str
    joint: str
    by_dataset: Mapping[str, OnDataset]
    over_means: SignedRank
    over_pairs: SignedRank

    @property
    def better_on(self) -> int:
        """Return on how many data sets the cooperative mean is better."""
        return sum(one.advantage > 0 for one in self.by_dataset.values())

    @property
    def score(self) -> tuple[int, int, int]:
        """Return splits won, lost and tied, over all data sets."""
        every = self.by_dataset.values()
        return sum(o.wins for o in every), sum(o.losses for o in every), sum(o.ties for o in every)


def duels(results: Results, metric: Metric) -> list[Duel]:
    """Return every cooperative method against every joint one with its engine, if splits are shared."""
    methods = ordered_methods(row["method"] for row in results.rows)
    known = [METHODS[name] for name in methods if are_variants(family_of(name))]
    pairs = [
        (one, other)
        for one in known
        for other in known
        if one.engine == other.engine and (one.strategy, other.strategy) == ("cooperative", "joint")
    ]
    fought = [_duel(results, metric, one.engine or "", one.name, other.name) for one, other in pairs]
    return [duel for duel in fought if duel.by_dataset]


def advantage(metric: Metric, cooperative: np.ndarray, joint: np.ndarray) -> np.ndarray:
    """Return how much better the first is, so that data sets may be put together.

    A difference of log-likelihoods has no units. Errors have those of the targets, so their
    difference is divided by their average; it is a share, between -2 and 2.
    """
    gain = cooperative - joint if metric.goal == "larger" else joint - cooperative
    if not metric.in_units:
        return gain
    scale = (np.abs(cooperative) + np.abs(joint)) / 2
    return np.divide(gain, scale, out=np.zeros_like(gain), where=scale > 0)


def _duel(results: Results, metric: Metric, engine: str, cooperative: str, joint: str) -> Duel:
    by_dataset, advantages = {}, []
    for dataset in ordered_datasets(row["dataset"] for row in results.rows):
        ours, theirs = paired(
            results.scores(metric.field, cooperative, dataset),
            results.scores(metric.field, joint, dataset),
        )
        if ours.size:
            by_dataset[dataset] = _on_dataset(metric, ours, theirs)
            advantages.append(advantage(metric, ours, theirs))
    return Duel(
        metric,
        engine,
        cooperative,
        joint,
        by_dataset,
        over_means=signed_rank([one.advantage for one in by_dataset.values()]),
        over_pairs=signed_rank(np.concatenate(advantages) if advantages else []),
    )


def _on_dataset(metric: Metric, ours: np.ndarray, theirs: np.ndarray) -> OnDataset:
    gain = ours - theirs if metric.goal == "larger" else theirs - ours
    of_means = advantage(metric, np.array([ours.mean()]), np.array([theirs.mean()]))
    wins, losses = int(np.sum(gain > 0)), int(np.sum(gain < 0))
    return OnDataset(
        advantage=float(of_means[0]),
        wins=wins,
        losses=losses,
        ties=len(gain) - wins - losses,
        test=signed_rank(gain),
    )


def combinations_won(fought: Sequence[Duel]) -> tuple[int, int]:
    """Return in how many pairs of duel and data set the cooperative mean is better, and of how many."""
    return sum(duel.better_on for duel in fought), sum(len(duel.by_dataset) for duel in fought)
