"""The history of a model as one HTML file that needs no network."""

from pathlib import Path
from typing import Any

import vebnn
from vebnn.serialization.files import write_bytes
from vebnn.tabular.additions.history import Addition, History
from vebnn.tabular.report.figures import Figure, Trace, axis, figure, line, scatter
from vebnn.tabular.report.page import as_script, asset, load_libraries
from vebnn.tabular.report.summary import number


def write_history(history: History, path: str | Path, model_name: str) -> None:
    """Write an HTML file on all additions to a model; whole or not at all.

    Raises:
      ImportError: if Plotly or Jinja is not installed.
    """
    plotly, template = load_libraries("history.html.jinja")
    write_bytes(Path(path), template.render(**_contents(history, model_name), plotly=plotly).encode())


def _contents(history: History, model_name: str) -> dict[str, Any]:
    additions = history.additions
    names = [one.target for one in additions[0].ignorance_before]
    drawn: list[Figure] = []
    targets = []
    for at, name in enumerate(names):
        drawn += [ignorance_figure(additions, at), error_figure(additions, at)]
        lines = [_line(one, at) for one in additions]
        summary = _summary(additions, at)
        figures = (len(drawn) - 2, len(drawn) - 1)
        targets.append({"name": name, "summary": summary, "figures": figures, "lines": lines})
    return {
        "version": vebnn.__version__,
        "model_name": model_name,
        "num_added": sum(one.num_added for one in additions),
        "num_additions": len(additions),
        "num_trained": additions[-1].num_trained,
        "targets": targets,
        "places": list(dict.fromkeys(one.points for one in additions)),
        "figures": as_script(drawn),
        "style": asset("page.css") + asset("report.css"),
        "script": asset("report.js"),
    }


def _summary(additions: tuple[Addition, ...], at: int) -> str:
    """Return how the ignorance has changed where it is measured now."""
    here = [one for one in additions if one.points == additions[-1].points]
    before, after = here[0].ignorance_before[at].median, here[-1].ignorance_after[at].median
    change = f"fell from {number(before)} to {number(after)}"
    if after >= before:
        change = f"did not fall: it was {number(before)} and is {number(after)}"
    return f"The typical ignorance about {here[0].ignorance_before[at].target} {change}."


def ignorance_figure(additions: tuple[Addition, ...], at: int) -> Figure:
    """Median and 90 % quantile of the epistemic std over the points, by the number of rows.

    Other points begin another curve.
    """
    data: list[Trace] = []
    for place in dict.fromkeys(one.points for one in additions):
        here = [one for one in additions if one.points == place]
        rows = [rows_before(additions, here[0]), *(one.num_trained for one in here)]
        stds = [here[0].ignorance_before[at], *(one.ignorance_after[at] for one in here)]
        first = not data
        for field, name, dash in (("median", "half", "solid"), ("high", "90 %", "dot")):
            values = [getattr(one, field) for one in stds]
            curve = line(rows, values, f"{name} of the points have less", "$ignorance", 2, dash)
            label = f"%{{x:,}} rows<br>%{{y:.4g}}<extra>{name}</extra>"
            marks = {"mode": "lines+markers", "hoverinfo": "all", "hovertemplate": label}
            marker = {"color": "$ignorance", "size": 7}
            data.append(curve | marks | {"marker": marker, "showlegend": first})
    return figure(data, _rows_axis(), axis("ignorance (epistemic std)", rangemode="tozero"))


def error_figure(additions: tuple[Addition, ...], at: int) -> Figure:
    """RMSE of held-out rows after each addition, and of new rows before they were learned."""
    rows = [rows_before(additions, one) for one in additions]
    label = "%{x:,} rows<br>%{y:.4g}<extra></extra>"
    data: list[Trace] = []
    held = [one for one in additions if one.held_out_after]
    if held:
        x = [rows_before(additions, held[0]), *(one.num_trained for one in held)]
        y = [held[0].held_out_before[at].rmse, *(one.held_out_after[at].rmse for one in held)]
        marks = {"mode": "lines+markers", "marker": {"color": "$ink", "size": 6}}
        hover = {"hoverinfo": "all", "hovertemplate": label}
        data.append(line(x, y, "held-out rows", "$ink", 2) | marks | hover)
    marker = {"color": "$noise", "size": 9, "symbol": "diamond"}
    errors = [one.new[at].rmse for one in additions]
    dots = scatter("markers", rows, errors) | {"marker": marker, "hovertemplate": label}
    data.append(dots | {"name": "new rows, not yet learned"})
    return figure(data, _rows_axis(), axis("typical error (RMSE)", rangemode="tozero"))


def rows_before(additions: tuple[Addition, ...], one: Addition) -> int:
    """Return how many rows the model had learned before an addition."""
    place = additions.index(one)
    return additions[place - 1].num_trained if place else one.num_trained - one.num_added


def _rows_axis() -> dict[str, Any]:
    return axis("rows to train on", rangemode="tozero")


def _line(one: Addition, at: int) -> dict[str, Any]:
    """Return a line of the table of a target."""
    new, (before, after) = one.new[at], (one.ignorance_before[at], one.ignorance_after[at])
    held = (one.held_out_before, one.held_out_after)
    return {
        "time": one.time.replace("T", " ").removesuffix("+00:00"),
        "source": one.source,
        "num_added": one.num_added,
        "num_trained": one.num_trained,
        "rmse": new.rmse,
        "coverage": f"{100 * new.coverage:.0f} %",
        "ignorance": (before.median, after.median),
        "held_out": tuple(scores[at].rmse for scores in held) if held[0] else None,
        "points": one.points,
        "continued": one.continued,
    }
