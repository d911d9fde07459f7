"""Figures of a fitted model."""

from vebnn.plots.relevance import plot_relevance
from vebnn.plots.steps import Steps, plot_steps, readable_limits, steps_along
from vebnn.plots.style import save_figure

__all__ = ["Steps", "plot_relevance", "plot_steps", "readable_limits", "save_figure", "steps_along"]
