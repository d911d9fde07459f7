"""Rows of the plasticity experiment as tables, sentences and figures."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from rich.table import Table

from vebnn.bench.figures.convergence import Series, plot_convergence
from vebnn.bench.figures.curve import Curve
from vebnn.bench.figures.sequences import plot_paths, plot_reliability
from vebnn.bench.results import Row, average, mean_and_std, wide_table
from vebnn.metrics import LEVELS
from vebnn.plots import save_figure

# Field → title of a panel, heading of a column, and how it is written.
FIELDS = {
    "rmse_percent": ("RMSE of the mean, %", "RMSE %", ".2f"),
    "wasserstein": ("Wasserstein distance", "WA", ".4f"),
    "epistemic_log_likelihood": ("epistemic TLL", "epist. TLL", ".2f"),
    "epistemic_coverage": ("epistemic coverage of 95 %", "epist. TC", ".3f"),
    "epistemic_interval_length": ("epistemic interval length", "epist. TIL", ".3f"),
    "epistemic_calibration_error": ("epistemic ECE", "epist. ECE", ".3f"),
}
OURS, MEAN_ONLY = "VeBNN (pSGLD)", "ME (MSE)"
RIVALS = ("MVE (pSGLD)", "MVE (β-NLL)", "MVE (Ensembles)")
RMSE_ALLOWANCE, RATIO_ALLOWANCE = 1.05, 0.15


def scores_table(material: int, words: str, rows: Sequence[Row]) -> Table:
    """Return a line per number of paths and method of one material."""
    table = wide_table(
        title=f"Plasticity, material {material}: {words}",
        caption=(
            "Mean ± std over repeats. RMSE: of the mean stress, in percent of its size. WA: distance "
            "of predicted from true mean and noise. Epistemic scores: of the noiseless truth. All but "
            "the RMSE in standardised units. Noise: predicted over true rms std. Seconds: per fit."
        ),
        columns=(
            *("paths", "method", "fits"),
            *(heading for _, heading, _ in FIELDS.values()),
            *("noise", "seconds"),
        ),
    )
    for size, by_method in _by_size(rows).items():
        for name, group in by_method.items():
            cells = [_cell(group, field, style) for field, (_, _, style) in FIELDS.items()]
            more = (f"{average(group, 'noise_ratio'):.2f}", f"{average(group, 'seconds'):.0f}")
            table.add_row(str(size), name, str(len(group)), *cells, *more)
        table.add_section()
    return table


def calibration_table(material: int, rows: Sequence[Row]) -> Table:
    """Return epistemic ECE, a line per method and a column per number of paths."""
    by_size = _by_size(rows)
    table = wide_table(
        title=f"Epistemic ECE, material {material}",
        caption="Mean ± std over repeats; the mean gap between promised and held coverage.",
        columns=("method", *map(str, by_size)),
    )
    for name in dict.fromkeys(row["method"] for row in rows):
        cells = [_cell(group[name], "epistemic_calibration_error", ".4f") for group in by_size.values()]
        if any(cell != "–" for cell in cells):
            table.add_row(name, *cells)
    return table


def verdict(rows: Sequence[Row]) -> list[str]:
    """Hold the paper's claims against the rows; those whose methods were run."""
    return [
        *_noise_is_better(rows),
        *_mean_is_as_good(rows),
        *_ignorance_shrinks(rows),
        *_materials_differ(rows),
    ]


def best_variants(rows: Sequence[Row]) -> list[str]:
    """Say which variant of an ablation has the smallest Wasserstein distance."""
    lines = []
    for material, size, by_method in _groups(rows):
        distance = {name: average(group, "wasserstein") for name, group in by_method.items()}
        order = ", ".join(f"{name} {distance[name]:.4f}" for name in sorted(distance, key=distance.get))  # type: ignore[arg-type]
        lines.append(f"Material {material}, {size} paths, WA from best to worst: {order}.")
    return lines


def series_of(rows: Sequence[Row]) -> list[Series]:
    """Return one series per method: its numbers by size and repeat, NaN where there are fewer."""
    by_size = _by_size(rows)
    most = max(len(group) for by_method in by_size.values() for group in by_method.values())

    def numbers(group: list[Row], field: str) -> list[float]:
        return [row[field] for row in group] + [np.nan] * (most - len(group))

    found = []
    for name in dict.fromkeys(row["method"] for row in rows):
        values = {
            field: np.array([numbers(group[name], field) for group in by_size.values()], float)
            for field in FIELDS
        }
        found.append(Series(name, np.array(list(by_size)), values))
    return found


