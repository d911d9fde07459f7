"""Cooperative against joint training with the same engine, split by split."""

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
    """Two methods on one data set, over the splits that both have."""

    advantage: float  # of the cooperative mean; positive is better
    wins: int
    losses: int
    ties: int
    test: SignedRank


@dataclass(frozen=True)
class PairedComparison:
    """A cooperative method against a joint one with the same engine."""

    metric: Metric  # what they are compared by
    engine: str  # the paper's name
    cooperative: str
    joint: str
    by_dataset: Mapping[str, OnDataset]  # the comparison on each data set
    over_means: SignedRank  # test of the advantages of the means, one for each data set
    over_pairs: SignedRank  # test of the advantages on all splits of all data sets together

    @property
    def better_on(self) -> int:
        """Return on how many data sets the cooperative mean is better."""
        return sum(one.advantage > 0 for one in self.by_dataset.values())

    @property
    def score(self) -> tuple[int, int, int]:
        """Return splits won, lost and tied, over all data sets."""
        every = self.by_dataset.values()
        return sum(o.wins for o in every), sum(o.losses for o in every), sum(o.ties for o in every)


def paired_comparisons(results: Results, metric: Metric) -> list[PairedComparison]:
    """Compare every cooperative method with every joint one of its engine, if they share splits."""
    methods = ordered_methods(row["method"] for row in results.rows)
    known = [METHODS[name] for name in methods if are_variants(family_of(name))]
    found = [
        _compare(results, metric, one.engine or "", one.name, other.name)
        for one in known
        for other in known
        if one.engine == other.engine and (one.strategy, other.strategy) == ("cooperative", "joint")
    ]
    return [comparison for comparison in found if comparison.by_dataset]


def advantage(metric: Metric, cooperative: np.ndarray, joint: np.ndarray) -> np.ndarray:
    """Return how much better the first is, on a scale that all data sets share.

    A difference of log-likelihoods has no units. Errors have those of the targets, so their
    difference is divided by their average; the result lies between -2 and 2.
    """
    gain = cooperative - joint if metric.goal == "larger" else joint - cooperative
    if not metric.in_units:
        return gain
    scale = (np.abs(cooperative) + np.abs(joint)) / 2
    return np.divide(gain, scale, out=np.zeros_like(gain), where=scale > 0)


def _compare(
    results: Results, metric: Metric, engine: str, cooperative: str, joint: str
) -> PairedComparison:
    by_dataset, advantages = {}, []
    for dataset in ordered_datasets(row["dataset"] for row in results.rows):
        ours, theirs = paired(
            results.scores(metric.field, cooperative, dataset),
            results.scores(metric.field, joint, dataset),
        )
        if ours.size:
            by_dataset[dataset] = _on_dataset(metric, ours, theirs)
            advantages.append(advantage(metric, ours, theirs))
    return PairedComparison(
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
    return OnDataset(float(of_means[0]), wins, losses, len(gain) - wins - losses, signed_rank(gain))


def combinations_won(comparisons: Sequence[PairedComparison]) -> tuple[int, int]:
    """Return in how many combinations of pair and data set cooperation is better, and of how many."""
    return sum(one.better_on for one in comparisons), sum(len(one.by_dataset) for one in comparisons)
