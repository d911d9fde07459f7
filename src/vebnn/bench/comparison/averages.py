"""Averages over data sets or problems, for metrics that can be compared between them."""

from collections.abc import Sequence

from vebnn.bench.comparison.metric_table import MetricTable
from vebnn.bench.comparison.order import ordered_methods
from vebnn.bench.render.sheet import MISSING, Cell, Sheet


def average(table: MetricTable, method: str) -> float | None:
    """Return a method's average over the data sets of a table; ``None`` unless it has all of them."""
    if method not in table.methods or table.means.loc[method].isna().any():
        return None
    return float(table.means.loc[method].mean())


def averages_sheet(tables: Sequence[MetricTable], title: str, caption: str) -> Sheet:
    """Return a row per method and a column per metric: the average, and below it the worst value."""

    def cell(table: MetricTable, method: str) -> Cell:
        mean = average(table, method)
        if mean is None:
            return Cell(MISSING)
        every = [average(table, name) for name in table.methods]
        best = min(table.metric.loss(value) for value in every if value is not None)
        worst, digits = table.worst(method), table.metric.decimals
        is_best = table.metric.loss(mean) == best
        below = "" if worst is None else f"{table.means.loc[method, worst]:.{digits}f}, {worst}"
        return Cell(f"{mean:.{digits}f}", bold=is_best, underline=is_best, below=below, sort=mean)

    methods = ordered_methods(method for table in tables for method in table.methods)
    return Sheet(
        title,
        f"{caption} Bold and underlined is the best average; below it is the worst value, and where.",
        ("method", *(f"{table.metric.name} ({table.metric.arrow})" for table in tables)),
        [[[Cell(method), *(cell(table, method) for table in tables)] for method in methods]],
        [f"{MISSING}: the method does not give this number, or was not run everywhere."],
    )
