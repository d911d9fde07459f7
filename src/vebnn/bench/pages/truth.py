"""The page of ``vebnn bench truth``."""

from collections.abc import Mapping

from vebnn.bench.comparison.averages import averages_sheet
from vebnn.bench.comparison.measures import usual_metrics
from vebnn.bench.comparison.metric_sheet import metric_sheet
from vebnn.bench.comparison.metric_table import MetricTable, compare
from vebnn.bench.comparison.reading import Results
from vebnn.bench.pages.page import Page
from vebnn.bench.pages.truth_limits import has_ours, limits_sheet
from vebnn.bench.render.markdown import sheet_as_markdown
from vebnn.bench.render.sheet import Sheet, cells
from vebnn.datasets.truth import PROBLEMS

TEXT = """# Known mean and noise

Methods on problems whose mean and noise are known, so that each part of an error bar can be compared
with the truth. Inputs are uniform in a box. Every seed has its own inputs and noise, and its own
function where the problem is a random draw. Every method has its default settings, without
recalibration.

```sh
ROWS=docs/results/truth.jsonl
vebnn bench truth --seeds 5 --out $ROWS
vebnn bench page $ROWS --out docs/results/truth.md
```

The rows are in [truth.jsonl](truth.jsonl); the last command writes this page from them. `--methods bde`
needs [an environment of its own](../benchmark.md#bde). NUTS is the reference on the
[two smallest problems](truth-nuts.md), whose rows are in [truth-nuts.jsonl](truth-nuts.jsonl). In the
tables below a data set is a problem and a split is a seed.

**Columns.** With m and σ the true mean and noise std at 2,000 fresh inputs:

- *RMSE / noise*: RMSE of the predicted mean against m, over the root mean square of σ.
- *epistemic TC*: share of m inside the predicted mean ± 1.96 epistemic stds. 0.95 is right.
- *noise error*: mean of |σ̂ − σ| / σ, with σ̂ the predicted noise std.
- *TLL − truth's*: mean log density of fresh targets under a Gaussian with the predicted mean and total
  variance, minus that under N(m, σ²).
- *TC*: share of fresh targets inside their 95 % interval.
- *outside TC*: as epistemic TC, for 1,000 inputs in the shell between the box and one of 1.25 times its
  width.
- *R-hat*: of the predictions of the chains, for methods with chains.
- *seconds*: of one fit and its predictions on one core, other programs beside it.

NGBoost has one model, so all its variance is noise, and it has no epistemic columns. The kernel of
GP (4 starts) is learned from at most 500 rows, and its prediction uses all rows.
"""


def truth_tables(results: Results) -> dict[str, MetricTable]:
    """Return the table of every column that has a number, by field."""
    tables = {metric.field: compare(results, metric) for metric in usual_metrics("truth")}
    return {field: table for field, table in tables.items() if table.usual_splits}


def truth_summary(tables: Mapping[str, MetricTable]) -> list[Sheet]:
    """Return averages over problems, and the limits of the default model if it was run."""
    num = max(len(table.datasets) for table in tables.values())
    words = f"Means over seeds, averaged over {num} problem{'s' if num > 1 else ''}."
    averages = averages_sheet(list(tables.values()), "Averages", words)
    return [averages, *([limits_sheet(tables)] if has_ours(tables) else [])]


def truth_page(results: Results) -> Page:
    """Return the page."""
    tables = truth_tables(results)
    columns = [metric_sheet(table, worst=True) for table in tables.values()]
    sheets = map(sheet_as_markdown, [*truth_summary(tables), *columns, problems_sheet()])
    return Page("\n\n".join([TEXT.strip(), f"Rows: {results.origin}.", *sheets]) + "\n")


def problems_sheet() -> Sheet:
    """Return the problems and their sizes."""
    return Sheet(
        "Problems",
        "Functions are in src/vebnn/datasets/truth_functions.py.",
        ("problem", "rows", "inputs", "mean and noise"),
        [
            [
                cells(name, f"{problem.num_rows:,}", str(problem.num_inputs), problem.words)
                for name, problem in PROBLEMS.items()
            ]
        ],
    )
