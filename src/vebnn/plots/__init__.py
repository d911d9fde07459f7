"""Figures of a fitted model and of its predictions."""

from vebnn.plots.bands import draw_band
from vebnn.plots.chains import plot_chains
from vebnn.plots.explanation import plot_explanation
from vebnn.plots.prediction import plot_prediction, plot_sequence
from vebnn.plots.relevance import plot_relevance
from vebnn.plots.scores import plot_parity, plot_reliability
from vebnn.plots.steps import Steps, plot_steps, readable_limits, steps_along
from vebnn.plots.style import save_figure
from vebnn.plots.uncertainties import plot_uncertainties

__all__ = [
    "Steps",
    "draw_band",
    "plot_chains",
    "plot_explanation",
    "plot_parity",
    "plot_prediction",
    "plot_relevance",
    "plot_reliability",
    "plot_sequence",
    "plot_steps",
    "plot_uncertainties",
    "readable_limits",
    "save_figure",
    "steps_along",
]
