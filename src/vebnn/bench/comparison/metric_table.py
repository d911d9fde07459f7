"""One metric of all methods on all data sets, with the marks of the paper's tables.

On every data set the best and the second mean are marked. The best has a star if it is significantly
better than the second. The best of each inference family (methods with the same engine) is marked; it
has a plus if it is significantly better than every other variant, and another variant has a minus if it
is significantly worse than the best. Significant is p < 0.05 in Wilcoxon's signed-rank test over the
splits both methods have.

Departures: the paper writes plus and minus only on rows of VeBNN, here any row may have one. Means and
signed ranks can disagree if one split is an outlier: a variant whose mean is worse, but which is
significantly better by the test, has a plus.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from vebnn.bench.comparison.measures import Metric
from vebnn.bench.comparison.order import are_variants, family_of, ordered_datasets, ordered_methods
from vebnn.bench.comparison.published import Published, published
from vebnn.bench.comparison.reading import Results
from vebnn.bench.comparison.statistics import (
    FEWEST_PAIRS,
    Ranks,
    SignedRank,
    average_ranks,
    paired,
    signed_rank,
)


@dataclass
class Entry:
    """A method on a data set."""

    scores: Mapping[int, float]  # by split
    skipped: str | None  # why there are none, or fewer, if a row says it
    published: Published | None  # the paper's number
    best: bool = field(default=False, init=False)
    second: bool = field(default=False, init=False)
    star: bool = field(default=False, init=False)
    best_of_family: bool = field(default=False, init=False)
    mark: str = field(default="", init=False)  # "+" or "-"

    @property
    def mean(self) -> float:
        """Return the mean over splits."""
        return float(np.mean(list(self.scores.values())))

    @property
    def std(self) -> float | None:
        """Return the standard deviation over splits, if there are two."""
        values = list(self.scores.values())
        return float(np.std(values, ddof=1)) if len(values) > 1 else None


@dataclass(frozen=True)
class MetricTable:
    """A metric of all methods on all data sets."""

    metric: Metric
    methods: tuple[str, ...]  # in order
    datasets: tuple[str, ...]  # in order
    entries: Mapping[tuple[str, str], Entry]  # by method and data set
    ranks: Ranks  # average ranks over the data sets that all methods with numbers have
    untested: tuple[str, ...]  # data sets on which a test was wanted, but had too few common splits

    @property
    def usual_splits(self) -> int:
        """Return how many splits an entry has, unless it says otherwise."""
        return max((len(entry.scores) for entry in self.entries.values()), default=0)


def compare(results: Results, metric: Metric) -> MetricTable:
    """Return the table of one metric.

    A method without this number is left out, unless all its rows say why they have none.
    """
    all_datasets = ordered_datasets(row["dataset"] for row in results.rows)
    with_numbers = {row["method"] for row in results.rows if not row.get("skipped")}
    lines: dict[str, dict[str, Entry]] = {}
    for method in ordered_methods(row["method"] for row in results.rows):
        line = {
            dataset: Entry(
                results.scores(metric.field, method, dataset),
                results.why_skipped(method, dataset),
                published(metric.field, method, dataset, results.experiment),
            )
            for dataset in all_datasets
        }
        if method not in with_numbers or any(entry.scores for entry in line.values()):
            lines[method] = line
    datasets = tuple(
        dataset
        for dataset in all_datasets
        if any(line[dataset].scores or line[dataset].skipped for line in lines.values())
    )
    untested = tuple(
        dataset
        for dataset in datasets
        if not _mark(metric, {method: line[dataset] for method, line in lines.items()})
    )
    losses = {
        method: {name: metric.loss(line[name].mean) for name in datasets if line[name].scores}
        for method, line in lines.items()
    }
    ranks = average_ranks({method: found for method, found in losses.items() if found})
    entries = {(method, name): line[name] for method, line in lines.items() for name in datasets}
    return MetricTable(metric, tuple(lines), datasets, entries, ranks, untested)


def _mark(metric: Metric, column: Mapping[str, Entry]) -> bool:
    """Mark the entries of one data set; return whether every test had enough pairs."""
    scored = {method: entry for method, entry in column.items() if entry.scores}
    if len(scored) < 2:
        return True
    best, others = _split_off_best(metric, list(scored.values()))
    tests = []
    for entry in best:
        entry.best = True
    if len(best) == 1:
        seconds, _ = _split_off_best(metric, others)
        for entry in seconds:
            entry.second = True
        if metric.tested:
            # Of several seconds, all must be worse.
            tests += [_test(metric, best[0], entry) for entry in seconds]
            best[0].star = all(map(_better, tests))
    for family in dict.fromkeys(map(family_of, scored)):
        members = [entry for method, entry in scored.items() if family_of(method) == family]
        if are_variants(family) and len(members) > 1:
            tests += _mark_family(metric, members)
    return all(test.num_pairs >= FEWEST_PAIRS for test in tests)


def _mark_family(metric: Metric, members: Sequence[Entry]) -> list[SignedRank]:
    best, others = _split_off_best(metric, members)
    for entry in best:
        entry.best_of_family = True
    if not metric.tested or not others:
        return []
    tests = [_test(metric, best[0], other) for other in others]
    if len(best) == 1 and all(map(_better, tests)):
        best[0].mark = "+"
    for other, test in zip(others, tests, strict=True):
        if test.significant:
            other.mark = "-" if _better(test) else "+"
    return tests


def _split_off_best(metric: Metric, entries: Sequence[Entry]) -> tuple[list[Entry], list[Entry]]:
    losses = [metric.loss(entry.mean) for entry in entries]
    best = [entry for entry, loss in zip(entries, losses, strict=True) if loss == min(losses)]
    others = [entry for entry, loss in zip(entries, losses, strict=True) if loss > min(losses)]
    return best, others


def _test(metric: Metric, first: Entry, second: Entry) -> SignedRank:
    """Test first against second; the direction is 1 if the first is better."""
    one, other = paired(first.scores, second.scores)
    return signed_rank(one - other if metric.goal == "larger" else other - one)


def _better(test: SignedRank) -> bool:
    return test.significant and test.direction > 0
