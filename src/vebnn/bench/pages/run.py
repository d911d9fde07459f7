"""The page of ``vebnn bench run``: a table for each data set, and where VeBNN is worse."""

import pandas

from vebnn.bench.comparison.order import ordered_datasets, ordered_methods
from vebnn.bench.comparison.reading import Results
from vebnn.bench.methods import METHODS, split_kind
from vebnn.bench.pages.page import Page
from vebnn.bench.render.markdown import escape, sheet_as_markdown
from vebnn.bench.render.sheet import MISSING, Cell, Sheet
from vebnn.tabular.errors import counted

COVERAGE = (0.92, 0.98)  # of 95 % intervals that are good enough
TEXT = """# Methods on tables

Written by `vebnn bench page` from rows of
[`vebnn bench run`](../benchmark.md#your-own-tables). In every split, each method gets the same training
rows, with the same columns as numbers, and predicts the same held-out rows. Error bars are raw: nothing
was recalibrated, unless a method does it itself.

- *RMSE* of the predicted mean, and *CRPS*, the continuous ranked probability score: in the units of the
  target, smaller is better.
- *NLL*: minus the mean log density of the observations, or log-probability of whole numbers. Smaller is
  better. It is the Gaussian density of each method, but for VeBNN, and for methods with a kind in their
  name, that of the kind of target. Quantile boosting has no density: it is given the Gaussian with its
  interval.
- *coverage*: share of the observations inside their 95 % interval. 0.95 is right.
- *below 0*: share of the 95 % intervals that reach below 0, where the target cannot be.

Means over splits, with stds in brackets, and n= where a method has fewer splits. Bold is the best mean.
"""
FIELDS = {"rmse": "RMSE", "nll": "NLL", "crps": "CRPS", "coverage": "coverage", "impossible": "below 0"}
SCORES = ("rmse", "nll", "crps")  # smaller is better


def run_page(results: Results) -> Page:
    """Return the page."""
    frame = _scores(results)
    names = ordered_datasets(frame["dataset"])
    sheets = [dataset_sheet(name, frame[frame["dataset"] == name]) for name in names]
    parts = [TEXT.strip(), *map(sheet_as_markdown, sheets), "## Where VeBNN is worse"]
    parts += map(escape, worse(frame) or ["No row of VeBNN."])
    return Page("\n\n".join(parts) + "\n")


def _scores(results: Results) -> pandas.DataFrame:
    """Return the rows that have numbers, with NLL."""
    frame = pandas.DataFrame([row for row in results.rows if "skipped" not in row])
    frame["nll"] = -frame["tll"].astype(float)
    return frame


def dataset_sheet(name: str, frame: pandas.DataFrame) -> Sheet:
    """Return the table of one data set."""
    first = frame.iloc[0]
    fields = [field for field in FIELDS if field != "impossible" or _has_floor(frame)]
    groups = frame.groupby("method")
    means, stds = groups[fields].mean(), groups[fields].std()
    num_splits = frame["split"].nunique()

    def cell(method: str, field: str) -> Cell:
        mean, std = means.loc[method, field], stds.loc[method, field]
        if pandas.isna(mean):
            return Cell(MISSING)
        forms = (".3f", ".3f")
        if field in ("rmse", "crps"):  # in units of the target
            forms = (",.0f", ",.0f") if means[field].min() >= 1_000 else (".4g", ".2g")
        text = f"{mean:{forms[0]}}" + ("" if pandas.isna(std) else f" ({std:{forms[1]}})")
        number = int(groups.size()[method])
        text += f", n={number}" if number < num_splits else ""
        best = field in SCORES and mean == means[field].min()
        return Cell(text, bold=bool(best), sort=float(mean))

    kind = "" if first["target_kind"] == "real" else f", target kind {first['target_kind']}"
    return Sheet(
        name,
        f"{counted(int(first['trained']), 'row')} to train on, {int(first['tested']):,} held out, "
        f"{counted(int(first['inputs']), 'input')}, "
        f"{counted(num_splits, 'split')}{kind}.",
        ("method", *(FIELDS[field] for field in fields)),
        [[[Cell(method), *(cell(method, field) for field in fields)] for method in _methods(frame)]],
    )


def _methods(frame: pandas.DataFrame) -> list[str]:
    return ordered_methods(frame["method"])


def _has_floor(frame: pandas.DataFrame) -> bool:
    return bool((frame["target_kind"] != "real").any())


def worse(frame: pandas.DataFrame) -> list[str]:
    """Return a sentence for each failure of each VeBNN: its coverage, and scores of other methods."""
    sentences = []
    for ours in _methods(frame):
        method = METHODS.get(split_kind(ours)[0])
        if method is None or method.strategy != "cooperative":
            continue
        rows = frame[frame["method"] == ours]
        coverage = rows.groupby("dataset")["coverage"].mean()
        outside = [
            f"{name} ({coverage[name]:.3f})"
            for name in ordered_datasets(coverage.index)
            if not COVERAGE[0] <= round(coverage[name], 3) <= COVERAGE[1]
        ]
        low, high = COVERAGE
        found = f"outside [{low}, {high}] on {', '.join(outside)}" if outside else "in it on all"
        sentences.append(
            f"{ours}: mean coverage should be in [{low}, {high}]; it is {found} "
            f"({counted(len(coverage), 'data set')})."
        )
        sentences += [_better(ours, field, frame) for field in SCORES]
    return sentences


def _better(ours: str, field: str, frame: pandas.DataFrame) -> str:
    """Return by which methods a method is beaten, on the splits that both have."""
    beaten = []
    wide = frame.pivot_table(index=["dataset", "split"], columns="method", values=field)
    wide = wide[wide[ours].notna()]
    names = ordered_datasets(wide.index.get_level_values("dataset"))
    for name in names:
        one = wide.loc[name]
        gains = {other: (one[ours] - one[other]).mean() for other in one if other != ours}
        others = [other for other in _methods(frame) if gains.get(other, 0) > 0]
        beaten += [f"{name} ({', '.join(others)})"] if others else []
    won = f"{ours}: {FIELDS[field]} is the best on {len(names) - len(beaten)} of {len(names)}"
    return f"{won}; others are better on {'; '.join(beaten)}." if beaten else f"{won}."
