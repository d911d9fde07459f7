"""``vebnn predict``: predictions of new rows by a saved model."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from vebnn.cli.groups import Interrupted
from vebnn.cli.options import AsJSON, ErrorColumns, Images, IntervalLevel, ModelFolder, Scheduler
from vebnn.cli.tables import print_json, print_notices, to_records

if TYPE_CHECKING:
    from vebnn.tabular.streams.many import Where


def predict(
    model: ModelFolder,
    data: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="[DATA]...",
            show_default=False,
            help="Rows: .csv, .tsv, .parquet, .feather or .npz; several files, a folder or a pattern "
            "such as 'big/*.parquet'; may be left out with --images.",
        ),
    ] = None,
    images: Images = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            help="File: .csv, .tsv, .parquet or .feather (default: stdout); of several, a folder.",
        ),
    ] = None,
    level: IntervalLevel = 0.95,
    y_std: ErrorColumns = None,
    backend: Annotated[
        str, typer.Option(help="Where several files are predicted: local, dask or ray.")
    ] = "local",
    jobs: Annotated[
        int | None,
        typer.Option(help="How many files at once (default: one here, all workers of a cluster)."),
    ] = None,
    scheduler: Scheduler = None,
    as_json: AsJSON = False,
) -> None:
    """Predict new rows: mean, total std, its two parts, and an interval.

    The columns are row (from 1), the identifiers of your table, then mean,
    std, aleatoric_std, epistemic_std, lower and upper, in the units of the
    target; several targets are told apart by their names as prefixes. A
    model of images needs --images; without DATA, all files there are rows.
    With --y-std, the known measurement error of each row adds to its noise.
    CSV, TSV and Parquet files may be larger than memory: they are read block
    by block. Rerun the same command to resume after an interruption.
    """
    from vebnn.tabular.files import check_can_write, write_table
    from vebnn.tabular.saving import load_model_and_rows
    from vebnn.tabular.streams.many import HERE, Where, find_files
    from vebnn.tabular.streams.predicting import StreamPredictor, is_large

    files, many = find_files(data or [])
    where = Where(backend, 1 if jobs is None and backend == "local" else jobs, scheduler)
    if not many and where != HERE:
        raise ValueError("The --backend, --jobs and --scheduler are for several files. Leave them out.")
    console = Console(stderr=True, quiet=as_json)
    if many or is_large(files):
        if images is not None:
            raise ValueError("Images are predicted from one table. Leave out --images, or name one.")
        predictor = StreamPredictor(model, level, tuple(y_std or ()))
        if predictor.takes_blocks:
            _by_blocks(predictor, files, out, console, where if many else None, as_json=as_json)
            return
        if many:
            raise ValueError(
                f"Several files are for models of single rows of columns. The model is one of "
                f"{predictor.encoder.what}: predict one file at a time."
            )
    if out is not None:
        check_can_write(out)
    loaded, rows = load_model_and_rows(model, files[0] if files else None, images)
    prediction, notices = loaded.predict(rows, y_std=y_std or ())
    table = loaded.prediction_table(rows.frame, prediction, level)
    if out is not None:
        write_table(table, out)
    if as_json:
        records = {} if out else {"rows": to_records(table)}
        written = str(out) if out else None
        print_json({"out": written, "level": level, "notices": notices, **records})
        return
    print_notices(console, notices)
    if out is None:
        typer.echo(table.to_csv(index=False), nl=False)
    else:
        typer.echo(f"Predictions of {len(table):,} rows are in {out}.")


def _by_blocks(
    predictor: Any,
    files: Sequence[Path],
    out: Path | None,
    console: Console,
    where: "Where | None",
    *,
    as_json: bool,
) -> None:
    """Predict several files, somewhere, into a folder; or one into a file, or to stdout."""
    from vebnn.tabular.errors import counted
    from vebnn.tabular.streams.many import check_folder, predict_files
    from vebnn.tabular.streams.predicting import check_output
    from vebnn.tabular.streams.progress import StreamProgress

    if where is not None:
        out = check_folder(out)
    elif out is not None:
        check_output(out)
    elif as_json:
        raise ValueError("A large file makes too long a JSON document. Add --out FILE.")
    predictor.check(files[0])
    if out is None:
        _to_stdout(predictor, files[0], console)
        return
    with _resumable(), StreamProgress(console) as progress:
        if where is not None:
            num_rows, notices = predict_files(predictor, files, out, progress, where)
        else:
            num_rows, notices = predictor.predict(files[0], out, progress.show_rows)
    if as_json:
        print_json({"out": str(out), "level": predictor.level, "notices": notices})
        return
    print_notices(console, notices)
    what = counted(len(files), "file") if where is not None else f"{num_rows:,} rows"
    typer.echo(f"Predictions of {what} are in {out}.")


def _to_stdout(predictor: Any, file: Path, console: Console) -> None:
    from vebnn.tabular.notices import merged

    notices: list[str] = []
    for number, (table, about) in enumerate(predictor.tables(file)):
        typer.echo(table.to_csv(index=False, header=number == 0), nl=False)
        notices += about
    print_notices(console, merged(notices))


@contextmanager
def _resumable() -> Iterator[None]:
    try:
        yield
    except KeyboardInterrupt:
        raise Interrupted(
            "Interrupted. Finished blocks and files are kept; rerun the same command to resume."
        ) from None
