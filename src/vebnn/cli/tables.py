"""Tables and notices that commands print, or one JSON document."""

import json
import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import typer
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    import pandas

    from vebnn.tabular.model import TableModel
    from vebnn.tabular.scores import TargetScore

_CALIBRATION_LABELS = {
    "factor": "both variances times",
    "aleatoric_factor": "aleatoric variance times",
    "epistemic_factor": "epistemic variance times",
    "interval_stds": "interval reaches ± stds",
}


def print_json(document: Any) -> None:
    """Print one JSON document."""
    from vebnn.tabular.finite import finite

    typer.echo(json.dumps(finite(document), indent=2, ensure_ascii=False, allow_nan=False))


def to_records(table: "pandas.DataFrame") -> list[dict[str, Any]]:
    """Return a table as JSON objects, one per row: floats in full precision, null where missing."""
    records = json.loads(table.to_json(orient="records", double_precision=15))
    for name in table.select_dtypes("floating"):
        for record, value in zip(records, table[name].tolist(), strict=True):
            record[name] = value if math.isfinite(value) else None
    return records


def print_notices(console: Console, notices: Iterable[str]) -> None:
    """Print notices; column names in them are never taken as markup."""
    for notice in notices:
        console.print(Text(f"  · {notice}"), soft_wrap=True)


def new_table(title: str, *columns: str) -> Table:
    """Return an empty table; its first column is text, the others are numbers."""
    table = Table(title=Text(title), title_justify="left", title_style="bold", box=box.SIMPLE_HEAD)
    for number, name in enumerate(columns):
        table.add_column(Text(name), justify="right" if number else "left", overflow="fold")
    return table


def score_table(title: str, scores: Sequence["TargetScore"], estimator: Any) -> Table:
    """Return the table of scores, one column per target, with calibration and R-hat."""
    from vebnn.tabular.advice import calibration_numbers, percent

    level = scores[0].level
    lines = {
        "RMSE": [f"{score.rmse:.4g}" for score in scores],
        "RMSE of always predicting the mean": [f"{score.baseline_rmse:.4g}" for score in scores],
        "log-likelihood per row (TLL)": [f"{score.tll:.3f}" for score in scores],
        "CRPS": [f"{score.crps:.4g}" for score in scores if score.crps is not None],
        f"coverage of {percent(level)} intervals": [percent(score.coverage, 1) for score in scores],
        "typical aleatoric std (noise)": [f"{score.aleatoric_std:.4g}" for score in scores],
        "typical epistemic std (ignorance)": [f"{score.epistemic_std:.4g}" for score in scores],
    }
    for name, numbers in calibration_numbers(estimator.calibration_, level).items():
        lines[f"calibration: {_CALIBRATION_LABELS[name]}"] = [f"{number:.3g}" for number in numbers]
    if (freedom := degrees_of_freedom(estimator)) is not None:
        lines["degrees of freedom of the noise"] = [f"{number:.3g}" for number in freedom]
    if (r_hat := r_hat_of(estimator)) is not None:
        lines["R-hat of the chains (1 is best)"] = [f"{r_hat:.2f}", *[""] * (len(scores) - 1)]
    table = new_table(title, "", *(score.target for score in scores))
    for label, cells in lines.items():
        table.add_row(label, *cells)
    return table


def calibration_facts(model: "TableModel", level: float) -> dict[str, Any] | None:
    """Return the calibration of a model for JSON, or nothing."""
    from vebnn.tabular.advice import calibration_numbers

    if model.facts.calibration is None:
        return None
    numbers = calibration_numbers(model.estimator.calibration_, level)
    return {"method": model.facts.calibration, "rows": model.facts.num_calibrated, **numbers}


def degrees_of_freedom(estimator: Any) -> list[float] | None:
    """Return those of Student-t noise, one for each target, or nothing."""
    freedom = getattr(estimator, "degrees_of_freedom_", None)
    return None if freedom is None else freedom.tolist()


def relevance_facts(model: "TableModel") -> list[dict[str, Any]] | None:
    """Return how much each column matters for JSON, or nothing."""
    return None if model.relevance is None else to_records(model.relevance.to_frame().reset_index())


def training_use(model: "TableModel") -> str:
    """Return how a model uses its training rows, for sentences."""
    return "trained on" if model.facts.calibration is None else "trained or calibrated on"


def r_hat_of(estimator: Any) -> float | None:
    """Return R-hat of a fitted estimator's predictions, or nothing for engines without chains."""
    return estimator.diagnostics_ and estimator.diagnostics_.typical_r_hat
