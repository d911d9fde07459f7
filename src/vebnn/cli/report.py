"""``vebnn report``: one HTML file on a model and some rows."""

from pathlib import Path
from typing import Annotated

import typer

from vebnn.cli.loading import load_model_and_rows
from vebnn.cli.output import AsJSON, Data, Model, print_json


def report(
    model: Model,
    data: Data,
    out: Annotated[Path, typer.Option("--out", "-o", help="The HTML file.")] = Path("report.html"),
    as_json: AsJSON = False,
) -> None:
    """Write one HTML file: how good the model is, and what it does not know.

    The rows must have their targets. Rows the model was trained on are
    recognised, and do not count in scores. The file needs no network.
    """
    if out.is_dir():
        raise IsADirectoryError(f"{out} is a folder. Give the name of a file.")
    loaded, frame = load_model_and_rows(model, data)

    from vebnn.tabular.report.page import check_libraries, write_report

    check_libraries()
    write_report(loaded, frame, out, data_name=data.name, model_name=model.name or str(model))
    if as_json:
        print_json({"out": str(out), "rows": len(frame), "bytes": out.stat().st_size})
    else:
        typer.echo(f"The report is in {out}. Open it in a browser.")
