"""``vebnn report``: one HTML file about a model and some rows."""

from pathlib import Path
from typing import Annotated

import typer

from vebnn.cli.options import AsJSON, DataFile, Images, ModelFolder
from vebnn.cli.tables import print_json


def report(
    model: ModelFolder,
    data: DataFile,
    images: Images = None,
    out: Annotated[Path, typer.Option("--out", "-o", help="HTML file to write.")] = Path("report.html"),
    as_json: AsJSON = False,
) -> None:
    """Write one HTML file: the model's errors, uncertainty and training.

    The rows must have their targets. Rows the model was trained on are
    recognised and do not count for the scores. The file needs no network.
    """
    from vebnn.tabular.saving import load_model_and_rows

    if out.is_dir():
        raise IsADirectoryError(f"{out} is a folder. Give the name of a file.")
    loaded, rows = load_model_and_rows(model, data, images)

    from vebnn.tabular.report.page import write_report

    write_report(loaded, rows, out, data_name=data.name, model_name=model.name or str(model))
    if as_json:
        print_json({"out": str(out), "rows": len(rows), "bytes": out.stat().st_size})
    else:
        typer.echo(f"The report is in {out}. Open it in a browser.")
