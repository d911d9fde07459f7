"""How the training went: losses, chains, and whether they agree."""

from typing import Any

import numpy as np

from vebnn.tabular.report.figures import Figure, axis

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
    """The two losses have other scales, so each has an axis of its own."""
    history = history[np.isfinite(history).all(1)]
    epochs = np.arange(1, len(history) + 1)
    return {
        "data": [
            _curve(epochs, history[:, 0], "training rows", "$muted") | {"yaxis": "y2"},
            _curve(epochs, history[:, 1], "rows set aside to stop in time", "$ink"),
        ],
        "layout": {
            "xaxis": axis("epoch"),
            "yaxis": axis("loss, rows set aside", type="log", nticks=6),
            "yaxis2": {"overlaying": "y", "side": "right", "type": "log", "visible": False},
        },
    }


def _trace_figure(trace: np.ndarray) -> Figure:
    # A run that stopped early has no values after that.
    runs = [chain[np.isfinite(chain)] for chain in trace]
    runs = [chain for chain in runs if len(chain)]
    colours = ("$ignorance", "$ink", "$muted")
    data = [
        _curve(np.arange(1, len(chain) + 1), chain, f"run {number + 1}", colours[number % len(colours)])
        | {"opacity": 0.7, "showlegend": False}
        for number, chain in enumerate(runs)
    ]
    # The first epochs are far off, and would hide the rest.
    late = np.concatenate([chain[len(chain) // 10 :] for chain in runs])
    low, high = np.percentile(late, [0.5, 99.5])
    room = 0.15 * (high - low) or 1.0
    return {
        "data": data,
        "layout": {
            "xaxis": axis("epoch"),
            "yaxis": axis("objective per row", range=[float(low - room), float(high + room)]),
        },
    }


def _r_hat_figure(r_hat: np.ndarray) -> Figure:
    return {
        "data": [
            {
                "type": "histogram",
                "x": r_hat[np.isfinite(r_hat)].tolist(),
                "nbinsx": 30,
                "marker": {"color": "$ignorance"},
                "showlegend": False,
                "hovertemplate": "R-hat %{x}<br>%{y} predictions<extra></extra>",
            }
        ],
        "layout": {"xaxis": axis("R-hat (1: the chains agree)"), "yaxis": axis("predictions")},
    }


def _curve(x: np.ndarray, y: np.ndarray, name: str, colour: str) -> dict[str, Any]:
    some = np.unique(np.linspace(0, len(x) - 1, MOST_EPOCHS_DRAWN).round().astype(int))
    line = {"color": colour, "width": 1.4}
    return {
        "type": "scatter",
        "mode": "lines",
        "x": x[some].tolist(),
        "y": y[some].tolist(),
        "name": name,
        "line": line,
        "hoverinfo": "skip",
    }
