"""The chains of a fitted model, in prediction space."""

from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from sklearn.utils.validation import check_is_fitted

from vebnn.core.arguments import target_position
from vebnn.inference.diagnostics import FEWEST_DRAWS, MOST_ENTRIES, diagnose_chains
from vebnn.plots.canvas import axes_to_draw_on


def plot_chains(
    model: Any,
    row: int | None = None,
    *,
    target: str | int | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the predicted mean of every draw at one training row, a line per chain, with its R-hat.

    Chains that agree cross each other. Lines that stay apart are chains that have found different
    functions.

    Args:
      model: a fitted model whose engine has chains.
      row: number of the row, among the up to 512 training rows that the model keeps; by default that
        with the largest R-hat. Of a sequence, the step with the largest R-hat is drawn.
      target: name or number of the target, if there are several.
      ax: axes to draw on; new ones by default.

    Raises:
      ValueError: if the model has no chains.
    """
    check_is_fitted(model)
    if model.diagnostics_ is None:
        raise ValueError(
            f"The `model` must have chains of at least {FEWEST_DRAWS} draws. Got none; use an engine "
            f'that samples, such as inference="psghmc".'
        )
    names = model.target_names_
    probe = model.y_units_.restore(model.fitted_.probe.astype(float))
    at = target_position(target, names, probe.shape[-1])
    means = probe[..., at]  # (chains, draws, rows, ...)
    numbers = np.arange(means.shape[2])
    if row is not None:
        if row not in numbers:
            raise ValueError(f"The `row` must be a whole number from 0 to {numbers[-1]}. Got {row!r}.")
        means, numbers = means[:, :, [row]], numbers[[row]]
    entries = means.reshape(*means.shape[:2], -1)
    counts = np.flatnonzero(np.isfinite(entries).all((0, 1)))
    counts = counts[np.unique(np.linspace(0, len(counts) - 1, MOST_ENTRIES).round().astype(int))]
    r_hat = diagnose_chains(entries[..., counts]).r_hat
    worst = int(np.argmax(r_hat))
    place = np.unravel_index(counts[worst], means.shape[2:])
    where = ", ".join(
        [f"training row {numbers[place[0]]}", *(f"step {step + 1}" for step in place[1:])]
    )
    colours = matplotlib.colormaps["viridis"](np.linspace(0, 0.9, len(entries)))
    with axes_to_draw_on(ax) as axes:
        for chain, (trace, colour) in enumerate(
            zip(entries[..., counts[worst]], colours, strict=True), 1
        ):
            axes.plot(np.arange(1, len(trace) + 1), trace, color=colour, linewidth=1, label=f"{chain}")
        name = ("y" if model.one_output_ else f"y{at}") if names is None else names[at]
        axes.set(xlabel="draw", ylabel=f"mean of {name}", title=f"R-hat {r_hat[worst]:.2f} at {where}")
        axes.legend(title="chain", frameon=False, ncols=2)
    return axes
