"""The page of ``vebnn bench images``."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import isnan

from matplotlib.figure import Figure

from vebnn.bench.comparison.measures import Metric, find_metrics
from vebnn.bench.comparison.metric_sheet import metric_sheet
from vebnn.bench.comparison.metric_table import compare
from vebnn.bench.comparison.order import ordered_datasets, ordered_methods
from vebnn.bench.comparison.reading import Results
from vebnn.bench.experiments.images_settings import GROUPS
from vebnn.bench.figures.images import plot_noise_levels, plot_uncertainties
from vebnn.bench.pages.images_limits import KNOWN, PAIRS, SHIFTED, checks, limits_sheet
from vebnn.bench.pages.images_text import FIGURES, TEXT, WITHOUT_ROWS
from vebnn.bench.pages.page import Page
from vebnn.bench.render.markdown import sheet_as_markdown
from vebnn.bench.render.sheet import MISSING, Cell, Sheet, cells
from vebnn.datasets.images import IMAGE_DATASETS

APPA_REAL = "appa-real"
# Of one data set; those that no method has there are left out.
FIELDS = (
    *("crps", "raw_tll", "raw_coverage", "raw_interval_length", "raw_crps", "inside_coverage"),
    *("raw_noise_error", "noise_error", "raw_epistemic_coverage", "epistemic_coverage"),
    *("outside_coverage", "wasserstein", "epistemic_log_likelihood", "seconds"),
)
PARTS = ("epistemic", "aleatoric")
_OF_PAPER = ("tll", "rmse", "coverage", "interval_length")
_OF_APPA_REAL = (
    *("rmse", "wasserstein", "epistemic_log_likelihood", "epistemic_coverage"),
    "epistemic_interval_length",
)


def images_page(results: Results) -> Page:
    """Return the page."""
    figures = images_figures(results)
    shown = [FIGURES[name] for name in figures]
    sheets = [sheet_as_markdown(sheet) for sheet in images_sheets(results)]
    limits = [sheet_as_markdown(limits_sheet(results))] if any(checks(results)) else []
    said = [_origin(results), *limits, *shown, *sheets]
    return Page("\n\n".join([TEXT.strip(), *said]) + "\n", figures)


def images_summary(results: Results) -> list[Sheet]:
    """Return what a terminal shows: the limits, the paper's four scores and the seconds."""
    fields = (*_OF_PAPER, "seconds")
    limits = [limits_sheet(results)] if any(checks(results)) else []
    return [*limits, *_metric_sheets(_without_appa_real(results), fields)]


def images_sheets(results: Results) -> list[Sheet]:
    """Return all tables: the metrics, β-NLL against NLL, APPA-REAL, and what was not run."""
    appa_real = _renamed(_only(results, [APPA_REAL]), {"MVE (β-NLL=0.5)": "MVE (β-NLL)"})
    return [
        *_metric_sheets(_without_appa_real(results), _OF_PAPER),
        *dataset_sheets(results),
        *shift_sheets(results),
        *loss_sheets(results),
        *_titled("APPA-REAL, ", replace(appa_real, experiment=APPA_REAL), _OF_APPA_REAL),
        *([not_run_sheet(results)] if _not_run(results) else []),
    ]


def dataset_sheets(results: Results) -> list[Sheet]:
    """Return all other numbers: a table per data set, with the metrics that it has."""

    def line(dataset: str, method: str, metrics: Sequence[Metric]) -> list[Cell]:
        means = {m: results.scores(m.field, method, dataset).mean() for m in metrics}
        return cells(method, *(_number(mean, m.decimals) for m, mean in means.items()))

    sheets = []
    for dataset in _datasets(results):
        methods = _methods(_only(results, [dataset]))
        metrics = [
            metric
            for metric in find_metrics(FIELDS)
            if any(len(results.scores(metric.field, name, dataset)) for name in methods)
        ]
        headings = ("method", *(f"{metric.name} ({metric.arrow})" for metric in metrics))
        lines = [line(dataset, name, metrics) for name in methods]
        sheets.append(Sheet(f"Other numbers: {dataset}", "Means over seeds.", headings, [lines]))
    return sheets


def _number(mean: float, decimals: int) -> str:
    return MISSING if isnan(mean) else f"{mean:.{decimals}f}"


