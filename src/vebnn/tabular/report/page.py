"""The report as one HTML file that needs no network."""

import json
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pandas

import vebnn
from vebnn.estimators import Relevance
from vebnn.serialization.files import write_bytes
from vebnn.tabular.date_column import DateColumn
from vebnn.tabular.encoded import EncodedTable
from vebnn.tabular.finite import finite
from vebnn.tabular.model import TableModel
from vebnn.tabular.report import figures
from vebnn.tabular.report.cells import cell, reading_cell
from vebnn.tabular.report.effects import MOST_EFFECTS, NUM_ROWS, effect_figures, effects_of
from vebnn.tabular.report.explanation import least_known
from vebnn.tabular.report.findings import Findings, TargetFindings, find_out, unusual_values
from vebnn.tabular.report.gallery import gallery
from vebnn.tabular.report.relevance import MOST_COLUMNS_DRAWN, relevance_figure
from vebnn.tabular.report.sequences import sequence_figures, sequence_table
from vebnn.tabular.report.summary import number, reading, summarise
from vebnn.tabular.report.training import training_figures

ROWS_SHOWN = 12
COLUMNS_SHOWN = 8
COLUMNS_PRINTED = 2


def write_report(
    model: TableModel,
    rows: pandas.DataFrame | EncodedTable,
    path: str | Path,
    *,
    data_name: str,
    model_name: str,
) -> None:
    """Write an HTML file on a model and rows whose targets are known; whole or not at all.

    The names are those that the report shows.
    """
    plotly, template = load_libraries()
    findings = find_out(model, rows, data_name)
    content = template.render(**_contents(findings, model_name), plotly=plotly)
    write_bytes(Path(path), content.encode())


def load_libraries(page: str = "report.html.jinja") -> tuple[str, Any]:
    """Return Plotly's script and the template of a page."""
    try:
        from jinja2 import Environment, StrictUndefined
        from plotly.offline import get_plotlyjs
    except ImportError as error:
        raise ImportError("A report needs Plotly and Jinja: pip install 'vebnn[report]'.") from error
    # Text of the user's file is escaped unless the template says otherwise.
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["number"] = number
    return get_plotlyjs(), environment.from_string(asset(page))


def asset(name: str) -> str:
    """Return the text of a file in ``assets``."""
    return (files("vebnn.tabular.report") / "assets" / name).read_text("utf-8")


def as_script(value: Any) -> str:
    """Return JSON that cannot end the script element it stands in."""
    text = json.dumps(finite(value), allow_nan=False, ensure_ascii=False)
    for letter, code in (("<", "\\u003c"), (">", "\\u003e"), ("&", "\\u0026"), ("\u2028", "\\u2028")):
        text = text.replace(letter, code)
    return text


def _contents(findings: Findings, model_name: str) -> dict[str, Any]:
    model = findings.model
    drawn: list[figures.Figure] = []

    def add(figure: figures.Figure) -> int:
        """Keep a figure and return its number."""
        drawn.append(figure)
        return len(drawn) - 1

    effects = effects_of(model) if findings.of_rows else []
    # The same question, put to images, sequences and rows of a table.
    show: Any = gallery if findings.of_images else sequence_table
    show = _row_table if findings.of_rows else show
    targets = [
        {
            "name": target.name,
            "summary": summarise(findings, target),
            "score": target.score,
            "observed": add(figures.predicted_and_observed(findings, target)),
            "reliability": add(figures.reliability(findings, target)),
            "residuals": add(figures.residuals(findings, target)),
            "map": add(figures.map_of_uncertainties(findings, target)),
            "average_effects": [add(one) for one in effect_figures(model, effects, at)],
            "least_known": show(findings, target, target.epistemic_std),
            "noisiest": show(findings, target, target.aleatoric_std),
            "explanation": _explanation(findings, target, add),
            "sequences": [add(one) for one in sequence_figures(findings, target)],
        }
        for at, target in enumerate(findings.targets)
    ]
    relevance = model.relevance
    training = [(title, add(figure)) for title, figure in training_figures(model.estimator).items()]
    return {
        "version": vebnn.__version__,
        "model_name": model_name,
        "data_name": findings.data_name,
        "evaluation": findings.evaluation,
        "errors_known": bool(model.facts.y_std)
        and set(model.facts.y_std) <= set(findings.evaluation.table.frame.columns),
        "of_images": findings.of_images,
        "of_sequences": findings.of_sequences,
        "columns": model.encoder.columns,
        "effects": {}
        if relevance is None
        else dict(zip(relevance.names, _effects(relevance), strict=True)),
        "relevance": None if relevance is None else add(relevance_figure(relevance)),
        "columns_left_out": max(0, len(model.encoder.columns) - MOST_COLUMNS_DRAWN),
        "facts": model.facts,
        "warning": findings.warning,
        "targets": targets,
        "effects_left_out": max(0, len(effects) - MOST_EFFECTS),
        "rows_averaged": min(NUM_ROWS, len(model.sample)),
        "training": training,
        "rounds": getattr(model.estimator, "rounds_", ()),
        "diagnostics": model.estimator.diagnostics_,
        "settings": {
            name: "default" if value is None else str(value) for name, value in model.settings.items()
        },
        "figures": as_script(drawn),
        "style": asset("page.css") + asset("report.css"),
        "script": asset("sort.js") + asset("report.js"),
    }


def _explanation(
    findings: Findings, target: TargetFindings, add: Callable[[figures.Figure], int]
) -> dict[str, Any] | None:
    """Return why the model knows little about some rows; None for images and sequences."""
    found = least_known(findings, target)
    return None if found is None else {"reasons": found.reasons, "figure": add(found.figure())}


def _effects(relevance: Relevance) -> list[str]:
    """Return the effect of each column with its interval."""
    ends = zip(*relevance.effect, strict=True)
    return [f"{mean:.2f} ({lower:.2f} to {upper:.2f})" for mean, lower, upper in ends]


def _row_table(findings: Findings, target: TargetFindings, by: np.ndarray) -> dict[str, Any]:
    """Return the rows with the largest ``by``, as cells with their keys for sorting."""
    frame = findings.frame
    kept = [findings.identifier] if findings.identifier is not None else []
    kinds = {column.name: column.kind for column in findings.model.encoder.columns[:COLUMNS_SHOWN]}
    printed = list(kinds)[:COLUMNS_PRINTED]
    numbers = {
        "observed": target.observed,
        "predicted": target.mean,
        "ignorance (std)": target.epistemic_std,
        "noise (std)": target.aleatoric_std,
    }
    rows = []
    for row in map(int, np.argsort(-by, kind="stable")[:ROWS_SHOWN]):
        advice = reading(target.aleatoric_std[row], target.epistemic_std[row])
        why = "; ".join(unusual_values(findings, row))
        cells = [cell(findings.row_numbers[row]), *(cell(frame[name].iloc[row]) for name in kept)]
        cells += [cell(float(values[row])) for values in numbers.values()]
        cells.append(reading_cell(advice, why))
        for name, kind in kinds.items():
            one = cell(frame[name].iloc[row], name not in printed)
            if kind == DateColumn.kind and one["kind"] == "text":
                one["kind"] = kind  # it stays on one line
            cells.append(one)
        rows.append(cells)
    return {"header": ["row", *kept, *numbers, "reading", *kinds], "rows": rows}