def save_figures(
    rows: Sequence[Row], truth: tuple[np.ndarray, np.ndarray], folder: Path, stem: str
) -> list[Path]:
    """Draw curves, predictions along one path and reliability diagrams of one material.

    Args:
      rows: of one material.
      truth: mean and noise std along the path that is shown.
      folder: for the figures.
      stem: how their names begin.

    Returns:
      The pictures.
    """
    panels = {field: title for field, (title, _, _) in FIELDS.items()}
    figures = {stem: plot_convergence(series_of(rows), panels, "training paths")}
    by_size = _by_size(rows)
    # As in the paper: the fewest paths and nearly the most.
    shown = dict.fromkeys((min(by_size), 800 if 800 in by_size else max(by_size)))
    curves = {
        size: {name: Curve(**_arrays(group[0]["curve"])) for name, group in by_size[size].items()}
        for size in shown
    }
    figures[f"{stem}-paths"] = plot_paths(curves, *truth)
    held: dict[str, dict[int, np.ndarray]] = {}
    for size, by_method in by_size.items():
        for name, group in by_method.items():
            if group[0]["reliability"] is not None:
                shares = np.mean([row["reliability"] for row in group], axis=0)
                held.setdefault(name, {})[size] = shares
    if held:
        figures[f"{stem}-reliability"] = plot_reliability(LEVELS, held)
    return [save_figure(figure, folder, name)[0] for name, figure in figures.items()]


def _noise_is_better(rows: Sequence[Row]) -> Iterator[str]:
    for material, size, by_method in _groups(rows):
        rivals = [name for name in RIVALS if name in by_method]
        if OURS in by_method and rivals:
            ours = average(by_method[OURS], "wasserstein")
            others = {name: average(by_method[name], "wasserstein") for name in rivals}
            against = ", ".join(f"{name} {value:.4f}" for name, value in others.items())
            word = "lower" if ours < min(others.values()) else "NOT lower"
            yield f"Material {material}, {size} paths: WA of {OURS} {ours:.4f}, {word} than {against}."


def _mean_is_as_good(rows: Sequence[Row]) -> Iterator[str]:
    for material, size, by_method in _groups(rows):
        if OURS in by_method and MEAN_ONLY in by_method:
            ours, theirs = (average(by_method[name], "rmse_percent") for name in (OURS, MEAN_ONLY))
            word = "within" if ours <= RMSE_ALLOWANCE * theirs else "NOT within"
            yield (
                f"Material {material}, {size} paths: RMSE of {OURS} {ours:.2f} %, {word} 5 % of "
                f"{MEAN_ONLY} {theirs:.2f} %."
            )


def _ignorance_shrinks(rows: Sequence[Row]) -> Iterator[str]:
    for material in dict.fromkeys(row["material"] for row in rows):
        mine = [row for row in rows if row["material"] == material and row["method"] == OURS]
        stds = {size: average(group[OURS], "epistemic_std") for size, group in _by_size(mine).items()}
        if len(stds) > 1:
            word = (
                "shrinks" if sorted(stds.values(), reverse=True) == list(stds.values()) else "does NOT"
            )
            numbers = ", ".join(f"{std:.4f} ({size})" for size, std in stds.items())
            yield f"Material {material}: epistemic std of {OURS} {word} with more paths: {numbers}."


def _materials_differ(rows: Sequence[Row]) -> Iterator[str]:
    by_place = {(material, size): group for material, size, group in _groups(rows)}
    for size in dict.fromkeys(size for _, size in by_place):
        first, second = by_place.get((1, size), {}), by_place.get((2, size), {})
        if OURS in first and OURS in second:
            predicted, true = (
                average(second[OURS], field) / average(first[OURS], field)
                for field in ("noise_std", "true_noise_std")
            )
            word = "within" if abs(predicted / true - 1) <= RATIO_ALLOWANCE else "NOT within"
            yield (
                f"{size} paths: noise of material 2 over material 1 by {OURS} {predicted:.2f}, {word} "
                f"15 % of the true {true:.2f}."
            )


def _groups(rows: Sequence[Row]) -> Iterator[tuple[int, int, dict[str, list[Row]]]]:
    for material in dict.fromkeys(row["material"] for row in rows):
        mine = [row for row in rows if row["material"] == material]
        for size, by_method in _by_size(mine).items():
            yield material, size, by_method


def _by_size(rows: Sequence[Row]) -> dict[int, dict[str, list[Row]]]:
    found: dict[int, dict[str, list[Row]]] = {}
    for row in sorted(rows, key=lambda row: row["num_paths"]):
        found.setdefault(row["num_paths"], {}).setdefault(row["method"], []).append(row)
    return found


def _cell(rows: Sequence[Row], field: str, style: str) -> str:
    return "–" if rows[0][field] is None else mean_and_std(rows, field, style)


def _arrays(curve: dict[str, list[float]]) -> dict[str, np.ndarray]:
    return {name: np.asarray(values) for name, values in curve.items()}
