"""Figures of the training: losses, chains, and whether the chains agree."""

from typing import Any

import numpy as np

from vebnn.tabular.report.figures import Figure, Trace, axis, figure, line, some_rows

MOST_EPOCHS_DRAWN = 600


def training_figures(estimator: Any) -> dict[str, Figure]:
    """Return the curves of a fitted estimator: its mean network, its chains, and their R-hat."""
    figures, fitted = {}, estimator.fitted_
    if hasattr(fitted, "mean_history"):  # only cooperative training has a mean network of its own
        figures["The mean network (Step 1)"] = _mean_figure(np.asarray(fitted.mean_history, float))
    trace = np.asarray(fitted.posterior.trace, float)
    figures["The Bayesian network (Step 3)"] = _trace_figure(trace)
    if estimator.diagnostics_ is not None:
        figures["Do the chains agree?"] = _r_hat_figure(np.asarray(estimator.diagnostics_.r_hat, float))
    return figures


def _mean_figure(history: np.ndarray) -> Figure:
    """The two losses have different scales, so each has its own axis."""
    history = history[np.isfinite(history).all(1)]
    data = [
        _curve(history[:, 0], "training rows", "$muted") | {"yaxis": "y2"},
        _curve(history[:, 1], "rows for early stopping", "$ink"),
    ]
    y = axis("loss, rows for early stopping", type="log", nticks=6)
    y2 = {"overlaying": "y", "side": "right", "type": "log", "visible": False}
    return figure(data, axis("epoch"), y, yaxis2=y2)


def _trace_figure(trace: np.ndarray) -> Figure:
    # A run that stopped early has no values after its end.
    runs = [chain[np.isfinite(chain)] for chain in trace]
    runs = [chain for chain in runs if len(chain)]
    colours = ("$ignorance", "$ink", "$muted")
    data = [
        _curve(chain, f"run {number + 1}", colours[number % len(colours)])
        | {"opacity": 0.7, "showlegend": False}
        for number, chain in enumerate(runs)
    ]
    # The first epochs are far off and would hide the rest.
    late = np.concatenate([chain[len(chain) // 10 :] for chain in runs])
    low, high = np.percentile(late, [0.5, 99.5])
    margin = 0.15 * (high - low) or 1.0
    limits = [float(low - margin), float(high + margin)]
    return figure(data, axis("epoch"), axis("objective per row", range=limits))


def _r_hat_figure(r_hat: np.ndarray) -> Figure:
    histogram = {
        "type": "histogram",
        "x": r_hat[np.isfinite(r_hat)].tolist(),
        "nbinsx": 30,
        "marker": {"color": "$ignorance"},
        "showlegend": False,
        "hovertemplate": "R-hat %{x}<br>%{y} predictions<extra></extra>",
    }
    return figure([histogram], axis("R-hat (1: the chains agree)"), axis("predictions"))


def _curve(values: np.ndarray, name: str, colour: str) -> Trace:
    some = some_rows(np.arange(len(values)), MOST_EPOCHS_DRAWN)
    return line(some + 1, values[some], name, colour, width=1.4)
