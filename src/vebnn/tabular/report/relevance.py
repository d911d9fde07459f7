"""The figure of how much each column matters."""

from typing import Any

import numpy as np

from vebnn.estimators import Relevance, Spread
from vebnn.tabular.report.figures import Figure, Trace, axis, figure, line, scatter, shortened

MOST_COLUMNS_DRAWN = 24
FEW_DECADES = 1.5  # in these, all ticks have labels that fit on a phone
TICKS = [leading * 10.0**power for power in range(-4, 4) for leading in (1, 2, 5)]


def relevance_figure(relevance: Relevance) -> Figure:
    """Effect and scale of each column with 95 % intervals, the largest effect on top."""
    shown = relevance.order[:MOST_COLUMNS_DRAWN]
    names = [relevance.names[number] for number in shown]
    data = [
        *_dots(relevance.effect, shown, names, "effect", "x"),
        line([1, 1], [-0.5, len(shown) - 0.5], "prior", "$muted", dash="dot") | {"xaxis": "x2"},
        *_dots(relevance.scale, shown, names, "scale", "x2"),
    ]
    x = axis("effect", domain=[0, 0.48], rangemode="tozero")
    x2 = axis(
        "scale", domain=[0.54, 1], type="log", tickvals=TICKS, ticktext=_labels(relevance.scale, shown)
    )
    ticks = {"tickvals": list(range(len(shown))), "ticktext": [shortened(name, 24) for name in names]}
    y = {**ticks, "range": [len(shown) - 0.5, -0.5]}
    return figure(data, x, y, xaxis2=x2, showlegend=False)


def _labels(scale: Spread, shown: np.ndarray) -> list[str]:
    """Return the labels of the ticks: powers of 10 alone, unless there are few of them."""
    decades = np.log10(scale.upper[shown].max() / scale.lower[shown].min())
    every = decades <= FEW_DECADES
    return [f"{one:g}" if every or f"{one:e}".startswith("1.") else "" for one in TICKS]


def _dots(spread: Spread, shown: np.ndarray, names: list[str], label: str, x: str) -> list[Trace]:
    """Return the intervals and, on top of them, the means, which react to the pointer."""
    mean, lower, upper = (part[shown] for part in spread)
    reach: dict[str, Any] = {
        "type": "data",
        "symmetric": False,
        "array": (upper - mean).tolist(),
        "arrayminus": (mean - lower).tolist(),
        "color": "$ignorance-band",
        "thickness": 4,
        "width": 0,
    }
    dots = scatter("markers", mean, np.arange(len(shown))) | {"xaxis": x}
    marker = {"size": 9, "color": "$ignorance"}
    hover = {
        "text": [shortened(name, 60) for name in names],
        "customdata": np.stack([lower, upper], 1).tolist(),
        "hovertemplate": f"%{{text}}<br>{label} %{{x:.3g}} "
        "(95 %: %{customdata[0]:.3g} to %{customdata[1]:.3g})<extra></extra>",
    }
    bars = dots | {"error_x": reach, "marker": {"size": 1, "color": "$ignorance"}, "hoverinfo": "skip"}
    return [bars, dots | {"marker": marker} | hover]
