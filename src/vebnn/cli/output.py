"""What commands say: tables and sentences for people, or one JSON document for machines."""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from vebnn.tabular.model import TableModel
    from vebnn.tabular.scores import TargetScore

AsJSON = Annotated[bool, typer.Option("--json", help="Print JSON, and nothing else, to the output.")]
Model = Annotated[Path, typer.Argument(metavar="MODEL", help="Folder of a model made by vebnn fit.")]
Data = Annotated[
    Path, typer.Argument(metavar="DATA", help="Rows: .csv, .tsv, .parquet, .feather or .npz.")
]
Level = Annotated[float, typer.Option(help="Probability that an interval holds a new observation.")]


_CALIBRATION_WORDS = {
    "factor": "both variances times",
    "aleatoric_factor": "aleatoric variance times",
    "epistemic_factor": "epistemic variance times",
    "interval_stds": "interval reaches ± stds",
}


def print_json(document: Any) -> None:
    """Print one JSON document."""
    typer.echo(json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False))


def print_notices(console: Console, notices: Iterable[str]) -> None:
    """Print what the user should hear about the data; column names are never taken for markup."""
    for notice in notices:
        console.print(Text(f"  · {notice}"), soft_wrap=True)


def new_table(title: str, *columns: str) -> Table:
    """Return a table whose first column is words and whose others are numbers."""
    table = Table(title=Text(title), title_justify="left", title_style="bold", box=box.SIMPLE_HEAD)
    for number, name in enumerate(columns):
        table.add_column(Text(name), justify="right" if number else "left", overflow="fold")
    return table


def score_table(title: str, scores: Sequence["TargetScore"], estimator: Any) -> Table:
    """Return scores in words, one column per target, and what is known of the estimator."""
    from vebnn.tabular.advice import calibration_numbers, percent

    table = new_table(title, "", *(score.target for score in scores))
    lines = {
        "RMSE": [f"{score.rmse:.4g}" for score in scores],
        "RMSE of always guessing the mean": [f"{score.baseline_rmse:.4g}" for score in scores],
        "log-likelihood per row (TLL)": [f"{score.tll:.3f}" for score in scores],
        f"coverage of {percent(scores[0].level)} intervals": [
            f"{percent(score.coverage, 1)}" for score in scores
        ],
        "typical aleatoric std (noise)": [f"{score.aleatoric_std:.4g}" for score in scores],
        "typical epistemic std (ignorance)": [f"{score.epistemic_std:.4g}" for score in scores],
    }
    for name, numbers in calibration_numbers(estimator.calibration_, scores[0].level).items():
        lines[f"calibration: {_CALIBRATION_WORDS[name]}"] = [f"{number:.3g}" for number in numbers]
    if (r_hat := r_hat_of(estimator)) is not None:
        lines["R-hat of the chains (1 is best)"] = [f"{r_hat:.2f}", *[""] * (len(scores) - 1)]
    for words, cells in lines.items():
        table.add_row(words, *cells)
    return table


def calibration_of(model: "TableModel", level: float) -> dict[str, Any] | None:
    """Return how a model was calibrated, for JSON, or nothing."""
    from vebnn.tabular.advice import calibration_numbers

    if model.facts.calibration is None:
        return None
    numbers = calibration_numbers(model.estimator.calibration_, level)
    return {"method": model.facts.calibration, "rows": model.facts.num_calibrated, **numbers}


def unseen(model: "TableModel") -> str:
    """Return what was not done with rows whose score is honest."""
    return "trained on" if model.facts.calibration is None else "trained or calibrated on"


def r_hat_of(estimator: Any) -> float | None:
    """Return R-hat of a fitted estimator's predictions, or nothing for engines without chains."""
    return estimator.diagnostics_ and estimator.diagnostics_.typical_r_hat
