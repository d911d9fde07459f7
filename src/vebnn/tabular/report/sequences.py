"""Sequences of the report: pictures of some, and tables of those least known and noisiest."""

from typing import Any

import numpy as np

from vebnn.tabular.dates import written
from vebnn.tabular.report.cells import cell, reading_cell
from vebnn.tabular.report.figures import Figure, axis, band, escaped, figure, line, scatter, shortened
from vebnn.tabular.report.findings import Findings, TargetFindings
from vebnn.tabular.report.summary import reading
from vebnn.tabular.sequences.encoder import EncodedSequences
from vebnn.tabular.time_order import TimeOrder

PICTURES, SEQUENCES_LISTED = 6, 12


def sequence_figures(findings: Findings, target: TargetFindings) -> list[Figure]:
    """Draw some scored sequences, from the least known to the best known; none for other models."""
    table = findings.evaluation.table
    if not isinstance(table, EncodedSequences):
        return []
    every = _rows_of_sequences(table)
    scored = [rows for rows in every if findings.evaluation.scored[rows[0]]]
    order = np.argsort([-_typical(target.epistemic_std[rows]) for rows in scored], kind="stable")
    places = np.unique(np.linspace(0, len(order) - 1, PICTURES).round().astype(int))
    shown = [scored[number] for number in order[places]]
    together = np.concatenate(shown)
    ends = [*target.ranges[:2, together].ravel(), *target.observed[together]]
    margin = 0.05 * (max(ends) - min(ends))
    scale = axis(target.name, range=[min(ends) - margin, max(ends) + margin])
    return [_figure(table, target, rows, scale) for rows in shown]


def sequence_table(findings: Findings, target: TargetFindings, by: np.ndarray) -> dict[str, Any]:
    """Return the sequences with the largest ``by``, as cells with their keys for sorting."""
    table = findings.evaluation.table
    assert isinstance(table, EncodedSequences)
    every = _rows_of_sequences(table)
    order = np.argsort([-_typical(by[rows]) for rows in every], kind="stable")
    found = []
    for rows in (every[number] for number in order[:SEQUENCES_LISTED]):
        noise, ignorance = (_typical(std[rows]) for std in (target.aleatoric_std, target.epistemic_std))
        low, high = target.ranges[:2, rows]
        inside = (low <= target.observed[rows]) & (target.observed[rows] <= high)
        cells = [
            cell(_label(table, rows)),
            cell(len(rows)),
            cell(_typical(target.observed[rows] - target.mean[rows])),
            cell(100 * float(np.mean(inside))),
            cell(ignorance),
            cell(noise),
            reading_cell(reading(noise, ignorance), ""),
            cell("yes" if findings.evaluation.trained[rows[0]] else "no"),
        ]
        found.append(cells)
    name = table.encoder.by.sequence
    numbers = ["rows", "error (RMSE)", "inside 95 % range (%)", "ignorance (std)", "noise (std)"]
    return {"header": [name, *numbers, "reading", "trained on"], "rows": found}


def _rows_of_sequences(table: EncodedSequences) -> list[np.ndarray]:
    """Return the positions of the rows of each sequence, in the order of its steps."""
    number, place = table.matrix.sequence_of_rows, table.matrix.place[table.matrix.chosen]
    order = np.lexsort((place, number))
    return np.split(order, np.flatnonzero(np.diff(number[order])) + 1)


def _label(table: EncodedSequences, rows: np.ndarray) -> str:
    return str(table.frame[table.encoder.by.sequence].iloc[rows[0]])


def _typical(values: np.ndarray) -> float:
    return float(np.sqrt(np.mean(values**2)))


def _figure(
    table: EncodedSequences, target: TargetFindings, rows: np.ndarray, scale: dict[str, Any]
) -> Figure:
    by, frame = table.encoder.by, table.frame.iloc[rows]
    order = TimeOrder.read(frame, by.step, role="step")
    x = [written(time, time=True) for time in order.times] if order.dates else order.times
    low, high, mean_low, mean_high = target.ranges[:, rows]
    dots = scatter("markers", x, target.observed[rows]) | {
        "name": "observed",
        "marker": {"size": 4.5, "color": "$ink"},
        "text": [f"row {number + 1}" for number in frame.index],
        "hovertemplate": "%{text}<br>at %{x}<br>observed %{y:.4g}<extra></extra>",
    }
    data = [
        *band(x, low, high, "95 % range", "$noise-band"),
        *band(x, mean_low, mean_high, "its epistemic part", "$ignorance-band"),
        line(x, target.mean[rows], "mean", "$ignorance", width=2),
        dots,
    ]
    name = shortened(f"{by.sequence} {_label(table, rows)}", 40)
    title = {"title": {"text": f"{escaped(by.step)} · {name}"}}
    return figure(data, title, scale, showlegend=False)
