"""``vebnn predict`` and ``vebnn evaluate``: what a saved model says about rows."""

import json
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from rich.console import Console

from vebnn.cli.loading import load_model_and_rows
from vebnn.cli.output import (
    AsJSON,
    Data,
    Level,
    Model,
    calibration_of,
    print_json,
    print_notices,
    r_hat_of,
    score_table,
    unseen,
)


def predict(
    model: Model,
    data: Data,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="File: .csv, .tsv, .parquet or .feather; else the output."),
    ] = None,
    level: Level = 0.95,
    as_json: AsJSON = False,
) -> None:
    """Predict new rows: mean, total std, its two parts, and an interval.

    Columns are row (from 1), the identifiers of your table, then mean, std,
    aleatoric_std, epistemic_std, lower and upper; with several targets,
    each has the target's name in front.
    """
    from vebnn.tabular.files import check_can_write, write_table

    _check_level(level)
    if out is not None:
        check_can_write(out)
    loaded, frame = load_model_and_rows(model, data)
    prediction, notices = loaded.predict(frame)
    table = loaded.prediction_table(frame, prediction, level)
    if out is not None:
        write_table(table, out)
    if as_json:
        # By way of pandas' own JSON, which knows what becomes of a missing identifier.
        rows = {} if out else {"rows": json.loads(table.to_json(orient="records", double_precision=15))}
        written = str(out) if out else None
        print_json({"out": written, "level": level, "notices": notices, **rows})
        return
    print_notices(Console(stderr=True), notices)
    if out is None:
        typer.echo(table.to_csv(index=False), nl=False)
    else:
        typer.echo(f"Predictions of {len(table):,} rows are in {out}.")


def evaluate(model: Model, data: Data, level: Level = 0.95, as_json: AsJSON = False) -> None:
    """Score a model on rows whose targets are known.

    Rows the model was trained or calibrated on are recognised and left
    out, because a score on them flatters. If there are no others, it says so.
    """
    _check_level(level)
    loaded, frame = load_model_and_rows(model, data)
    trained = loaded.was_trained_on(frame)
    fresh = not trained.all()
    rows = frame[~trained] if fresh else frame
    # Notices are on the whole table, whose rows the user can count.
    notices = [*loaded.encoder.encode(frame).notices]
    scores = loaded.score(rows, loaded.predict(rows).prediction, level)
    if trained.any():
        number = int(np.sum(trained))
        notices.append(
            f"{number:,} of {len(frame):,} rows were {unseen(loaded)}, and are left out."
            if fresh
            else f"The model was {unseen(loaded)} all of these rows: the score flatters it."
        )
    if as_json:
        print_json(
            {
                "rows": len(frame),
                "trained_on": int(trained.sum()),
                "scored": len(rows),
                "fresh": fresh,
                "scores": [score._asdict() for score in scores],
                "calibration": calibration_of(loaded, level),
                "r_hat": r_hat_of(loaded.estimator),
                "notices": notices,
            }
        )
        return
    console = Console()
    print_notices(console, notices)
    seen = f"it was not {unseen(loaded)}" if fresh else f"it WAS {unseen(loaded)}"
    console.print(score_table(f"On {len(rows):,} rows {seen}", scores, loaded.estimator))


def _check_level(level: float) -> None:
    if not 0 < level < 1:
        raise ValueError(f"The --level must be strictly between 0 and 1. Got {level:g}.")
