"""The page of ``vebnn bench replicates``."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from vebnn.bench.comparison.measures import METRICS, usual_metrics
from vebnn.bench.comparison.order import ordered_methods
from vebnn.bench.comparison.reading import Results
from vebnn.bench.figures.repeats import plot_repeats
from vebnn.bench.pages.page import Page
from vebnn.bench.render.limits import Column
from vebnn.bench.render.markdown import sheet_as_markdown
from vebnn.bench.render.sheet import MISSING, Cell, Sheet, cells
from vebnn.bench.repeats import Predicted, Repeats
from vebnn.datasets.replicates import SOURCES

OURS = "VeBNN (pSGHMC)"
# Of the default model, by data set and field.
LIMITS = {
    ("crossed-barrel", "coverage"): Column("coverage of held-out rows", low=0.92, high=0.97),
    ("crossed-barrel", "noise_ratio"): Column("noise ratio", low=0.9, high=1.1),
}
TEXT = """# Repeated measurements

Measured data in which conditions were measured several times: the scatter of the repeats shows the
noise. Whole conditions are held out. Every condition is tested in one of five splits, and none of its
repeats is in the training rows of that split. Every method has its default settings, without
recalibration.

```sh
vebnn bench replicates --out docs/results/replicates.jsonl
vebnn bench page docs/results/replicates.jsonl --out docs/results/replicates.md
```

The rows are in [replicates.jsonl](replicates.jsonl); the last command writes this page from them. The
data are read from `$VEBNN_DATA/replicates/`. They were collected by Liang et al., "Benchmarking the
performance of Bayesian optimization across multiple experimental materials science domains", npj
Computational Materials 7 (2021), and are in the repository
[PV-Lab/Benchmarking](https://github.com/PV-Lab/Benchmarking).

**Columns.** A condition has n repeats with mean ȳ and std s; hats are predictions.

- *noise ratio*: root mean square of σ̂ over that of s, over all held-out conditions with repeats, each
  weighted by n − 1. 1 is right.
- *noise rank*: Spearman's correlation of σ̂ and s over these conditions, mean over splits. A correct σ̂
  does not reach 1, because s is from few repeats; a constant σ̂ has none.
- *epistemic TC*: share of these conditions whose ȳ is inside m̂ ± t √(ê² + s²/n), with ê the epistemic
  std. s²/n is the squared standard error of ȳ, and t the quantile of Student's t with the degrees of
  freedom of Welch and Satterthwaite, because s is from few repeats. 0.95 is right; where ê is a
  third of s/√n, a correct ê covers 0.87 with two repeats and 0.92 with three. Where s/√n is much larger
  than ê, the column says little about ê.
- *TC*, *TLL*, *RMSE*: coverage of 95 % intervals, log-likelihood and error of all held-out rows, means
  over splits, in the units of the data.

![Predicted noise std against the scatter of repeats](replicates/noise.png)

Each grey point is a held-out condition. Blue: conditions with similar predictions, together.
"""


def replicates_page(results: Results) -> Page:
    """Return the page."""
    sheets = [sheet_as_markdown(sheet) for sheet in replicates_sheets(results)]
    text = "\n\n".join([TEXT.strip(), f"Rows: {results.origin}.", *sheets]) + "\n"
    panels = {dataset: _panels(results, dataset) for dataset in _datasets(results)}
    shown = {dataset: methods for dataset, methods in panels.items() if methods}
    return Page(text, {"noise": plot_repeats(shown)} if shown else {})


def _panels(results: Results, dataset: str) -> dict[str, tuple[np.ndarray, Repeats]]:
    pooled = {method: pooled_conditions(results, dataset, method) for method in _methods(results)}
    return {
        method: (found[1].noise_std, found[0])
        for method, found in pooled.items()
        if found is not None and found[1].noise_std is not None
    }


def replicates_sheets(results: Results) -> list[Sheet]:
    """Return a table per data set, and the limits of the default model if it was run."""
    numbers = {
        dataset: {method: _numbers(results, dataset, method) for method in _methods(results)}
        for dataset in _datasets(results)
    }
    metrics = usual_metrics("replicates")

    def cell(field: str, methods: Mapping[str, Mapping[str, float | None]], method: str) -> Cell:
        value, metric = methods[method][field], METRICS[field]
        if value is None:
            return Cell(MISSING)
        known = [found[field] for found in methods.values()]
        best = min(metric.loss(one) for one in known if one is not None) == metric.loss(value)
        digits = {"coverage": 3, "noise_rank": 2}.get(field, metric.decimals)
        return Cell(f"{value:.{digits}f}", bold=best, underline=best, sort=value)

    tables = [
        Sheet(
            dataset,
            f"{SOURCES[dataset].words.capitalize()}. Bold and underlined is the best.",
            ("method", *(f"{metric.name} ({metric.arrow})" for metric in metrics)),
            [[[Cell(name), *(cell(m.field, methods, name) for m in metrics)] for name in methods]],
        )
        for dataset, methods in numbers.items()
    ]
    checked = [
        cells(f"{dataset}: {limit.heading}", limit.limit, f"{value:.3f}", "✓" if holds else "✗")
        for (dataset, field), limit in LIMITS.items()
        if (value := numbers.get(dataset, {}).get(OURS, {}).get(field)) is not None
        for holds in [limit.holds(value)]
    ]
    columns = ("number", "limit", "value", "holds")
    limits = Sheet("Limits", f"Of {OURS}, set before the run.", columns, [checked])
    return [*tables, *([limits] if checked else [])]


def pooled_conditions(results: Results, dataset: str, method: str) -> tuple[Repeats, Predicted] | None:
    """Return the conditions of all splits, and what a method predicts for them."""
    rows = [row["conditions"] for row in results.rows_of(method, dataset) if row.get("conditions")]
    if not rows:
        return None

    def together(kind: str, name: str) -> Any:
        # A method lacks a part in every split, or in none.
        parts = [row[kind][name] for row in rows]
        return None if None in parts else np.concatenate(parts)

    return (
        Repeats(*(together("observed", name) for name in Repeats._fields)),
        Predicted(*(together("predicted", name) for name in Predicted._fields)),
    )


def _numbers(results: Results, dataset: str, method: str) -> dict[str, float | None]:
    """Return means over splits; noise ratio and coverage of means are of all splits together."""
    fields = [metric.field for metric in usual_metrics("replicates")]
    found = {field: results.scores(field, method, dataset) for field in fields}
    means = {field: float(values.mean()) if len(values) else None for field, values in found.items()}
    if (pooled := pooled_conditions(results, dataset, method)) is None:
        return means
    repeats, predicted = pooled
    # Not the rank: a constant noise differs between splits, and that is no skill.
    together = repeats.compare(predicted)
    return means | {field: together[field] for field in ("noise_ratio", "epistemic_coverage")}


def _methods(results: Results) -> list[str]:
    return ordered_methods(row["method"] for row in results.rows)


def _datasets(results: Results) -> list[str]:
    names = {row["dataset"] for row in results.rows}
    return [name for name in SOURCES if name in names]
