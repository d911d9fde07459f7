"""Cooperative against joint training with the same engine, split by split."""

from typing import Any

import numpy as np
import pandas

from vebnn.bench.comparison.measures import Metric
from vebnn.bench.comparison.order import are_variants, family_of, ordered_datasets, ordered_methods
from vebnn.bench.comparison.reading import Results
from vebnn.bench.comparison.statistics import signed_rank
from vebnn.bench.methods import METHODS

FIELDS = ("tll", "crps", "rmse", "wasserstein", "rmse_percent")


def paired_comparisons(results: Results, metric: Metric) -> pandas.DataFrame:
    """Compare every cooperative method with every joint one of its engine, if they share splits.

    A row is a pair of methods on a data set, with the columns of ``cooperation.csv``: the ``advantage``
    of the cooperative mean (positive is better), splits won, lost and tied, and p of three tests: over
    the splits of the data set, over the advantages of the means of all data sets, and over those of
    all splits of all data sets. There is no p for too few pairs.
    """
    methods = ordered_methods(row["method"] for row in results.rows)
    known = [METHODS[name] for name in methods if name in METHODS and are_variants(family_of(name))]
    rows = [
        row
        for one in known
        for other in known
        if one.engine == other.engine and (one.strategy, other.strategy) == ("cooperative", "joint")
        for row in _compare(results, metric, one.name, other.name)
    ]
    return pandas.DataFrame(rows)


def advantage(metric: Metric, cooperative: np.ndarray, joint: np.ndarray) -> np.ndarray:
    """Return how much better the first is, on a scale that all data sets share.

    A difference of log-likelihoods has no units. Errors have those of the targets, so their
    difference is divided by their average; the result lies between -2 and 2.
    """
    gain = metric.gain(cooperative, joint)
    if not metric.in_units:
        return gain
    scale = (np.abs(cooperative) + np.abs(joint)) / 2
    return np.divide(gain, scale, out=np.zeros_like(gain), where=scale > 0)


def _compare(results: Results, metric: Metric, cooperative: str, joint: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    advantages: list[float] = []
    for dataset in ordered_datasets(row["dataset"] for row in results.rows):
        scores = [results.scores(metric.field, name, dataset) for name in (cooperative, joint)]
        ours, theirs = pandas.concat(scores, axis=1, join="inner").to_numpy().T
        if not ours.size:
            continue
        gain = metric.gain(ours, theirs)
        means = ours.mean(keepdims=True), theirs.mean(keepdims=True)
        row = {
            "metric": metric.field,
            "cooperative": cooperative,
            "joint": joint,
            "dataset": dataset,
            "advantage": float(advantage(metric, *means)[0]),
            "wins": int(np.sum(gain > 0)),
            "losses": int(np.sum(gain < 0)),
            "ties": int(np.sum(gain == 0)),
            "p_value": signed_rank(gain).p_value,
        }
        rows.append(row)
        advantages.extend(advantage(metric, ours, theirs))
    over = {
        "p_value_over_means": signed_rank([row["advantage"] for row in rows]).p_value,
        "p_value_over_pairs": signed_rank(advantages).p_value,
    }
    return [row | over for row in rows]
