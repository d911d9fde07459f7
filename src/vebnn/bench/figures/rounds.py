"""Figures of the iteration: scores after every step of one fit, and after every round."""

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.figure import Figure

from vebnn.bench.results import Row
from vebnn.bench.steps import round_and_step
from vebnn.plots.style import BLUE, GREEN, ORANGE, legend_below, styled_figure

_OF_STEP = {1: (GREEN, "o"), 2: (ORANGE, "s"), 3: (BLUE, "^")}


def plot_trajectory(rows: Sequence[Row], panels: Mapping[str, str]) -> Figure:
    """Draw scores after Step 1 and after every Step 3 (the paper's trajectory): a line per fit.

    ``panels`` are field → title; where Step 1 has no such score, a line begins with the first round.
    """
    with styled_figure(3.4 * len(panels), 3.6) as figure:
        axes = figure.subplots(1, len(panels), squeeze=False)[0]
        for panel, (field, title) in zip(axes, panels.items(), strict=True):
            most = 0
            for number, row in enumerate(rows):
                places, values = _after_rounds(row["steps"], field)
                most = max(most, *places)
                panel.plot(places, values, marker="o", markersize=4, label=f"choice {number + 1}")
            labels = ["initial", *map(str, range(1, most + 1))]
            panel.set(title=title, xlabel="rounds", xticks=range(most + 1), xticklabels=labels)
        legend_below(figure, axes[0], most=5)
    return figure


def _after_rounds(steps: Sequence[Row], field: str) -> tuple[list[int], list[float]]:
    found = [(round_and_step(one["step"]), one.get(field)) for one in steps]
    kept = [(number, value) for (number, step), value in found if step != 2 and value is not None]
    return [number for number, _ in kept], [value for _, value in kept]


def plot_steps(curves: Mapping[str, Sequence[Mapping[str, Any]]], field: str, title: str) -> Figure:
    """Draw a score after every step, coloured by step: a panel for every named fit."""
    with styled_figure(4.6 * len(curves), 3.8) as figure:
        panels = figure.subplots(1, len(curves), sharey=True, squeeze=False)[0]
        for panel, (name, steps) in zip(panels, curves.items(), strict=True):
            panel.plot([one[field] for one in steps], color="#BBBBBB", linewidth=1, zorder=0)
            for step, (colour, marker) in _OF_STEP.items():
                at = [n for n, one in enumerate(steps) if round_and_step(one["step"])[1] == step]
                values = [steps[n][field] for n in at]
                style = {"color": colour, "marker": marker, "linestyle": "none"}
                panel.plot(at, values, label=f"Step {step}", **style)
            rounds = [f"{round_and_step(one['step'])[0]}" for one in steps]
            panel.set(title=name, xlabel="round", xticks=range(len(steps)), xticklabels=rounds)
        panels[0].set_ylabel(title)
        legend_below(figure, panels[0])
    return figure
