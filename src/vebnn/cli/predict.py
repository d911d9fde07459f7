"""``vebnn predict``: predictions of new rows by a saved model."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from vebnn.cli.options import AsJSON, ErrorColumns, Images, IntervalLevel, ModelFolder
from vebnn.cli.tables import print_json, print_notices, to_records


def predict(
    model: ModelFolder,
    data: Annotated[
        Path | None,
        typer.Argument(
            metavar="[DATA]",
            show_default=False,
            help="Rows: .csv, .tsv, .parquet, .feather or .npz; may be left out with --images.",
        ),
    ] = None,
    images: Images = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="File: .csv, .tsv, .parquet or .feather (default: stdout)."),
    ] = None,
    level: IntervalLevel = 0.95,
    y_std: ErrorColumns = None,
    as_json: AsJSON = False,
) -> None:
    """Predict new rows: mean, total std, its two parts, and an interval.

    The columns are row (from 1), the identifiers of your table, then mean,
    std, aleatoric_std, epistemic_std, lower and upper, in the units of the
    target; several targets are told apart by their names as prefixes. A
    model of images needs --images; without DATA, all files there are rows.
    With --y-std, the known measurement error of each row adds to its noise.
    """
    from vebnn.tabular.files import check_can_write, write_table
    from vebnn.tabular.saving import load_model_and_rows

    if out is not None:
        check_can_write(out)
    loaded, rows = load_model_and_rows(model, data, images)
    prediction, notices = loaded.predict(rows, y_std=y_std or ())
    table = loaded.prediction_table(rows.frame, prediction, level)
    if out is not None:
        write_table(table, out)
    if as_json:
        records = {} if out else {"rows": to_records(table)}
        written = str(out) if out else None
        print_json({"out": written, "level": level, "notices": notices, **records})
        return
    print_notices(Console(stderr=True), notices)
    if out is None:
        typer.echo(table.to_csv(index=False), nl=False)
    else:
        typer.echo(f"Predictions of {len(table):,} rows are in {out}.")
