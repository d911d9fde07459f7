"""The paper's UCI tables."""

from collections.abc import Callable

import pandas

from vebnn.bench.comparison.measures import find_metrics
from vebnn.bench.comparison.metric_sheet import metric_sheet
from vebnn.bench.comparison.metric_table import compare as compare_metric
from vebnn.bench.comparison.published import published_tables
from vebnn.bench.comparison.reading import results_of
from vebnn.bench.pages.paper.evidence import (
    UNDECIDED,
    Finding,
    Rows,
    compare,
    counted_wins,
    mark_of,
    published_wins,
    same_engine,
)
from vebnn.bench.render.sheet import Sheet, cells
from vebnn.bench.results import Row

PAPER_ROWS, DEFAULT_ROWS = "uci-paper.jsonl", "uci.jsonl"
# For a mark: so many data sets with two methods on so many splits.
ENOUGH_SETS, ENOUGH_SPLITS = 5, 5
NEAR = 0.03  # of a coverage to 0.95
FIELDS = ("tll", "rmse", "coverage", "interval_length")


def better(label: str, field: str) -> Callable[[Rows], Finding | None]:
    """Return whether VeBNN is at least as good as joint training with the same engine."""

    def find(folder: Rows) -> Finding | None:
        pairs = same_engine()
        paper, default = (
            compare(folder.of(file), ("dataset",), "split", pairs, (field,))
            for file in (PAPER_ROWS, DEFAULT_ROWS)
        )
        if not paper:
            return None
        near = counted_wins(like_printed(folder, label, field))
        held = (
            f"preset paper: {counted_wins(paper)}; standard: {counted_wins(default)}. Means of VeBNN, "
            f"preset paper, within one printed std of the printed mean: {near}"
        )
        theirs = counted_wins(published_wins(label, field, pairs))
        return Finding(held, theirs, *_marked(folder, paper))

    return find


def like_printed(folder: Rows, label: str, field: str) -> list[bool]:
    """Return whether our means of VeBNN are within one printed std of the printed ones."""
    means = pandas.DataFrame(folder.of(PAPER_ROWS)).groupby(["method", "dataset"])[field].mean()
    values = next(
        table["values"]
        for table in published_tables()
        if (table["label"], table["field"]) == (label, field)
    )
    return [
        bool(abs(mean - values[method][dataset][0]) <= values[method][dataset][1])
        for (method, dataset), mean in means.items()
        if method.startswith("VeBNN") and dataset in values.get(method, {})
    ]


def _marked(folder: Rows, held: list[bool]) -> tuple[str, str]:
    """Return the mark and a remark: rows of few data sets and splits get no mark."""
    splits = pandas.DataFrame(folder.of(PAPER_ROWS)).groupby(["dataset", "method"])["split"].count()
    said = f"{splits.min()} to {splits.max()} of 20 splits of {splits.index.levshape[0]} data sets"
    enough = (splits >= ENOUGH_SPLITS).groupby("dataset").sum() >= 2
    if enough.sum() < ENOUGH_SETS:
        return UNDECIDED, f"{said}: too few for a mark"
    return mark_of(held), said


def near_095(folder: Rows) -> Finding | None:
    """Return how many mean coverages are within 0.03 of 0.95."""
    rows = folder.of(PAPER_ROWS)
    if not rows:
        return None
    means = pandas.DataFrame(rows).groupby(["dataset", "method"])["coverage"].mean()
    held = (abs(means - 0.95) <= NEAR).tolist()
    values = next(t["values"] for t in published_tables() if t["label"] == "tab:coverage_uci")
    theirs = [abs(cell[0] - 0.95) <= NEAR for by_set in values.values() for cell in by_set.values()]
    ours = f"preset paper: {counted_wins(held)}"
    return Finding(ours, counted_wins(theirs), *_marked(folder, held))


def uci_sheets(folder: Rows) -> list[Sheet]:
    """Return the four tables with published numbers, and K, R-hat and raw scores of VeBNN."""
    rows = folder.of(PAPER_ROWS)
    if not rows:
        return []
    results = results_of(rows)
    tables = [compare_metric(results, metric) for metric in find_metrics(FIELDS)]
    return [*(metric_sheet(table, paper=True) for table in tables), chains_sheet(rows)]


def chains_sheet(rows: list[Row]) -> Sheet:
    """Return K, the chosen round, R-hat, and the scores before calibration."""
    frame = pandas.DataFrame(rows)
    groups = frame.groupby(["dataset", "method"], sort=True)
    lines = []
    for (dataset, method), some in groups:
        fields = ["rounds", "chosen_round", "r_hat", "raw_tll", "raw_coverage"]
        values = some[fields].astype(float).mean()
        shown = (
            _text(values["rounds"], ".0f"),
            _text(values["chosen_round"], ".1f"),
            _text(values["r_hat"], ".2f"),
            _text(values["raw_tll"], ".2f"),
            _text(values["raw_coverage"], ".3f"),
        )
        lines.append(cells(str(dataset), str(method), str(len(some)), *shown))
    return Sheet(
        "UCI, preset paper: rounds, R-hat, and scores before calibration",
        "Means over splits. K: rounds of Steps 2 and 3; chosen: the round in use, by LMglk after the "
        "first. R-hat of one chain, as in the paper, is that of its halves.",
        ("data set", "method", "splits", "K", "chosen", "R-hat", "raw TLL", "raw TC"),
        [lines],
    )


def _text(value: float, style: str) -> str:
    return "–" if pandas.isna(value) else format(value, style)
