"""The paper's convergence figures: scores against the amount of data."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import cycle
from typing import Any, NamedTuple

import numpy as np
import pandas
from matplotlib.figure import Figure

from vebnn.bench.figures.styled import legend_below, styled_figure
from vebnn.plots.style import BLACK, BLUE, GREEN, ORANGE, logarithmic, open_frame

# Fields with these endings have a logarithmic scale.
LOGARITHMIC = ("rmse", "rmse_percent", "wasserstein", "interval_length")
FAR_BELOW = -100
_COLOURS = (ORANGE, GREEN, BLACK, "#CC79A7", "#56B4E9", "#D55E00")
_MARKERS = "osD^vP"
_MOST_IN_A_LINE = 4


class Series(NamedTuple):
    """The scores of one method."""

    name: str
    sizes: np.ndarray  # amounts of data
    values: Mapping[str, np.ndarray]  # field → (sizes, runs), NaN where there is none


def series_of(rows: Sequence[Mapping[str, Any]], size: str, fields: Iterable[str]) -> list[Series]:
    """Return one series per method of some rows.

    Args:
      rows: of results.
      size: the field with the amount of data.
      fields: of the scores.
    """
    frame = pandas.DataFrame(rows)
    frame["run"] = frame.groupby(["method", size]).cumcount()
    found = []
    for name, mine in frame.groupby("method", sort=False):
        tables = {field: mine.pivot(index=size, columns="run", values=field) for field in fields}
        values = {field: table.to_numpy(float) for field, table in tables.items()}
        found.append(Series(str(name), np.unique(mine[size]), values))
    return found


def plot_convergence(all_series: Sequence[Series], panels: Mapping[str, str], across: str) -> Figure:
    """Draw medians over runs, with bands from the lowest to the highest.

    Errors are on a logarithmic scale. So are log-likelihoods if one is far below zero, because an
    overconfident method misses by orders of magnitude.

    Args:
      all_series: one for each method.
      panels: field of the values → title.
      across: label of the horizontal axis.
    """
    height = -(-len(panels) // _MOST_IN_A_LINE)
    width = -(-len(panels) // height)
    with styled_figure(3.9 * width, 4.3 * height) as figure:
        axes = figure.subplots(height, width, squeeze=False).ravel()
        styles = cycle(zip(_COLOURS, _MARKERS, strict=True))
        looks = {series.name: look for series, look in zip(all_series, styles, strict=False)}
        for panel, (field, title) in zip(axes, panels.items(), strict=False):
            panel.set_title(title)
            panel.set_xscale("log")
            if min(np.nanmin(one.values[field], initial=0) for one in all_series) < FAR_BELOW:
                panel.set_yscale("symlog", linthresh=10)
            for series in all_series:
                values = series.values[field]
                if np.isnan(values).all():
                    continue
                colour, marker = looks[series.name]
                # VeBNN is blue in every figure.
                colour = BLUE if series.name.startswith("VeBNN") else colour
                low, high = np.nanmin(values, axis=1), np.nanmax(values, axis=1)
                panel.fill_between(series.sizes, low, high, color=colour, alpha=0.15, linewidth=0)
                style = {"color": colour, "marker": marker, "markersize": 4.5, "linewidth": 1.8}
                panel.plot(series.sizes, np.nanmedian(values, axis=1), label=series.name, **style)
            if field.endswith(LOGARITHMIC):
                logarithmic(panel)
            panel.set_xlabel(across)
            panel.set_xticks(all_series[0].sizes, [str(size) for size in all_series[0].sizes])
            panel.minorticks_off()
            open_frame(panel)
        legend_below(figure, axes[0], most=5)
    return figure
