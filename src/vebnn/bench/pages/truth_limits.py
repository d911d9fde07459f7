"""The limits that the default model must keep on problems with known mean and noise."""

from collections.abc import Iterator, Mapping

from vebnn.bench.comparison.averages import average
from vebnn.bench.comparison.metric_table import MetricTable
from vebnn.bench.render.limits import Check, Column, checks_sheet
from vebnn.bench.render.sheet import Sheet
from vebnn.datasets.truth import PROBLEMS

OURS = "VeBNN (pSGHMC)"
PROCESS = "GP (4 starts)"
FEWEST_ROWS = 60  # coverage on a single problem has limits from here


def has_ours(tables: Mapping[str, MetricTable]) -> bool:
    """Return whether the default model has numbers."""
    return any(OURS in table.methods for table in tables.values())


def limits_sheet(tables: Mapping[str, MetricTable]) -> Sheet:
    """Return the limits, what the default model has and whether they hold."""
    caption = f"Of {OURS}, set before the run. Averages are over the problems of the first table."
    return checks_sheet(caption, checks(tables))


def checks(tables: Mapping[str, MetricTable]) -> Iterator[Check]:
    """Yield every check whose numbers are there."""
    between = Column("", low=0.93, high=0.97)
    ours = {field: average(table, OURS) for field, table in tables.items()}
    yield from _against_others(tables, ours)
    limits = {
        "epistemic_coverage": ("epistemic coverage, average", between),
        "noise_error": ("noise error, average", Column("", high=0.20)),
        "coverage": ("coverage of targets, average", between),
    }
    for field, (words, limit) in limits.items():
        if (value := ours.get(field)) is not None:
            yield Check(words, value, limit)
    if "epistemic_coverage" in tables and OURS in tables["epistemic_coverage"].methods:
        shares = tables["epistemic_coverage"].means.loc[OURS].dropna()
        usual = shares[[name for name in shares.index if PROBLEMS[name].num_rows >= FEWEST_ROWS]]
        for word, place in (("lowest", usual.idxmin), ("highest", usual.idxmax)) if len(usual) else ():
            words = f"epistemic coverage, {word} on a problem of {FEWEST_ROWS} rows or more: {place()}"
            yield Check(words, float(usual[place()]), Column("", low=0.88, high=0.99))


def _against_others(
    tables: Mapping[str, MetricTable], ours: Mapping[str, float | None]
) -> Iterator[Check]:
    errors, gaps = tables["mean_error"], tables["tll_gap"]
    process = average(errors, PROCESS)
    if ours["mean_error"] is not None and process is not None:
        ratio = ours["mean_error"] / process
        yield Check(f"average RMSE / noise over that of {PROCESS}", ratio, Column("", high=1.1))
    if OURS in errors.methods and len(errors.methods) > 1:
        ratios = (errors.means.loc[OURS] / errors.means.min()).dropna()
        words = f"largest RMSE over the best method's: {ratios.idxmax()}"
        yield Check(words, float(ratios.max()), Column("", high=1.5))
    others = [average(gaps, name) for name in gaps.methods if name != OURS]
    best = max((value for value in others if value is not None), default=None)
    if ours["tll_gap"] is not None and best is not None:
        words = "average TLL minus the best average of the other methods"
        yield Check(words, ours["tll_gap"] - best, Column("", low=0))
