"""Figures of the report as Plotly specifications; colours are names that the page resolves.

``$noise`` is orange and ``$ignorance`` is blue everywhere, as in :mod:`vebnn.plots`. The page knows
both for light and for dark backgrounds.
"""

import html
from typing import Any

import numpy as np
from scipy import special, stats

from vebnn.tabular.report.findings import Findings, TargetFindings

Figure = dict[str, Any]

MOST_POINTS = 1_500
TWO_SIDED_95 = float(special.ndtri(0.975))


def escaped(text: str) -> str:
    """Return text that Plotly shows as it is: it would take ``<b>`` for bold."""
    return html.escape(str(text), quote=False)


def axis(title: str, **settings: Any) -> dict[str, Any]:
    """Return an axis with a title of the user's words."""
    return {"title": {"text": escaped(title)}, **settings}


def some_rows(rows: np.ndarray, most: int = MOST_POINTS) -> np.ndarray:
    """Return at most so many of some rows, evenly."""
    if len(rows) <= most:
        return rows
    return rows[np.unique(np.linspace(0, len(rows) - 1, most).round().astype(int))]


def predicted_and_observed(findings: Findings, target: TargetFindings) -> Figure:
    """Predicted against observed, with 95 % bars: total in orange, the epistemic part in blue."""
    judged = some_rows(np.flatnonzero(findings.judged))
    order = judged[np.argsort(target.observed[judged])]
    x, y = target.observed[order], target.mean[order]
    low = float(min(x.min(), (y - TWO_SIDED_95 * target.std[order]).min()))
    high = float(max(x.max(), (y + TWO_SIDED_95 * target.std[order]).max()))
    hover = [f"row {row + 1}" for row in order]
    return {
        "data": [
            _line([low, high], [low, high], "perfect", "$muted", dash="dot"),
            _bars(x, y, TWO_SIDED_95 * target.std[order], "$noise", 5),
            _bars(x, y, TWO_SIDED_95 * target.epistemic_std[order], "$ignorance", 2.5),
            {
                "type": "scatter",
                "mode": "markers",
                "x": x.tolist(),
                "y": y.tolist(),
                "text": hover,
                "marker": {"size": 6, "color": "$ink"},
                "hovertemplate": "%{text}<br>observed %{x:.4g}<br>predicted %{y:.4g}<extra></extra>",
            },
        ],
        "layout": {
            "showlegend": False,
            "xaxis": axis(f"observed {target.name}"),
            "yaxis": axis(f"predicted {target.name}"),
        },
    }


def map_of_uncertainties(findings: Findings, target: TargetFindings) -> Figure:
    """Each row by its two uncertainties; above the diagonal, data would help."""
    rows = some_rows(np.arange(len(findings.frame)))
    largest = 2 * float(max(target.aleatoric_std.max(), target.epistemic_std.max()))
    groups = {"not trained on": ~findings.trained[rows], "trained on": findings.trained[rows]}
    data: list[dict[str, Any]] = [_line([0, largest], [0, largest], "equal", "$muted", dash="dot")]
    for name, chosen in groups.items():
        here = rows[chosen]
        if len(here):
            data.append(
                {
                    "type": "scatter",
                    "mode": "markers",
                    "name": name,
                    "x": target.aleatoric_std[here].tolist(),
                    "y": target.epistemic_std[here].tolist(),
                    "text": [f"row {row + 1}" for row in here],
                    "marker": {
                        "size": 7,
                        "color": "$ink" if name == "not trained on" else "$muted",
                        "opacity": 0.75,
                        "symbol": "circle" if name == "not trained on" else "circle-open",
                    },
                    "hovertemplate": "%{text}<br>noise %{x:.4g}<br>ignorance %{y:.4g}<extra></extra>",
                }
            )
    notes = [
        _note(0.02, 0.98, "left", "top", "more data would help", "$ignorance"),
        _note(0.98, 0.02, "right", "bottom", "more data will not help", "$noise-text"),
    ]
    return {
        "data": data,
        "layout": {
            "xaxis": axis("aleatoric std (noise)", range=[0, 1.1 * float(target.aleatoric_std.max())]),
            "yaxis": axis(
                "epistemic std (ignorance)", range=[0, 1.2 * float(target.epistemic_std.max())]
            ),
            "annotations": notes,
        },
    }


