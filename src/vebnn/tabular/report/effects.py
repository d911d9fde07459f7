"""The effect of each column: predictions of real rows, averaged, while that column alone changes."""

from typing import Any, NamedTuple

import numpy as np
import pandas

from vebnn.estimators.explanations import OUTPUTS
from vebnn.tabular.columns import CategoryColumn, Column, NumberColumn
from vebnn.tabular.date_column import DateColumn
from vebnn.tabular.model import TableModel
from vebnn.tabular.report import figures
from vebnn.tabular.report.figures import Figure, Trace, axis
from vebnn.tabular.scores import columns_of

NUM_POINTS = 41
NUM_ROWS = 100  # training rows that are averaged over
MOST_EFFECTS = 24
MOST_CATEGORIES_DRAWN = 12
MOST_TICKS = 100  # marks of training values below a curve
COLOURS = {"mean": "$ink", "aleatoric_std": "$noise", "epistemic_std": "$ignorance"}
# An axis spans at least this share of the target's std or, for an uncertainty, of its mean: otherwise
# a column without effect would look like one with.
LEAST_SPAN = 0.1


class Effect(NamedTuple):
    """The averages along one column; each ``(points, targets)``.

    The average at one point is the partial dependence of Friedman (2001, section 8.2), here of the
    predicted mean and of both stds.
    """

    column: Column
    places: list[Any]
    mean: np.ndarray
    aleatoric_std: np.ndarray
    epistemic_std: np.ndarray


def effects_of(model: TableModel) -> list[Effect]:
    """Return the effect of every column, those that move the prediction most first."""
    columns, inputs = model.table_encoder.columns, model.inputs_of_columns
    rows = model.sample[figures.some_rows(np.arange(len(model.sample)), NUM_ROWS)]
    effects = [_effect(model, column, inputs[column.name], rows) for column in columns]
    spread = np.array([one.std for one in model.facts.targets])
    return sorted(effects, key=lambda one: -float(np.max(np.ptp(one.mean, axis=0) / spread)))


def _effect(model: TableModel, column: Column, inputs: list[int], rows: np.ndarray) -> Effect:
    places = _places(column)
    encoded, _ = column.encode(pandas.Series(places, dtype=object, name=column.name))
    varied = np.tile(rows, (len(places), 1))
    varied[:, inputs] = np.repeat(encoded, len(rows), axis=0)
    prediction = model.estimator.predict_distribution(model.table_encoder.as_inputs(varied))
    averages = {
        name: columns_of(getattr(prediction, name)).reshape(len(places), len(rows), -1).mean(1)
        for name in OUTPUTS
    }
    return Effect(column, places, **averages)


def effect_figures(model: TableModel, effects: list[Effect], at: int) -> list[Figure]:
    """Draw the effects on target number ``at``: three panels each, every one with its own axis."""
    std = model.facts.targets[at].std
    return [_figure(model, one, at, std) for one in effects[:MOST_EFFECTS]]


def _figure(model: TableModel, one: Effect, at: int, std: float) -> Figure:
    data: list[Trace] = []
    axes: dict[str, Any] = {}
    domains = ([0.52, 1], [0.27, 0.46], [0, 0.21])
    for number, (name, domain) in enumerate(zip(OUTPUTS, domains, strict=True), 1):
        values = getattr(one, name)[:, at]
        shown = f"y{number}" if number > 1 else "y"
        data.append(_curve(one, values, name) | {"yaxis": shown})
        least = LEAST_SPAN * (std if name == "mean" else float(values.mean()))
        ends = _range(values, least)
        few = {"nticks": 6 if number == 1 else 4, "domain": domain, "range": ends}
        axes[shown.replace("y", "yaxis")] = axis(OUTPUTS[name], **few)
        if number == 1 and not isinstance(one.column, CategoryColumn):
            data.append(_training_values(model, one.column, ends[0]))
    ticks: dict[str, Any] = {}
    if isinstance(one.column, CategoryColumn):
        labels = [figures.shortened(str(place), 14) for place in one.places]
        middle = range(len(labels))
        ticks = {"tickvals": [*middle], "ticktext": labels, "showgrid": False}
        ticks["range"] = [-0.5, len(labels) - 0.5]
    x = axis(one.column.name, anchor=f"y{len(OUTPUTS)}", **ticks)
    return figures.figure(data, x, axes.pop("yaxis"), showlegend=False, **axes)


def _curve(one: Effect, values: np.ndarray, name: str) -> Trace:
    """Return a line or, for categories, a dot each."""
    words, colour = OUTPUTS[name], COLOURS[name]
    if isinstance(one.column, CategoryColumn):
        labels = [figures.escaped(str(place)) for place in one.places]
        dots = figures.scatter("markers", np.arange(len(values)), values)
        marker = {"color": colour, "size": 22, "symbol": "line-ew-open", "line": {"width": 3}}
        hover = f"%{{customdata}}: {words} %{{y:.4g}}<extra></extra>"
        return dots | {"marker": marker, "customdata": labels, "hovertemplate": hover}
    place = "%{x}" if isinstance(one.column, DateColumn) else "%{x:.4g}"  # dates are text
    line = figures.line(one.places, values, words, colour, width=2.2)
    hover = f"{place}: {words} %{{y:.4g}}<extra></extra>"
    return line | {"hoverinfo": "all", "hovertemplate": hover}


def _training_values(model: TableModel, column: NumberColumn | DateColumn, y: float) -> Trace:
    """Return a mark at the bottom for each of some training values: the model knows little between."""
    rows = model.sample[:, model.inputs_of_columns[column.name]]
    present = [place for row in rows if (place := column.decode(row)) is not None]
    x = [present[at] for at in figures.some_rows(np.arange(len(present)), MOST_TICKS)]
    marker = {"symbol": "line-ns-open", "size": 7, "color": "$muted", "line": {"width": 1}}
    marks = figures.scatter("markers", x, [y] * len(x))
    return marks | {"marker": marker, "hoverinfo": "skip", "cliponaxis": False}


def _range(values: np.ndarray, least: float) -> list[float]:
    """Return the ends of an axis around some values."""
    low, high = float(values.min()), float(values.max())
    wanted = max(1.2 * (high - low), least) or 1.0
    middle = (low + high) / 2
    return [middle - wanted / 2, middle + wanted / 2]


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
