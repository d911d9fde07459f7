"""The figures of the plasticity experiment, from its rows."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas

from vebnn.bench.figures.bars import plot_bars
from vebnn.bench.figures.convergence import plot_convergence
from vebnn.bench.figures.rounds import plot_trajectory
from vebnn.bench.figures.sequences import plot_paths, plot_reliability
from vebnn.bench.results import Row
from vebnn.metrics import LEVELS
from vebnn.plots import save_figure

PANELS = {
    "rmse_percent": "RMSE of the mean, %",
    "wasserstein": "Wasserstein distance",
    "epistemic_log_likelihood": "epistemic TLL",
    "epistemic_coverage": "epistemic coverage of 95 %",
    "epistemic_interval_length": "epistemic interval length",
    "epistemic_calibration_error": "epistemic ECE",
}


def save_figures(
    rows: Sequence[Row], truth: tuple[np.ndarray, np.ndarray], folder: Path, stem: str
) -> list[Path]:
    """Draw learning curves, predictions along one path and reliability diagrams of one material.

    ``truth`` is mean and noise std along the path; names of the files, which are returned, begin with
    ``stem``.
    """
    figures = {stem: plot_convergence(rows, "num_paths", PANELS, "training paths")}
    sizes = sorted({row["num_paths"] for row in rows})
    # As in the paper: the fewest paths and nearly the most.
    shown = (sizes[0], 800 if 800 in sizes else sizes[-1])
    firsts = pandas.DataFrame(rows).drop_duplicates(["num_paths", "method"]).set_index("method")
    curves = {size: firsts.loc[firsts["num_paths"] == size, "curve"].to_dict() for size in shown}
    figures[f"{stem}-paths"] = plot_paths(curves, *truth)
    most = [row for row in rows if row["num_paths"] == sizes[-1]]
    if rows[0]["experiment"].endswith("rounds"):
        figures[f"{stem}-trajectory"] = plot_trajectory(most, PANELS)
    if rows[0]["experiment"].endswith("size"):
        figures[f"{stem}-bars"] = plot_bars(most, PANELS)
    coverages: dict[str, dict[int, list]] = {}
    for row in sorted(rows, key=lambda row: row["num_paths"]):
        if row["reliability"] is not None:
            by_size = coverages.setdefault(row["method"], {})
            by_size.setdefault(row["num_paths"], []).append(row["reliability"])
    if coverages:
        figures[f"{stem}-reliability"] = plot_reliability(LEVELS, coverages)
    return [save_figure(figure, folder, name)[0] for name, figure in figures.items()]