def reliability(findings: Findings, target: TargetFindings) -> Figure:
    """Promised against found coverage of central intervals, with what chance allows."""
    rows = np.flatnonzero(findings.judged)
    distance = np.abs(target.observed[rows] - target.mean[rows]) / target.std[rows]
    levels = np.arange(0.05, 1, 0.05)
    found = [float(np.mean(distance <= special.ndtri((1 + level) / 2))) for level in levels]
    low, high = (stats.binom.ppf(q, len(rows), levels) / len(rows) for q in (0.025, 0.975))
    percent: dict[str, Any] = {"tickformat": ".0%", "range": [0, 1]}
    return {
        "data": [
            *band(levels, low, high, "what chance allows", "$chance"),
            _line([0, 1], [0, 1], "honest", "$muted", dash="dot"),
            {
                "type": "scatter",
                "mode": "lines+markers",
                "name": "found",
                "x": levels.tolist(),
                "y": found,
                "line": {"color": "$ink", "width": 2},
                "marker": {"color": "$ink", "size": 6},
                "hovertemplate": "promised %{x:.0%}<br>found %{y:.0%}<extra></extra>",
            },
        ],
        "layout": {
            "xaxis": axis("promised share inside the range", **percent),
            "yaxis": axis("found share", **percent),
        },
    }


def residuals(findings: Findings, target: TargetFindings) -> Figure:
    """Errors in units of the predicted std against the prediction, and their distribution."""
    rows = some_rows(np.flatnonzero(findings.judged))
    error = (target.observed[rows] - target.mean[rows]) / target.std[rows]
    reach = max(3.2, float(np.abs(error).max()) * 1.08)
    grid = np.linspace(-reach, reach, 121)
    return {
        "data": [
            {
                "type": "scatter",
                "mode": "markers",
                "x": target.mean[rows].tolist(),
                "y": error.tolist(),
                "text": [f"row {row + 1}" for row in rows],
                "marker": {"color": "$ink", "size": 6, "opacity": 0.75},
                "hovertemplate": "%{text}<br>predicted %{x:.4g}<br>error %{y:.2f} std<extra></extra>",
                "showlegend": False,
            },
            {
                "type": "histogram",
                "y": error.tolist(),
                "histnorm": "probability density",
                "marker": {"color": "$muted"},
                "opacity": 0.55,
                "xaxis": "x2",
                "hoverinfo": "skip",
                "showlegend": False,
                "ybins": {"size": 0.5, "start": -10, "end": 10},
            },
            {
                **_line(stats.norm.pdf(grid).tolist(), grid.tolist(), "expected", "$ink"),
                "xaxis": "x2",
                "showlegend": False,
            },
        ],
        "layout": {
            "xaxis": axis(f"predicted {target.name}", domain=[0, 0.78]),
            "xaxis2": {"domain": [0.81, 1], "showticklabels": False, "showgrid": False},
            "yaxis": axis("error / predicted std", range=[-reach, reach]),
            "shapes": [_level_line(sign * TWO_SIDED_95) for sign in (-1, 1)],
        },
    }


def band(x: Any, low: Any, high: Any, name: str, colour: str, **settings: Any) -> list[dict[str, Any]]:
    """Return two traces with the area between them filled."""
    shared = {"type": "scatter", "mode": "lines", "hoverinfo": "skip", **settings}
    invisible = {"width": 0, "color": colour}
    lower = {**shared, "x": _listed(x), "y": _listed(low), "line": invisible, "showlegend": False}
    upper = {**shared, "x": _listed(x), "y": _listed(high), "line": invisible, "name": name}
    return [lower, {**upper, "fill": "tonexty", "fillcolor": colour}]


def _listed(values: Any) -> list[float]:
    return np.asarray(values, float).tolist()


def _line(x: list, y: list, name: str, colour: str, dash: str = "solid") -> dict[str, Any]:
    line = {"color": colour, "width": 1.5, "dash": dash}
    return {
        "type": "scatter",
        "mode": "lines",
        "x": x,
        "y": y,
        "name": name,
        "line": line,
        "hoverinfo": "skip",
    }


def _bars(x: np.ndarray, y: np.ndarray, reach: np.ndarray, colour: str, width: float) -> dict[str, Any]:
    bars = {"type": "data", "array": reach.tolist(), "color": colour, "thickness": width, "width": 0}
    return {
        "type": "scatter",
        "mode": "markers",
        "x": x.tolist(),
        "y": y.tolist(),
        "error_y": bars,
        "marker": {"size": 1, "color": colour},
        "hoverinfo": "skip",
    }


def _note(x: float, y: float, xanchor: str, yanchor: str, text: str, colour: str) -> dict[str, Any]:
    place = {"x": x, "y": y, "xref": "paper", "yref": "paper", "xanchor": xanchor, "yanchor": yanchor}
    return {**place, "text": text, "showarrow": False, "font": {"color": colour, "size": 13}}


def _level_line(y: float) -> dict[str, Any]:
    place = {"type": "line", "xref": "paper", "x0": 0, "x1": 0.78, "y0": y, "y1": y}
    return {**place, "line": {"color": "$muted", "width": 1, "dash": "dot"}}
