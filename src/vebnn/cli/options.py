"""Arguments and options that several commands share."""

from pathlib import Path
from typing import Annotated

import typer


def _check_level(level: float) -> float:
    if not 0 < level < 1:
        raise ValueError(f"The --level must be strictly between 0 and 1. Got {level:g}.")
    return level


AsJSON = Annotated[bool, typer.Option("--json", help="Print one JSON document and nothing else.")]
ModelFolder = Annotated[
    Path, typer.Argument(metavar="MODEL", help="Folder of a model made by vebnn fit.")
]
DataFile = Annotated[
    Path, typer.Argument(metavar="DATA", help="Rows: .csv, .tsv, .parquet, .feather or .npz.")
]
Images = Annotated[
    Path | None,
    typer.Option("--images", metavar="FOLDER", help="Folder of the images that a column names."),
]
Scheduler = Annotated[str | None, typer.Option(help="Address of a running Dask scheduler or Ray head.")]
IntervalLevel = Annotated[
    float,
    typer.Option(help="Probability that an interval holds a new observation.", callback=_check_level),
]
ErrorColumns = Annotated[
    list[str] | None,
    typer.Option(
        "--y-std",
        metavar="COLUMN",
        help="Column of the known std of the target's measurement error; one per target, in order.",
    ),
]
