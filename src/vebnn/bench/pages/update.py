"""The page of ``vebnn bench update``."""

from collections.abc import Sequence

import numpy as np
import pandas

from vebnn.bench.experiments.update import MODELS, REFITTED, UPDATED
from vebnn.bench.pages.page import Page
from vebnn.bench.render.markdown import sheet_as_markdown
from vebnn.bench.render.sheet import Sheet, cells
from vebnn.bench.results import Row

TEXT = """# An update against a new fit

`model.update` continues the chains of a fitted model with all rows, old and new. Here, a model is
fitted to half of the rows of a problem of [known truth](truth.md), and updated with a quarter, twice. A
new model is fitted to all rows at once. Both have default settings.

```sh
ROWS=docs/results/update.jsonl
vebnn bench update --seeds 3 --out $ROWS
vebnn bench page $ROWS --out docs/results/update.md
```

The rows are in [update.jsonl](update.jsonl); the last command writes this page from them. Times are
processor time, because other programs ran beside; that of the update is the second one's. The ratio is
a median over seeds without seed 0, whose fits compile their programs. Take it as approximate.
"""
COLUMNS = {
    "tll_gap": ("TLL − truth's", ".3f"),
    "mean_error": ("RMSE / noise", ".3f"),
    "noise_error": ("noise error", ".3f"),
    "epistemic_coverage": ("epistemic TC", ".3f"),
    "coverage": ("TC", ".3f"),
    "r_hat": ("R-hat", ".2f"),
}


def update_page(rows: Sequence[Row]) -> Page:
    """Return the page."""
    sheets = update_sheets(rows)
    parts = [TEXT.strip(), *map(sheet_as_markdown, sheets), _verdict(_long(rows))]
    return Page("\n\n".join(parts) + "\n")


def update_sheets(rows: Sequence[Row]) -> list[Sheet]:
    """Return the table of means over seeds, for each problem and model."""
    table, names = _long(rows), {"half": "half of the rows", UPDATED: "updated", REFITTED: "new fit"}
    lines = []
    for problem, some in table.groupby("problem", sort=False):
        ratio = _ratio(some)
        for name in MODELS:
            mean = some[some["model"] == name][list(COLUMNS)].astype(float).mean()
            share = f"{ratio:.2f}" if name == UPDATED else ""
            values = [format(mean[field], form) for field, (_, form) in COLUMNS.items()]
            lines.append(cells(str(problem), names[name], *values, share))
    headings = ("problem", "model", *(heading for heading, _ in COLUMNS.values()), "time / new fit's")
    return [
        Sheet(
            "Updates and new fits",
            "Means over seeds. Columns are those of the page of known truth.",
            headings,
            [lines],
        )
    ]


def _long(rows: Sequence[Row]) -> pandas.DataFrame:
    """Return a line for each row and model."""
    return pandas.DataFrame(
        {"problem": row["problem"], "seed": row["seed"], "model": name, **row[name]}
        for row in rows
        if "skipped" not in row
        for name in MODELS
    )


def _ratio(some: pandas.DataFrame) -> float:
    """Return the median over seeds of the time of an update over that of a new fit."""
    compiled = some[some["seed"] > 0] if some["seed"].max() > 0 else some
    by_model = compiled.set_index(["problem", "seed", "model"])["cpu_seconds"].unstack()
    return float(np.median(by_model[UPDATED] / by_model[REFITTED]))


def _verdict(table: pandas.DataFrame) -> str:
    """Say how much time an update saves, and where it is worse."""
    indexed = table.set_index(["problem", "seed", "model"])
    gain, error = _gain(indexed["tll_gap"]), _gain(indexed["mean_error"])
    found = gain.groupby(level="problem", sort=False).mean()
    worse = [f"{name} ({value:.3f})" for name, value in found.items() if value < 0]
    where = f"on average it is lower on {' and '.join(worse)}" if worse else "on average on no problem"
    return (
        f"An update takes {_ratio(table):.2f} times the time of a new fit. In {len(gain)} pairs, its "
        f"TLL is higher by {gain.mean():.3f} on average; it is lower in {int((gain < 0).sum())} of "
        f"them, and {where}. Its RMSE is larger in {int((error > 0).sum())} of them. Larger tables, "
        f"and updates with many times the old rows, were not measured."
    )


def _gain(field: pandas.Series) -> pandas.Series:
    """Return what the update has more than the new fit, for each pair."""
    by_model = field.unstack()
    return by_model[UPDATED] - by_model[REFITTED]
