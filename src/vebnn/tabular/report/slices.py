"""Predictions along one feature, the others at their median or most frequent value."""

from typing import Any, NamedTuple

import numpy as np
import pandas

from vebnn.tabular.columns import CategoryColumn, Column, NumberColumn
from vebnn.tabular.date_column import DateColumn
from vebnn.tabular.model import TableModel
from vebnn.tabular.report import figures
from vebnn.tabular.report.figures import Figure, Trace, axis
from vebnn.tabular.scores import columns_of

NUM_POINTS = 61
MOST_SLICES = 24
MOST_CATEGORIES_DRAWN = 12
MOST_TRAINING_ROWS_DRAWN = 300


class FeatureSlice(NamedTuple):
    """The predictions along one feature; arrays are ``(points, targets)``."""

    column: Column
    places: list[Any]
    mean: np.ndarray
    noise: np.ndarray  # (2, points, targets), ends of the 95 % interval of noise alone
    ignorance: np.ndarray  # (2, points, targets), of the mean


def slices_of(model: TableModel) -> list[FeatureSlice]:
    """Return the slice of every feature, those that move the prediction most first."""
    columns, typical = model.table_encoder.columns, model.table_encoder.typical_row
    places = [_places(column) for column in columns]
    rows = [
        typical | {column.name: place}
        for column, some in zip(columns, places, strict=True)
        for place in some
    ]
    prediction = model.predict(pandas.DataFrame(rows, dtype=object)).prediction
    bands = (prediction.noise_interval(0.95), prediction.mean_interval(0.95))
    parts = (columns_of(prediction.mean), *(np.stack([*map(columns_of, band)]) for band in bands))
    ends = np.cumsum([len(some) for some in places])[:-1]
    slices = map(FeatureSlice, columns, places, *(np.split(part, ends, axis=-2) for part in parts))
    spread = np.array([one.std for one in model.facts.targets])
    return sorted(slices, key=lambda one: -float(np.max(np.ptp(one.mean, axis=0) / spread)))


def slice_figures(model: TableModel, slices: list[FeatureSlice], at: int) -> list[Figure]:
    """Draw the slices of target number ``at``, all with the same vertical scale."""
    shown = slices[:MOST_SLICES]
    target = model.facts.targets[at]
    ends = [target.low, target.high]
    for one in shown:
        ends += one.noise[..., at].ravel().tolist()
    margin = 0.05 * (max(ends) - min(ends))
    scale = {"range": [min(ends) - margin, max(ends) + margin]}
    return [_figure(model, one, at, scale) for one in shown]


def _figure(model: TableModel, one: FeatureSlice, at: int, scale: dict[str, Any]) -> Figure:
    mean, name = one.mean[:, at], one.column.name
    parts = (
        ("noise", one.noise[..., at], "$noise-band"),
        ("ignorance", one.ignorance[..., at], "$ignorance-band"),
    )
    if not isinstance(one.column, CategoryColumn):
        x = np.asarray(one.places)  # dates are text, which Plotly reads
        bands = [figures.band(x, low, high, part, colour) for part, (low, high), colour in parts]
        dots = [_training_points(model, one.column, at)] if len(model.sample) else []
        data = [*dots, *bands[0], *bands[1], _mean_line(x, mean)]
        return figures.figure(data, axis(name), scale)
    # Categories are drawn at 0, 1, …, each as a short step.
    x = np.arange(len(mean), dtype=float)
    data = [
        {
            "type": "bar",
            "name": part,
            "x": x.tolist(),
            "y": (high - low).tolist(),
            "base": low.tolist(),
            "marker": {"color": colour},
            "width": 0.6,
            "hoverinfo": "skip",
        }
        for part, (low, high), colour in parts
    ]
    marks = {"symbol": "line-ew-open", "size": 26, "color": "$ignorance", "line": {"width": 3}}
    labels = [str(place) for place in one.places]
    data.append(_mean_line(x, mean) | {"mode": "markers", "marker": marks, "customdata": labels})
    ticks = {"tickvals": x.tolist(), "ticktext": [figures.shortened(label, 14) for label in labels]}
    return figures.figure(data, axis(name, showgrid=False, **ticks), scale, barmode="overlay")


def _mean_line(x: np.ndarray, mean: np.ndarray) -> Trace:
    place = "%{x}" if x.dtype.kind == "U" else "%{x:.4g}"  # dates are text
    hover = {"hoverinfo": "all", "hovertemplate": f"{place}: %{{y:.4g}}<extra></extra>"}
    return figures.line(x, mean, "prediction", "$ignorance", width=2.2) | hover


def _training_points(model: TableModel, column: NumberColumn | DateColumn, at: int) -> Trace:
    names = model.table_encoder.encoded_names
    values = model.sample[:, names.index(column.encoded_names[0])]
    marked = f"{column.name} is missing"
    missing = model.sample[:, names.index(marked)] if marked in names else np.zeros(len(values))
    rows = figures.some_rows(np.flatnonzero(missing == 0), MOST_TRAINING_ROWS_DRAWN)
    x = (
        [column.written(day) for day in values[rows]]
        if isinstance(column, DateColumn)
        else values[rows]
    )
    dots = figures.scatter("markers", x, model.sample_observed[rows, at])
    marker = {"size": 4, "color": "$muted", "opacity": 0.5}
    return dots | {"name": "training rows", "marker": marker, "hoverinfo": "skip"}


def _places(column: Column) -> list[Any]:
    if isinstance(column, NumberColumn):
        return np.linspace(column.low, column.high, NUM_POINTS).tolist()
    if isinstance(column, DateColumn):
        return [column.written(day) for day in _days_along(column)]
    return column.present[:MOST_CATEGORIES_DRAWN]


def _days_along(column: DateColumn) -> np.ndarray:
    """Return days from the first to the last date; long periods in whole weeks or days.

    Otherwise the curve would jump between weekdays or between hours from one point to the next.
    """
    step = (column.high - column.low) / (NUM_POINTS - 1)
    if step > 1:
        unit = 7 if step > 7 else 1
        step = unit * np.ceil(step / unit)
    return np.arange(column.low, column.high + 1e-6 * step, step)
