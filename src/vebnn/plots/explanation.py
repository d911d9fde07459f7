"""What each feature adds to the prediction of one row."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes

from vebnn.core.arguments import require_whole
from vebnn.estimators import Explanation
from vebnn.plots.bands import COLOURS
from vebnn.plots.canvas import several_axes
from vebnn.plots.style import BLACK, GREY

TITLES = {"mean": "Mean", "aleatoric_std": "Noise", "epistemic_std": "Ignorance"}


def plot_explanation(
    explanation: Explanation,
    row: int = 0,
    *,
    target: str | int | None = None,
    most: int = 10,
    axes: Sequence[Axes] | None = None,
) -> np.ndarray:
    """Draw what each feature adds to mean, noise and ignorance of one row; return three axes.

    Bars begin at the average of the background rows, and together they lead to the prediction, which
    is in the title.

    Args:
      explanation: of ``model.explain(X)``.
      row: number of the row.
      target: name or number of the target, if there are several.
      most: number of features to draw, those that add most to any of the three; the others are one bar.
      axes: three axes to draw on, left to right; new ones by default.
    """
    require_whole("most", most, 1)
    if not -len(explanation) <= row < len(explanation):
        raise ValueError(f"The `row` must be a whole number below {len(explanation)}. Got {row!r}.")
    parts = {name: explanation.output(name, target) for name in TITLES}
    values = np.stack([part.values[row] for part in parts.values()])
    shares = np.abs(values) / np.maximum(np.abs(values).sum(1, keepdims=True), np.finfo(float).tiny)
    order = np.argsort(-shares.max(0), kind="stable")
    shown, rest = order[:most], order[most:]
    names = [explanation.features[player] for player in shown]
    drawn = values[:, shown]
    if len(rest):
        names.append(f"{len(rest)} others")
        drawn = np.column_stack([drawn, values[:, rest].sum(1)])
    height = 1.5 + 0.34 * len(names)
    with several_axes(axes, 3, 9.5, height, sharey=True) as panels:
        for panel, (name, part), bars in zip(panels, parts.items(), drawn, strict=True):
            colour = COLOURS.get(name, GREY)
            panel.barh(np.arange(len(names)), bars, color=colour, alpha=0.75, height=0.62)
            panel.axvline(0, color=BLACK, linewidth=0.8)
            base, value = float(part.base), float(part.predicted[row])
            panel.set(title=f"{TITLES[name]} {value:.4g}", xlabel=f"added to the average, {base:.4g}")
            panel.margins(x=0.1)
            panel.set_yticks(np.arange(len(names)), names)
            panel.tick_params(axis="y", length=0)
            panel.set_ylim(len(names) - 0.5, -0.5)
    return panels