def shift_sheets(results: Results) -> list[Sheet]:
    """Return both stds inside and outside the training range, a table per set that has an outside."""
    fields = [f"{part}_{kind}" for part in PARTS for kind in ("std_inside", "std_outside", "ratio")]
    headings = [field.replace("_std_", " ").replace("_", " ") for field in fields]

    def line(dataset: str, method: str) -> list[Cell] | None:
        means = [results.scores(field, method, dataset).mean() for field in fields]
        if isnan(means[-1]):
            return None
        return cells(method, *(_number(mean, 2) for mean in means))

    tables = {
        dataset: [found for method in _methods(results) if (found := line(dataset, method))]
        for dataset in _datasets(results)
    }
    caption = (
        "Means of the stds of test images inside and outside the training range, and outside over "
        "inside; not calibrated, means over seeds."
    )
    return [
        Sheet(f"Inside and outside: {dataset}", caption, ("method", *headings), [lines])
        for dataset, lines in tables.items()
        if lines
    ]


def loss_sheets(results: Results) -> list[Sheet]:
    """Return the paper's table of β-NLL against NLL, if there are rows of both."""
    names = GROUPS["loss"]
    kept = tuple(row for row in results.rows if row["method"] in names and "skipped" not in row)
    pairs = zip(names[::2], names[1::2], strict=True)
    there = {row["method"] for row in kept}
    wanted = [name for pair in pairs if there.issuperset(pair) for name in pair]
    both = tuple(row for row in kept if row["method"] in wanted)
    named = replace(results, rows=both, experiment="images · loss")
    return _titled("β-NLL against NLL: ", named, _OF_PAPER)


def not_run_sheet(results: Results) -> Sheet:
    """Return the data sets without numbers, and why they have none."""
    methods = _methods(results)

    def why(dataset: str) -> str:
        reasons = [results.why_skipped(method, dataset) for method in methods]
        return next(filter(None, reasons), WITHOUT_ROWS[dataset])

    return Sheet(
        "Data sets that were not run",
        "Their loaders are tested on small files of the same formats.",
        ("data set", "why"),
        [[cells(dataset, why(dataset)) for dataset in _not_run(results)]],
    )


def images_figures(results: Results) -> dict[str, Figure]:
    """Return the paper's figure for sets with a shift, and learned against true noise."""
    figures = {}
    methods = [name for pair in PAIRS.items() for name in reversed(pair)]
    panels = {
        dataset: {
            method: curves
            for method in methods
            if (curves := [row["curve"] for row in results.rows_of(method, dataset) if "curve" in row])
        }
        for dataset in SHIFTED
    }
    if drawn := {dataset: found for dataset, found in panels.items() if found}:
        figures["uncertainties"] = plot_uncertainties(drawn)
    levels = {
        method: rows[0]["noise_levels"]
        for method in _methods(results)
        if (rows := [row for row in results.rows_of(method, KNOWN) if row.get("noise_levels")])
    }
    if levels:
        figures["noise"] = plot_noise_levels(levels)
    return figures


def _metric_sheets(results: Results, fields: Sequence[str]) -> list[Sheet]:
    tables = [compare(results, metric) for metric in find_metrics(fields)] if results.rows else []
    return [metric_sheet(table, paper=True) for table in tables if table.usual_splits]


def _titled(before: str, results: Results, fields: Sequence[str]) -> list[Sheet]:
    sheets = _metric_sheets(results, fields)
    return [replace(sheet, title=f"{before}{sheet.title}") for sheet in sheets]


def _only(results: Results, datasets: Sequence[str]) -> Results:
    return replace(results, rows=tuple(row for row in results.rows if row["dataset"] in datasets))


def _without_appa_real(results: Results) -> Results:
    return _only(results, [name for name in _datasets(results) if name != APPA_REAL])


def _renamed(results: Results, names: Mapping[str, str]) -> Results:
    rows = ({**row, "method": names.get(row["method"], row["method"])} for row in results.rows)
    return replace(results, rows=tuple(rows))


def _methods(results: Results) -> list[str]:
    return ordered_methods(row["method"] for row in results.rows)


def _datasets(results: Results) -> list[str]:
    """Return the data sets that were run."""
    return ordered_datasets(row["dataset"] for row in results.rows if "skipped" not in row)


def _not_run(results: Results) -> list[str]:
    return ordered_datasets(set(IMAGE_DATASETS).difference(_datasets(results)))


def _origin(results: Results) -> str:
    """Return where the rows are from, how long they took and what they share."""
    seconds = [row["seconds"] for row in results.rows if "seconds" in row]
    took = f"{len(seconds)} fits with their predictions took {sum(seconds) / 60:.0f} minutes"
    settings = results.rows[0].get("settings") or {}
    shared = "\n".join(f"- {name}: `{value}`" for name, value in settings.items())
    return f"Rows: {results.origin}. {took}.\n\n{shared}".strip()
