"""The page of ``vebnn bench effort``."""

from collections.abc import Sequence

import pandas

from vebnn.bench.experiments.effort import OURS
from vebnn.bench.pages.page import Page
from vebnn.bench.render.markdown import sheet_as_markdown
from vebnn.bench.render.sheet import Sheet, cells
from vebnn.bench.results import Row

TEXT = """# What more effort buys

1,000 rows with ten inputs, five of them useless: the problem *additive* of [known truth](truth.md) with
twice its rows. Every method is fitted twice in one process on one core, one after another, with its
default settings.

```sh
ROWS=docs/results/effort.jsonl
vebnn bench effort --seeds 3 --out $ROWS
bde-env/bin/vebnn bench effort --seeds 3 --methods bde --out $ROWS
vebnn bench page $ROWS --out docs/results/effort.md
```

The rows are in [effort.jsonl](effort.jsonl); the last command writes this page from them. `quick` and
`thorough` are a quarter and four times the length of `standard`, as in `vebnn fit --effort`. Other
programs ran beside: take the seconds as ratios. bde runs in
[an environment of its own](../benchmark.md#bde).
"""
COLUMNS = {
    "first_seconds": ("first fit, s", ".1f"),
    "fit_seconds": ("second fit, s", ".1f"),
    "tll_gap": ("TLL − truth's", ".3f"),
    "mean_error": ("RMSE / noise", ".3f"),
    "noise_error": ("noise error", ".3f"),
    "epistemic_coverage": ("epistemic TC", ".3f"),
    "coverage": ("TC", ".3f"),
}


def effort_page(rows: Sequence[Row]) -> Page:
    """Return the page."""
    means = effort_means(rows)
    parts = [TEXT.strip(), sheet_as_markdown(effort_sheet(means)), _verdict(means)]
    return Page("\n\n".join(parts) + "\n")


def effort_means(rows: Sequence[Row]) -> pandas.DataFrame:
    """Return means over seeds, one row for each method and effort, the fastest first."""
    table = pandas.DataFrame([row for row in rows if "skipped" not in row])
    fields = table[list(COLUMNS)].astype(float)
    names = table["method"].where(table["method"] != OURS, table["method"] + ", " + table["effort"])
    return fields.groupby(names).mean().sort_values("fit_seconds")


def effort_sheet(means: pandas.DataFrame) -> Sheet:
    """Return the table of means."""
    lines = [
        cells(
            str(name),
            *(
                "–" if pandas.isna(line[field]) else format(line[field], form)
                for field, (_, form) in COLUMNS.items()
            ),
        )
        for name, line in means.iterrows()
    ]
    return Sheet(
        "Seconds and accuracy",
        "Means over seeds, the fastest first. Columns are those of the page of known truth.",
        ("method", *(heading for heading, _ in COLUMNS.values())),
        [lines],
    )


def _verdict(means: pandas.DataFrame) -> str:
    """Say which methods of others are both faster and better than an effort of ours."""
    beaten = {
        str(ours): [
            str(other)
            for other in means.index
            if not str(other).startswith("VeBNN")
            and means.loc[other, "fit_seconds"] < means.loc[ours, "fit_seconds"]
            and means.loc[other, "tll_gap"] > means.loc[ours, "tll_gap"]
        ]
        for ours in means.index
        if str(ours).startswith(OURS)
    }
    said = [f"{' and '.join(others)} than {ours}" for ours, others in beaten.items() if others]
    found = "; ".join(said) if said else "none"
    return f"Methods of other libraries that are both faster and better by TLL: {found}."
