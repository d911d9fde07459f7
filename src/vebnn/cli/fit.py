"""``vebnn fit``: from a file of rows to a saved model."""

import time
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.text import Text

from vebnn.cli.groups import Interrupted
from vebnn.cli.output import (
    AsJSON,
    Data,
    calibration_of,
    new_table,
    print_json,
    print_notices,
    r_hat_of,
    score_table,
    unseen,
)

if TYPE_CHECKING:
    from vebnn.tabular.model import TableModel
    from vebnn.tabular.plan import Plan

MOST_COLUMNS_SHOWN = 15


def fit(
    data: Data,
    target: Annotated[
        list[str] | None,
        typer.Option("--target", "-t", help="Column to predict; repeat it for several."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Folder for the model (NAME.model for NAME.csv).")
    ] = None,
    drop: Annotated[
        list[str] | None, typer.Option(help="Column to leave out; repeat it for several.")
    ] = None,
    categorical: Annotated[
        list[str] | None, typer.Option(help="Column of numbers that are categories; may be repeated.")
    ] = None,
    inference: Annotated[
        str, typer.Option(help="Engine: psgld, ensemble, mc_dropout, bbb, sgld, sghmc, nuts or map.")
    ] = "psgld",
    effort: Annotated[str, typer.Option(help="Length of the training: quick, normal or thorough.")] = (
        "normal"
    ),
    rounds: Annotated[int, typer.Option(help="How often noise and Bayesian network take turns.")] = 1,
    hold_out: Annotated[
        float, typer.Option(help="Share of the rows kept for the score; 0 trains on all rows.")
    ] = 0.2,
    calibrate: Annotated[
        str | None, typer.Option(help="Correct the error bars: common, separate or conformal.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of the held-out rows and the training.")] = 0,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with an interrupted fit.")] = False,
    as_json: AsJSON = False,
) -> None:
    """Learn from a file of rows; score on rows held out; save the model.

    The model is trained on 80 % of the rows and scored on the others;
    that very model is saved. With --hold-out 0 it is trained on all rows,
    and has no score. With --calibrate a fifth of the rows that are not held
    out is kept to correct the error bars, and for nothing else. Ctrl-C
    leaves a checkpoint in MODEL.checkpoint; the same command with --resume
    goes on from there.
    """
    from vebnn.tabular.files import read_table
    from vebnn.tabular.plan import plan_table

    started = time.perf_counter()
    console = Console(quiet=as_json)
    frame = read_table(data)
    plan = plan_table(
        frame,
        target or [],
        drop=drop or [],
        categorical=categorical or [],
        hold_out=hold_out,
        seed=seed,
        source=data.name,
        calibrate=calibrate,
    )
    folder = out or data.with_name(f"{data.name.split('.')[0]}.model")
    checkpoint = _checkpoint_of(folder, resume)
    _print_plan(console, plan)
    settings = {
        "inference": inference,
        "effort": effort,
        "rounds": rounds,
        "random_state": seed,
        "verbose": int(not as_json),
        "checkpoint": str(checkpoint),
    }
    model = _train(plan, settings, folder, checkpoint)
    model.save(folder)
    _print_result(console, model, folder, data, time.perf_counter() - started, as_json)


def _checkpoint_of(folder: Path, resume: bool) -> Path:
    """Return the folder for checkpoints; refuse to overwrite an interrupted fit without being told."""
    from vebnn.tabular.saving import check_can_save

    check_can_save(folder)
    checkpoint = folder.with_name(f"{folder.name}.checkpoint")
    if checkpoint.exists() and not resume:
        raise ValueError(
            f"There is an interrupted fit in {checkpoint}. Add --resume to go on with it, or delete it."
        )
    return checkpoint


def _train(plan: "Plan", settings: dict[str, Any], folder: Path, checkpoint: Path) -> "TableModel":
    from sklearn.exceptions import ConvergenceWarning

    from vebnn.tabular.effort import new_estimator
    from vebnn.tabular.model import TableModel

    estimator = new_estimator(len(plan.trained), **settings)
    try:
        with warnings.catch_warnings():
            # The advice at the end says the same in words that fit a command line.
            warnings.simplefilter("ignore", ConvergenceWarning)
            model = TableModel.fit(estimator, plan)
    except KeyboardInterrupt:
        way = "Run the same command again."
        if checkpoint.exists():
            way = f"What is done is in {checkpoint}; run the same command with --resume to go on."
        raise Interrupted(f"Interrupted. {way}") from None
    # A saved model should not remember where its checkpoints were.
    estimator.set_params(checkpoint=None, verbose=0)
    return model


def _print_plan(console: Console, plan: "Plan") -> None:
    to_calibrate_on = f" {len(plan.calibrated):,} to calibrate on," if plan.calibrate else ""
    console.print(
        Text(
            f"{len(plan.matrix):,} rows: {len(plan.trained):,} to train on,{to_calibrate_on} "
            f"{len(plan.held_out):,} held out. Target{'s' if len(plan.encoder.targets) > 1 else ''}: "
            f"{', '.join(plan.encoder.targets)}."
        ),
        soft_wrap=True,
    )
    columns = plan.encoder.columns
    table = new_table("", "column", "kind", "values", "missing")
    for column in columns[:MOST_COLUMNS_SHOWN]:
        missing = str(column.num_missing) if column.num_missing else ""
        table.add_row(Text(column.name), column.kind, Text(column.summary), missing)
    console.print(table)
    if len(columns) > MOST_COLUMNS_SHOWN:
        console.print(f"  … and {len(columns) - MOST_COLUMNS_SHOWN} more columns", highlight=False)
    print_notices(console, plan.notices)


def _print_result(
    console: Console, model: "TableModel", folder: Path, data: Path, seconds: float, as_json: bool
) -> None:
    from vebnn.tabular.advice import advise, complaint_of
    from vebnn.tabular.scores import LEVEL

    scores, calibrated = model.facts.scores, model.facts.calibration is not None
    advice = advise(scores, complaint_of(model.estimator), calibrated=calibrated)
    if as_json:
        print_json(
            {
                "model": str(folder),
                "rows": model.facts.num_rows,
                "trained": model.facts.num_trained,
                "held_out": model.facts.num_held_out,
                **model.encoder.describe(),
                "notices": model.facts.notices,
                "scores": [score._asdict() for score in scores],
                "calibrated": model.facts.num_calibrated,
                "calibration": calibration_of(model, LEVEL),
                "r_hat": r_hat_of(model.estimator),
                "advice": advice,
                "seconds": round(seconds, 1),
            }
        )
        return
    if scores:
        title = f"On {model.facts.num_held_out:,} rows it was not {unseen(model)}"
        console.print(score_table(title, scores, model.estimator))
    console.print("What to do next", style="bold")
    print_notices(console, advice)
    console.print(
        Text(
            f"  · See where it knows little:  vebnn report {folder} {data} --out report.html\n"
            f"  · Predict new rows:           vebnn predict {folder} NEW.csv --out predictions.csv\n"
            f"  · Choose what to measure:     vebnn suggest {folder} CANDIDATES.csv"
        ),
        soft_wrap=True,
    )
    console.print(Text(f"The model is in {folder} ({seconds:.0f} s)."), soft_wrap=True)
