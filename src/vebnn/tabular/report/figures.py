"""Figures of the report as Plotly specifications; colours are names that the page resolves.

``$noise`` is orange and ``$ignorance`` is blue everywhere, as in :mod:`vebnn.plots`. The page defines
both for light and for dark backgrounds.
"""

import html
from typing import Any

import numpy as np
from scipy import special, stats

from vebnn.tabular.report.findings import Findings, TargetFindings

Figure = dict[str, Any]
Trace = dict[str, Any]

MOST_POINTS = 1_500
TWO_SIDED_95 = float(special.ndtri(0.975))


def escaped(text: str) -> str:
    """Return text that Plotly shows as it is, because Plotly reads ``<b>`` as bold."""
    return html.escape(str(text), quote=False)


def shortened(text: str, longest: int) -> str:
    """Return the beginning of a text, as Plotly shows it."""
    return escaped(text if len(text) <= longest else f"{text[: longest - 1]}…")


def axis(title: str, **settings: Any) -> dict[str, Any]:
    """Return an axis with a title."""
    return {"title": {"text": escaped(title)}, **settings}


def figure(data: list[Trace], x: dict[str, Any], y: dict[str, Any], **layout: Any) -> Figure:
    """Return a figure with its traces and axes."""
    return {"data": data, "layout": {"xaxis": x, "yaxis": y, **layout}}


def some_rows(rows: np.ndarray, most: int = MOST_POINTS) -> np.ndarray:
    """Return at most ``most`` of some rows, evenly spaced."""
    if len(rows) <= most:
        return rows
    return rows[np.unique(np.linspace(0, len(rows) - 1, most).round().astype(int))]


def scatter(mode: str, x: Any, y: Any) -> Trace:
    """Return points or a line without a style."""
    return {"type": "scatter", "mode": mode, "x": np.asarray(x).tolist(), "y": np.asarray(y).tolist()}


def line(x: Any, y: Any, name: str, colour: str, width: float = 1.5, dash: str = "solid") -> Trace:
    """Return a line that does not react to the pointer."""
    style = {"color": colour, "width": width, "dash": dash}
    return {**scatter("lines", x, y), "name": name, "line": style, "hoverinfo": "skip"}


def points(x: Any, y: Any, numbers: np.ndarray, hover: str, **settings: Any) -> Trace:
    """Return a dot per row; its label has the row's number in the file and what ``hover`` says."""
    trace = {
        **scatter("markers", x, y),
        "text": [f"row {number}" for number in numbers],
        "marker": {"size": 6, "color": "$ink"} | settings.pop("marker", {}),
        "hovertemplate": f"%{{text}}<br>{hover}<extra></extra>",
    }
    return trace | settings


def band(x: Any, low: Any, high: Any, name: str, colour: str) -> list[Trace]:
    """Return two lines with the area between them filled."""
    lower, upper = (line(x, edge, name, colour, width=0) for edge in (low, high))
    fill = {"fill": "tonexty", "fillcolor": colour}
    return [lower | {"showlegend": False}, upper | fill]


def predicted_and_observed(findings: Findings, target: TargetFindings) -> Figure:
    """Predicted against observed, with 95 % bars: total in orange, the epistemic part in blue."""
    scored = some_rows(np.flatnonzero(findings.evaluation.scored))
    order = scored[np.argsort(target.observed[scored])]
    x, y = target.observed[order], target.mean[order]
    low, high, mean_low, mean_high = target.ranges[:, order]
    ends = [float(min(x.min(), low.min())), float(max(x.max(), high.max()))]
    data = [
        line(ends, ends, "perfect", "$muted", dash="dot"),
        _bars(x, y, low, high, "$noise", 5),
        _bars(x, y, mean_low, mean_high, "$ignorance", 2.5),
        points(x, y, findings.row_numbers[order], "observed %{x:.4g}<br>predicted %{y:.4g}"),
    ]
    axes = axis(f"observed {target.name}"), axis(f"predicted {target.name}")
    return figure(data, *axes, showlegend=False)


