"""One feature moves, the others stay at their median or most frequent value."""

from typing import Any, NamedTuple

import numpy as np
import pandas

from vebnn.tabular.columns import Column, NumberColumn
from vebnn.tabular.model import TableModel
from vebnn.tabular.report.figures import TWO_SIDED_95, Figure, axis, band, escaped, some_rows
from vebnn.tabular.scores import columns_of
from vebnn.tabular.values import MISSING

NUM_POINTS = 61
MOST_SLICES = 24
MOST_CATEGORIES = 12


class Slice(NamedTuple):
    """The predictions along one feature; arrays are ``(points, targets)``."""

    column: Column
    places: list[Any]
    mean: np.ndarray
    aleatoric_std: np.ndarray
    epistemic_std: np.ndarray


def slices_of(model: TableModel) -> list[Slice]:
    """Return the slice of every feature, those that move the prediction most first."""
    typical = {column.name: column.typical for column in model.encoder.columns}
    places = [_places(column) for column in model.encoder.columns]
    rows = pandas.concat(
        [
            pandas.DataFrame([typical | {column.name: place} for place in some], dtype=object)
            for column, some in zip(model.encoder.columns, places, strict=True)
        ],
        ignore_index=True,
    )
    prediction = model.predict(rows).prediction
    parts = map(columns_of, (prediction.mean, prediction.aleatoric_std, prediction.epistemic_std))
    ends = np.cumsum([len(some) for some in places])[:-1]
    mean, aleatoric, epistemic = (np.split(part, ends) for part in parts)
    found = [
        Slice(column, places[at], mean[at], aleatoric[at], epistemic[at])
        for at, column in enumerate(model.encoder.columns)
    ]
    spread = np.array([one.std for one in model.facts.targets])
    return sorted(found, key=lambda one: -float(np.max(np.ptp(one.mean, axis=0) / spread)))


def slice_figures(model: TableModel, slices: list[Slice], at: int) -> list[Figure]:
    """Draw the slices of target number ``at``, all with the same vertical scale."""
    shown = slices[:MOST_SLICES]
    ends = [
        edge
        for one in shown
        for sign in (-1, 1)
        for edge in one.mean[:, at] + sign * TWO_SIDED_95 * one.aleatoric_std[:, at]
    ]
    low, high = model.facts.targets[at].low, model.facts.targets[at].high
    limits = [min(low, *ends), max(high, *ends)]
    room = 0.05 * (limits[1] - limits[0])
    scale = {"range": [limits[0] - room, limits[1] + room]}
    return [_figure(model, one, at, scale) for one in shown]


def _figure(model: TableModel, one: Slice, at: int, scale: dict[str, Any]) -> Figure:
    mean = one.mean[:, at]
    noise, ignorance = (TWO_SIDED_95 * part[:, at] for part in (one.aleatoric_std, one.epistemic_std))
    number = isinstance(one.column, NumberColumn)
    # Categories are drawn at 0, 1, …, each as a short step.
    x = np.asarray(one.places, float) if number else np.arange(len(mean), dtype=float)
    if number:
        data = [
            _training_points(model, one.column.name, at),
            *band(x, mean - noise, mean + noise, "noise", "$noise-band"),
            *band(x, mean - ignorance, mean + ignorance, "ignorance", "$ignorance-band"),
            _mean_line(x, mean),
        ]
        return {"data": data, "layout": {"xaxis": axis(one.column.name), "yaxis": scale}}
    data = []
    for reach, name, colour in (
        (noise, "noise", "$noise-band"),
        (ignorance, "ignorance", "$ignorance-band"),
    ):
        data.append(
            {
                "type": "bar",
                "name": name,
                "x": x.tolist(),
                "y": (2 * reach).tolist(),
                "base": (mean - reach).tolist(),
                "marker": {"color": colour},
                "width": 0.6,
                "hoverinfo": "skip",
            }
        )
    marks = {"symbol": "line-ew-open", "size": 26, "color": "$ignorance", "line": {"width": 3}}
    points = {**_mean_line(x, mean), "mode": "markers", "marker": marks}
    points["customdata"] = [str(place) for place in one.places]
    labels = [_short(str(place)) for place in one.places]
    ticks = axis(one.column.name, tickvals=x.tolist(), ticktext=labels, showgrid=False)
    return {"data": [*data, points], "layout": {"xaxis": ticks, "yaxis": scale, "barmode": "overlay"}}


def _mean_line(x: np.ndarray, mean: np.ndarray) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": "lines",
        "name": "prediction",
        "x": x.tolist(),
        "y": mean.tolist(),
        "line": {"color": "$ignorance", "width": 2.2},
        "hovertemplate": "%{x:.4g}: %{y:.4g}<extra></extra>",
    }


def _training_points(model: TableModel, name: str, at: int) -> dict[str, Any]:
    names = model.encoder.encoded_names
    column = model.sample[:, names.index(name)]
    there = np.ones(len(column), bool)
    if f"{name} is missing" in names:
        there = model.sample[:, names.index(f"{name} is missing")] == 0
    rows = some_rows(np.flatnonzero(there), 300)
    return {
        "type": "scatter",
        "mode": "markers",
        "name": "training rows",
        "x": column[rows].tolist(),
        "y": model.sample_observed[rows, at].tolist(),
        "marker": {"size": 4, "color": "$muted", "opacity": 0.5},
        "hoverinfo": "skip",
    }


def _places(column: Column) -> list[Any]:
    if isinstance(column, NumberColumn):
        return np.linspace(column.low, column.high, NUM_POINTS).tolist()
    return [label for label in column.categories if label != MISSING][:MOST_CATEGORIES]


def _short(label: str, longest: int = 14) -> str:
    return escaped(label if len(label) <= longest else f"{label[: longest - 1]}…")
