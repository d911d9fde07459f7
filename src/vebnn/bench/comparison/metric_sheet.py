"""The paper's table of one metric, with the paper's numbers below ours."""

import math
from itertools import groupby
from string import ascii_lowercase

import pandas

from vebnn.bench.comparison.measures import Metric
from vebnn.bench.comparison.metric_table import MetricTable
from vebnn.bench.comparison.order import family_of
from vebnn.bench.comparison.statistics import FEWEST_PAIRS, Ranks
from vebnn.bench.render.sheet import MISSING, Cell, Sheet
from vebnn.tabular.errors import counted

RAISED = {"": "", "+": "+", "-": "−"}
MOST_DECIMALS = 6
WORST = "†"

MEAN_AND_STD = (
    "Mean (std) over splits; bold and underlined is the best, bold the second, italic the best of its "
    "family (methods with the same engine)."
)
MARKS = (
    "* the best is significantly better than the second; + significantly better than the others of its "
    "family, − significantly worse than its best (Wilcoxon signed-rank test over splits, p < 0.05)."
)


def metric_sheet(table: MetricTable, *, paper: bool = False, worst: bool = False) -> Sheet:
    """Return the table of a metric.

    ``paper`` puts published numbers, and differences, below ours; ``worst`` marks the data set on which
    a method is worst, for metrics that can be compared between data sets.
    """
    metric, entries, ranked = table.metric, table.entries, len(table.ranks.average) > 1
    reasons = list(table.cells["skipped"].dropna().unique())
    decimals = {dataset: decimals_of(table, dataset) for dataset in table.datasets}

    def cell(method: str, dataset: str) -> Cell:
        entry, digits = entries[method, dataset], decimals[dataset]
        footnote = letter(reasons.index(entry["skipped"])) if entry["skipped"] else ""
        footnote += WORST * (worst and dataset == table.worst(method))
        if not entry["splits"]:
            return Cell(MISSING, raised=footnote)
        text = f"{entry['mean']:.{digits}f}"
        text += f" ({entry['std']:.{digits}f})" if entry["splits"] > 1 else ""
        text += f", n={entry['splits']}" if entry["splits"] < table.usual_splits else ""
        below = ""
        if paper and pandas.notna(entry["difference"]):
            below = f"paper {entry['paper_mean']:.{digits}f}, {entry['difference']:+.{digits}f}"
        return Cell(
            text,
            bold=bool(entry["place"]),
            underline=entry["place"] == "best",
            italic=entry["best_of_family"],
            raised="*" * entry["significantly_best"] + RAISED[entry["against_family"]] + footnote,
            below=below,
            sort=entry["mean"],
        )

    def row(method: str) -> list[Cell]:
        rank = [rank_cell(table.ranks, method)] if ranked else []
        return [Cell(method), *(cell(method, dataset) for dataset in table.datasets), *rank]

    return Sheet(
        title=f"{metric.name} ({metric.arrow})",
        caption=_caption(metric, paper and table.has_published, len(table.methods) > 1)
        + (f" {WORST} the data set on which the method is worst." if worst else ""),
        columns=("method", *table.datasets, *(["rank"] if ranked else [])),
        groups=[[row(name) for name in names] for _, names in groupby(table.methods, key=family_of)],
        notes=[*(f"{letter(at)}: {why}" for at, why in enumerate(reasons)), *_notes(table)],
    )


def decimals_of(table: MetricTable, dataset: str) -> int:
    """Return enough decimals for two digits of the smallest mean with units: 0.0064, 4.70."""
    metric, cells = table.metric, table.cells
    if not metric.in_units:
        return metric.decimals
    means = cells.loc[cells["dataset"] == dataset, "mean"].abs()
    digits = 1 - math.floor(math.log10(min(means[means > 0], default=1.0)))
    return min(MOST_DECIMALS, max(metric.decimals, digits))


def rank_cell(ranks: Ranks, method: str) -> Cell:
    """Return the average rank of a method; the best is bold and underlined."""
    if method not in ranks.average:
        return Cell(MISSING)
    average = ranks.average[method]
    best = average == min(ranks.average.values())
    return Cell(f"{average:.2f}", bold=best, underline=best, sort=average)


def letter(number: int) -> str:
    """Return a, b, …, z, aa, ab, … for 0, 1, …."""
    rest, last = divmod(number, len(ascii_lowercase))
    return (letter(rest - 1) if rest else "") + ascii_lowercase[last]


def _caption(metric: Metric, paper: bool, marked: bool) -> str:
    sentences = [f"{metric.words[0].upper()}{metric.words[1:]}."]
    if marked:
        sentences += [MEAN_AND_STD, *([MARKS] if metric.tested else [])]
    if marked and metric.target is not None:
        sentences.append(f"The best mean is the one closest to {metric.target}.")
    if paper:
        sentences.append("Below: the paper's mean over its own splits, and ours minus the paper's.")
    return " ".join(sentences)


def _notes(table: MetricTable) -> list[str]:
    notes, usual = [], table.usual_splits
    counts = set(table.cells["splits"]) - {0}
    if counts:
        fewer = "; n= where there are fewer. Tests use the splits both methods have"
        notes.append(f"{counted(usual, 'split')}{fewer if len(counts) > 1 else ''}.")
    if len(table.methods) == 1:
        notes.append("One method: there is nothing to compare it with.")
    if table.untested:
        few = f"a test needs at least {FEWEST_PAIRS} splits that both methods have"
        where = "" if table.untested == table.datasets else f" on {', '.join(table.untested)}"
        notes.append(f"Marks of significance are missing{where}: {few}.")
    if len(table.ranks.average) > 1:
        left_out = [name for name in table.datasets if name not in table.ranks.datasets]
        without = f"; without {', '.join(left_out)}, where some method has no number"
        num = len(table.ranks.datasets)
        notes.append(
            f"Rank: average over {counted(num, 'data set')}: "
            f"{', '.join(table.ranks.datasets)}{without if left_out else ''}. Ties share their rank."
        )
    elif len(table.methods) > 1:
        notes.append("No rank: there is no data set on which all methods have a number.")
    return notes
