"""The page of ``vebnn bench uci --standard``: our rows beside the literature's, on the same splits."""

from dataclasses import replace

from vebnn.bench.comparison.baseline_ranks import baseline_ranks, baselines_sheet
from vebnn.bench.comparison.measures import find_metrics
from vebnn.bench.comparison.metric_sheet import metric_sheet
from vebnn.bench.comparison.metric_table import MetricTable, compare
from vebnn.bench.comparison.reading import Results
from vebnn.bench.pages.page import Page
from vebnn.bench.render.markdown import sheet_as_markdown
from vebnn.bench.render.sheet import MISSING, Cell, Sheet

FIELDS = ("tll", "crps", "rmse", "coverage", "seconds")
SETS = ("boston", "concrete", "energy", "power", "wine-red", "yacht")
# Mean and spread as printed, in the order of SETS; papers that print the NLL have the other sign.
PUBLISHED: dict[str, dict[str, tuple[tuple[float, float], ...]]] = {
    "tll": {
        "MC dropout, grid search": (
            *((-2.40, 0.04), (-2.93, 0.02), (-1.21, 0.01)),
            *((-2.80, 0.01), (-0.93, 0.01), (-1.25, 0.01)),
        ),
        "Deep ensembles": (
            *((-2.41, 0.25), (-3.06, 0.18), (-1.38, 0.22)),
            *((-2.79, 0.04), (-0.94, 0.12), (-1.18, 0.21)),
        ),
        "NGBoost": (
            *((-2.43, 0.15), (-3.04, 0.17), (-0.60, 0.45)),
            *((-2.79, 0.11), (-0.91, 0.06), (-0.20, 0.26)),
        ),
    },
    "rmse": {
        "MC dropout, grid search": (
            *((2.90, 0.18), (4.82, 0.16), (0.54, 0.06), (4.01, 0.04), (0.62, 0.01), (0.67, 0.05)),
        ),
        "Deep ensembles": (
            *((3.28, 1.00), (6.03, 0.58), (2.09, 0.29), (4.11, 0.17), (0.64, 0.04), (1.58, 0.48)),
        ),
        "NGBoost": (
            *((2.94, 0.53), (5.06, 0.61), (0.46, 0.06), (3.79, 0.18), (0.63, 0.04), (0.50, 0.20)),
        ),
    },
}
TEXT = """# UCI data, standard splits

The 20 random 90/10 splits of Hernández-Lobato and Adams, "Probabilistic backpropagation for scalable
learning of Bayesian neural networks" (ICML 2015), which much of the literature uses. Energy has its
first target only, as there. Every method has its default settings, without recalibration. Data and
splits are read from `$VEBNN_DATA`.

```sh
ROWS=docs/results/uci-standard.jsonl
vebnn bench uci --standard --splits 20 --methods "VeBNN (pSGHMC),MVE (Ensembles),baselines" --out $ROWS
vebnn bench page $ROWS --out docs/results/uci-standard.md
```

The rows are in [uci-standard.jsonl](uci-standard.jsonl); the last command writes this page from them.
Power takes longer: add `--datasets power`. bde takes minutes for a fit and needs
[an environment of its own](../benchmark.md#bde), so it has [five splits](uci-standard-bde.md), with all
methods on the same five; their rows are in [uci-standard-bde.jsonl](uci-standard-bde.jsonl).

**Published numbers** are below ours, as printed:

- *MC dropout, grid search*: the [page of its authors](https://github.com/yaringal/DropoutUncertaintyExps),
  column "Grid Search (new)": Gal and Ghahramani, "Dropout as a Bayesian approximation" (ICML 2016),
  with dropout rate and noise chosen by a grid search on each split. On the same splits. In brackets is
  the standard error.
- *Deep ensembles*: Lakshminarayanan, Pritzel and Blundell, "Simple and scalable predictive uncertainty
  estimation using deep ensembles" (NeurIPS 2017), Table 1. The protocol is that of Hernández-Lobato and
  Adams, with 40 epochs of training.
- *NGBoost*: Duan et al., "NGBoost: natural gradient boosting for probabilistic prediction" (ICML 2020),
  as quoted in Table 1 of Matsubara, "Wasserstein gradient boosting" (2024). On other splits.
"""


def standard_splits_page(results: Results) -> Page:
    """Return the page."""
    tables = [compare(results, metric) for metric in find_metrics(FIELDS)]
    sheets = [with_published(table) for table in tables if table.usual_splits]
    ranks = dict(baseline_ranks(results))
    sheets = [*([baselines_sheet(ranks)] if ranks else []), *sheets]
    parts = [TEXT.strip(), f"Rows: {results.origin}.", *map(sheet_as_markdown, sheets)]
    return Page("\n\n".join(parts) + "\n")


def with_published(table: MetricTable) -> Sheet:
    """Return the table of a metric, with the published rows below ours."""
    sheet = metric_sheet(table)

    def row(name: str, numbers: tuple[tuple[float, float], ...]) -> list[Cell]:
        printed = dict(
            zip(SETS, (f"{mean:.2f} ({spread:.2f})" for mean, spread in numbers), strict=True)
        )
        known = [Cell(printed.get(dataset, MISSING)) for dataset in table.datasets]
        no_rank = [Cell(MISSING)] * (len(sheet.columns) - 1 - len(known))
        return [Cell(f"{name} (published)"), *known, *no_rank]

    published = [row(*entry) for entry in PUBLISHED.get(table.metric.field, {}).items()]
    return replace(sheet, groups=[*sheet.groups, published]) if published else sheet
