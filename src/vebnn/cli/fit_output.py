"""What ``vebnn fit`` prints before and after the training."""

import shlex
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.console import Console
from rich.text import Text

from vebnn.cli import tables
from vebnn.tabular.errors import counted

if TYPE_CHECKING:
    from vebnn.tabular.effort import Lengths
    from vebnn.tabular.encoded import Encoder
    from vebnn.tabular.model import TableModel
    from vebnn.tabular.plan import TrainingPlan

MOST_COLUMNS_SHOWN = 15


def print_plan(console: Console, plan: "TrainingPlan") -> None:
    """Print the division of the rows, the columns and the notices about them."""
    calibrated = f" {len(plan.calibrated):,} to calibrate on," if plan.calibrate else ""
    groups = plan.groups
    within = ""
    if groups.column is not None or groups.noun != "group":
        of = "" if groups.column is None else f" of {groups.column}"
        within = f" in {counted(groups.count, groups.noun)}{of}"
    latest = "" if plan.time is None else f", the latest by {plan.time.column}"
    opening = (
        f"{len(plan.table):,} rows{within}: {len(plan.trained):,} to train on,{calibrated} "
        f"{len(plan.held_out):,} held out{latest}."
    )
    console.print(Text(opening), soft_wrap=True)
    targets = zip(plan.encoder.targets, plan.table.observed.T, plan.missing_targets, strict=True)
    print_columns(console, plan.encoder, targets)
    tables.print_notices(console, plan.notices)


def print_columns(
    console: Console, encoder: "Encoder", targets: Iterable[tuple[str, np.ndarray, int]]
) -> None:
    """Print what each column is; targets have a name, values, and how many are missing."""
    columns = encoder.columns
    table = tables.new_table("", "column", "kind", "values", "missing")
    for name, values, missing in targets:
        span = f"{values.min():g} to {values.max():g}"
        table.add_row(Text(name), "target", span, str(missing or ""))
    for column in columns[:MOST_COLUMNS_SHOWN]:
        gaps = str(column.num_missing or "")
        table.add_row(Text(column.name), column.kind, Text(column.summary), gaps)
    console.print(table)
    if len(columns) > MOST_COLUMNS_SHOWN:
        console.print(f"  … and {len(columns) - MOST_COLUMNS_SHOWN} more columns", highlight=False)


def print_dry_run(
    console: Console,
    plan: "TrainingPlan",
    lengths: "Lengths",
    folder: Path,
    *,
    rounds: int | None,
    as_json: bool,
) -> None:
    """Print the lengths of the training that was not done, or the whole plan as JSON."""
    if as_json:
        tables.print_json(
            {
                "dry_run": True,
                "model": str(folder),
                "rows": len(plan.table),
                "trained": len(plan.trained),
                "calibrated": len(plan.calibrated),
                "held_out": len(plan.held_out),
                "group": plan.groups.column,
                "time": None if plan.time is None else plan.time.column,
                "y_std": plan.row_facts.y_std_columns,
                "weight": plan.row_facts.weight_column,
                **_description(plan.encoder),
                "notices": plan.notices,
                "lengths": {name: str(one) for name, one in lengths._asdict().items()},
                "rounds": rounds,
            }
        )
        return
    console.print("What would be trained", style="bold")
    tables.print_notices(
        console,
        [
            f"Mean networks:       at most {lengths.mean_training.num_epochs:,} epochs",
            f"Inference:           {lengths.inference}",
            f"Rounds:              {'until the noise has settled' if rounds is None else rounds}",
            "Time:                not estimated; --effort quick trains a quarter as long",
        ],
    )
    where = f"Nothing was trained or written. Without --dry-run, the model would go to {folder}."
    console.print(Text(where), soft_wrap=True)


def _description(encoder: "Encoder") -> dict[str, Any]:
    """Return how columns are encoded, without rows of the table."""
    return {name: value for name, value in encoder.describe().items() if name != "example"}


def print_result(
    console: Console,
    model: "TableModel",
    folder: Path,
    data: Path,
    images: Path | None,
    *,
    seconds: float,
    as_json: bool,
) -> None:
    """Print scores and what to do next, or the same as JSON."""
    from vebnn.tabular.advice import advise
    from vebnn.tabular.scores import DEFAULT_LEVEL

    facts, diagnostics = model.facts, model.estimator.diagnostics_
    mixed = diagnostics is None or not diagnostics.complaint()
    inputs = "columns" if images is None else "images"
    advice = advise(
        facts.scores,
        mixed,
        calibrated=facts.calibration is not None,
        inputs=inputs,
        lowest=tuple(one.low for one in facts.targets),
    )
    if as_json:
        tables.print_json(
            {
                "model": str(folder),
                "rows": facts.num_rows,
                "trained": facts.num_trained,
                "held_out": facts.num_held_out,
                "group": facts.group,
                "groups": facts.num_groups,
                "time": facts.time,
                "y_std": facts.y_std,
                "weight": facts.weight,
                **_description(model.encoder),
                "notices": facts.notices,
                "scores": [score._asdict() for score in facts.scores],
                "calibrated": facts.num_calibrated,
                "calibration": tables.calibration_facts(model, DEFAULT_LEVEL),
                "r_hat": tables.r_hat_of(model.estimator),
                "relevance": tables.relevance_facts(model),
                "advice": advice,
                "kept_bytes": 0 if model.history is None else model.history.kept.num_bytes,
                "degrees_of_freedom": tables.degrees_of_freedom(model.estimator),
                "seconds": round(seconds, 1),
            }
        )
        return
    if facts.scores:
        if facts.time is not None:
            console.print(Text(f"The score is of the latest rows by {facts.time}."), soft_wrap=True)
        title = f"On {facts.num_held_out:,} rows it was not {tables.training_use(model)}"
        console.print(tables.score_table(title, facts.scores, model.estimator))
    saved, rows = shlex.quote(str(folder)), shlex.quote(str(data))
    new, pool = "NEW.csv", "CANDIDATES.csv"
    if images is not None:
        rows += f" --images {shlex.quote(str(images))}"
        new, pool = "--images NEW", "--images CANDIDATES"
    next_steps = [
        f"See where it knows little:  vebnn report {saved} {rows} --out report.html",
        f"Predict new rows:           vebnn predict {saved} {new} --out predictions.csv",
        f"Choose what to measure:     vebnn suggest {saved} {pool}",
    ]
    if model.encoder.what == "sequences":  # steps are not measured one by one
        del next_steps[-1]
    if model.history is not None:
        next_steps += [
            f"The same without a file:    vebnn suggest {saved} --write-space space.toml",
            f"Learn new measurements:     vebnn add {saved} RESULTS.csv",
        ]
    console.print("What to do next", style="bold")
    tables.print_notices(console, [*advice, *next_steps])
    if model.history is not None:
        kept = model.history.kept
        size = _size(kept.num_bytes)
        words = (
            f"The model keeps all {len(kept):,} rows for vebnn add ({size}), unless --no-rows is given."
        )
        console.print(Text(words), soft_wrap=True)
    console.print(Text(f"The model is in {folder} ({seconds:.0f} s)."), soft_wrap=True)


def _size(num_bytes: int) -> str:
    return f"{num_bytes / 1e6:.1f} MB" if num_bytes >= 1e5 else f"{num_bytes / 1e3:.1f} kB"