def map_of_uncertainties(findings: Findings, target: TargetFindings) -> Figure:
    """Each row by its two uncertainties; above the diagonal, data would help."""
    rows = some_rows(np.arange(len(findings.frame)))
    trained = findings.evaluation.trained[rows]
    aleatoric, epistemic = target.aleatoric_std, target.epistemic_std
    ends = [0, 2 * float(max(aleatoric.max(), epistemic.max()))]
    data = [line(ends, ends, "equal", "$muted", dash="dot")]
    for name, here, colour, symbol in (
        ("not trained on", rows[~trained], "$ink", "circle"),
        ("trained on", rows[trained], "$muted", "circle-open"),
    ):
        if len(here):
            marker = {"size": 7, "color": colour, "opacity": 0.75, "symbol": symbol}
            hover = "noise %{x:.4g}<br>ignorance %{y:.4g}"
            place, numbers = (aleatoric[here], epistemic[here]), findings.row_numbers[here]
            data.append(points(*place, numbers, hover, name=name, marker=marker))
    notes = [
        _note(0.02, 0.98, "left", "top", "more data would help", "$ignorance"),
        _note(0.98, 0.02, "right", "bottom", "more data will not help", "$noise-text"),
    ]
    x = axis("aleatoric std (noise)", range=[0, 1.1 * float(aleatoric.max())])
    y = axis("epistemic std (ignorance)", range=[0, 1.2 * float(epistemic.max())])
    return figure(data, x, y, annotations=notes)


def reliability(findings: Findings, target: TargetFindings) -> Figure:
    """Promised against found coverage of central intervals, with the range that chance allows."""
    rows = np.flatnonzero(findings.evaluation.scored)
    distance = np.abs(target.error[rows])
    levels = np.arange(0.05, 1, 0.05)
    found = [float(np.mean(distance <= special.ndtri((1 + level) / 2))) for level in levels]
    number = target.score.num_independent
    low, high = (stats.binom.ppf(q, number, levels) / number for q in (0.025, 0.975))
    percent: dict[str, Any] = {"tickformat": ".0%", "range": [0, 1]}
    curve = line(levels, found, "found", "$ink", width=2) | {
        "mode": "lines+markers",
        "marker": {"color": "$ink", "size": 6},
        "hoverinfo": "all",
        "hovertemplate": "promised %{x:.0%}<br>found %{y:.0%}<extra></extra>",
    }
    chance = band(levels, low, high, "what chance allows", "$chance")
    data = [*chance, line([0, 1], [0, 1], "honest", "$muted", dash="dot"), curve]
    x, y = (axis(title, **percent) for title in ("promised share inside the range", "found share"))
    return figure(data, x, y)


def residuals(findings: Findings, target: TargetFindings) -> Figure:
    """Errors in units of the predicted std against the prediction, and their distribution."""
    rows = some_rows(np.flatnonzero(findings.evaluation.scored))
    error = target.error[rows]
    reach = max(3.2, float(np.abs(error).max()) * 1.08)
    grid = np.linspace(-reach, reach, 121)
    hidden = {"showlegend": False}
    hover = "predicted %{x:.4g}<br>error %{y:.2f} std"
    histogram = {
        "type": "histogram",
        "y": error.tolist(),
        "histnorm": "probability density",
        "marker": {"color": "$muted"},
        "opacity": 0.55,
        "xaxis": "x2",
        "hoverinfo": "skip",
        "ybins": {"size": 0.5, "start": -10, "end": 10},
    }
    numbers, marker = findings.row_numbers[rows], {"opacity": 0.75}
    data = [
        points(target.mean[rows], error, numbers, hover, marker=marker) | hidden,
        histogram | hidden,
        line(stats.norm.pdf(grid), grid, "expected", "$ink") | hidden | {"xaxis": "x2"},
    ]
    x = axis(f"predicted {target.name}", domain=[0, 0.78])
    x2 = {"domain": [0.81, 1], "showticklabels": False, "showgrid": False}
    y = axis("error / predicted std", range=[-reach, reach])
    edges = [_level_line(sign * TWO_SIDED_95) for sign in (-1, 1)]
    return figure(data, x, y, xaxis2=x2, shapes=edges)


def _bars(
    x: np.ndarray, y: np.ndarray, low: np.ndarray, high: np.ndarray, colour: str, width: float
) -> Trace:
    ends = {"array": (high - y).tolist(), "arrayminus": (y - low).tolist(), "symmetric": False}
    bars = {"type": "data", **ends, "color": colour, "thickness": width, "width": 0}
    marker = {"size": 1, "color": colour}
    return {**scatter("markers", x, y), "error_y": bars, "marker": marker, "hoverinfo": "skip"}


def _note(x: float, y: float, xanchor: str, yanchor: str, text: str, colour: str) -> dict[str, Any]:
    place = {"x": x, "y": y, "xref": "paper", "yref": "paper", "xanchor": xanchor, "yanchor": yanchor}
    return {**place, "text": text, "showarrow": False, "font": {"color": colour, "size": 13}}


def _level_line(y: float) -> dict[str, Any]:
    place = {"type": "line", "xref": "paper", "x0": 0, "x1": 0.78, "y0": y, "y1": y}
    return {**place, "line": {"color": "$muted", "width": 1, "dash": "dot"}}
