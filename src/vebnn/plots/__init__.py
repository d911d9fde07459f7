"""Figures. No global state: every function returns a :class:`matplotlib.figure.Figure`."""

from vebnn.plots.active import plot_active
from vebnn.plots.steps import Steps, plot_steps, readable_limits, steps_along
from vebnn.plots.style import save_figure

__all__ = ["Steps", "plot_active", "plot_steps", "readable_limits", "save_figure", "steps_along"]
