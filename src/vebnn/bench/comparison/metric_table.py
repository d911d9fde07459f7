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

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

import pandas

from vebnn.bench.comparison.measures import Metric
from vebnn.bench.comparison.order import are_variants, family_of, ordered_datasets, ordered_methods
from vebnn.bench.comparison.published import published
from vebnn.bench.comparison.reading import Results
from vebnn.bench.comparison.statistics import Ranks, SignedRank, average_ranks, signed_rank

# The columns of marks: "best" or "second"; a star; the best of its family; "+" or "-".
UNMARKED: dict[str, Any] = {
    "place": "",
    "significantly_best": False,
    "best_of_family": False,
    "against_family": "",
}


@dataclass(frozen=True)
class MetricTable:
    """A metric of all methods on all data sets."""

    metric: Metric
    # A row per method and data set, in order, with the columns of ``tables.csv``.
    cells: pandas.DataFrame
    ranks: Ranks  # average ranks over the data sets that all methods with numbers have
    untested: tuple[str, ...]  # data sets on which a test was wanted, but had too few common splits

    @property
    def methods(self) -> tuple[str, ...]:
        """Return the methods in order."""
        return tuple(self.cells["method"].unique())

    @property
    def datasets(self) -> tuple[str, ...]:
        """Return the data sets in order."""
        return tuple(self.cells["dataset"].unique())

    @property
    def usual_splits(self) -> int:
        """Return how many splits a cell has, unless it says otherwise."""
        return max(self.cells["splits"], default=0)

    @property
    def has_published(self) -> bool:
        """Return whether the paper has a number for any of ours."""
        return bool(self.cells["difference"].notna().any())

    @property
    def entries(self) -> dict[tuple[str, str], dict[str, Any]]:
        """Return the cells by method and data set."""
        return self.cells.set_index(["method", "dataset"]).to_dict("index")

    @property
    def means(self) -> pandas.DataFrame:
        """Return the means, methods × data sets in order; NaN where there is no number."""
        wide = self.cells.pivot(index="method", columns="dataset", values="mean")
        return wide.reindex(index=list(self.methods), columns=list(self.datasets)).astype(float)

    def worst(self, method: str) -> str | None:
        """Return the data set on which a method is worst, if it has at least two."""
        losses = self.means.loc[method].dropna().map(self.metric.loss)
        return losses.idxmax() if len(losses) > 1 else None


def compare(results: Results, metric: Metric) -> MetricTable:
    """Return the table of one metric.

    A method without this number is left out, unless all its rows say why they have none.
    """
    names = ordered_methods(row["method"] for row in results.rows)
    datasets = ordered_datasets(row["dataset"] for row in results.rows)
    scores = {
        dataset: {name: results.scores(metric.field, name, dataset) for name in names}
        for dataset in datasets
    }
    marked = {dataset: _marks(metric, scores[dataset]) for dataset in datasets}
    rows = []
    for name, dataset in product(names, datasets):
        values = scores[dataset][name]
        known = published(metric.field, name, dataset, results.experiment)
        numbers = {
            "splits": len(values),
            "mean": values.mean(),
            "std": values.std(),
            **marked[dataset][0].loc[name],
            "average_rank": None,
            "paper_mean": known and known.mean,
            "paper_std": known and known.std,
            "difference": known and values.mean() - known.mean,
            "skipped": results.why_skipped(name, dataset),
        }
        rows.append({"metric": metric.field, "method": name, "dataset": dataset, **numbers})
    cells = pandas.DataFrame(rows)
    with_rows = {row["method"] for row in results.rows if not row.get("skipped")}
    most_splits = cells.groupby("method")["splits"].transform("max")
    cells = cells[(most_splits > 0) | ~cells["method"].isin(with_rows)]
    said = (cells["splits"] > 0) | cells["skipped"].notna()
    cells = cells[said.groupby(cells["dataset"]).transform("any")]
    losses = cells.assign(loss=cells["mean"].map(metric.loss)).pivot(
        index="method", columns="dataset", values="loss"
    )
    ranks = average_ranks(losses.reindex(cells["method"].unique(), columns=cells["dataset"].unique()))
    cells = cells.assign(average_rank=cells["method"].map(ranks.average))
    untested = tuple(name for name in cells["dataset"].unique() if marked[name][1])
    return MetricTable(metric, cells, ranks, untested)


def _marks(metric: Metric, scores: Mapping[str, pandas.Series]) -> tuple[pandas.DataFrame, bool]:
    """Return the marks of every method on one data set, and whether a test had too few pairs."""
    marks = pandas.DataFrame(UNMARKED, index=list(scores))
    means = {name: values.mean() for name, values in scores.items() if len(values)}
    losses = pandas.Series(means, dtype=float).map(metric.loss)
    tests: list[SignedRank] = []

    def against(best: str, others: pandas.Series) -> list[SignedRank]:
        gains = [metric.gain(scores[best], scores[other]).dropna() for other in others.index]
        found = [signed_rank(gain) for gain in gains] if metric.tested else []
        tests.extend(found)
        return found

    if len(losses) > 1:
        best, others = _split_off_best(losses)
        marks.loc[best.index, "place"] = "best"
        if len(best) == 1:
            seconds, _ = _split_off_best(others)
            marks.loc[seconds.index, "place"] = "second"
            found = against(best.index[0], seconds)
            # Of several seconds, all must be worse.
            marks.loc[best.index, "significantly_best"] = bool(found) and all(map(_better, found))
    for family, members in losses.groupby(family_of):
        if not are_variants(family) or len(members) == 1:
            continue
        best, others = _split_off_best(members)
        marks.loc[best.index, "best_of_family"] = True
        found = against(best.index[0], others)
        if len(best) == 1 and found and all(map(_better, found)):
            marks.loc[best.index, "against_family"] = "+"
        for other, test in zip(others.index, found, strict=False):
            if test.significant:
                marks.loc[other, "against_family"] = "-" if _better(test) else "+"
    return marks, any(test.p_value is None for test in tests)


def _split_off_best(losses: pandas.Series) -> tuple[pandas.Series, pandas.Series]:
    return losses[losses == losses.min()], losses[losses > losses.min()]


def _better(test: SignedRank) -> bool:
    return test.significant and test.direction > 0
