"""Bars of variants of one method: the paper's figure of the sizes of the variance network."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas
from matplotlib.figure import Figure

from vebnn.plots.style import BLACK, BLUE, styled_figure


def plot_bars(rows: Sequence[Mapping[str, Any]], panels: Mapping[str, str]) -> Figure:
    """Draw the mean of every score over repeats, with its std: a panel for each, a bar per variant."""
    frame = pandas.DataFrame(rows).astype(dict.fromkeys(panels, float))
    groups = frame.groupby("method", sort=False)[list(panels)]
    means, stds = groups.mean(), groups.std().fillna(0)
    with styled_figure(3.4 * len(panels), 3.4) as figure:
        for axes, (field, title) in zip(
            figure.subplots(1, len(panels), squeeze=False)[0], panels.items(), strict=True
        ):
            axes.bar(means.index, means[field], yerr=stds[field], color=BLUE, ecolor=BLACK, width=0.7)
            axes.set_title(title)
            axes.tick_params(axis="x", rotation=60)
    return figure
