"""``vebnn data …``: the data sets of the benchmarks and their files."""

from typing import Annotated, Any

import typer
from rich.console import Console

from vebnn.cli.groups import new_group
from vebnn.cli.options import AsJSON
from vebnn.cli.tables import new_table, print_json

Name = Annotated[str, typer.Argument(help="Name of a data set, as in vebnn data list.")]

data = new_group("List and download the data sets of the benchmarks.")


@data.command("list")
def list_data(as_json: AsJSON = False) -> None:
    """List the data sets, and whether they are downloaded."""
    from vebnn.datasets.uci import SOURCES, available

    rows: list[dict[str, Any]] = [
        {
            "name": name,
            "rows": SOURCES[name].num_rows,
            "features": len(SOURCES[name].feature_names),
            "targets": list(SOURCES[name].target_names),
            "file": None if path is None else str(path),
        }
        for name, path in available().items()
    ]
    if as_json:
        print_json(rows)
        return
    table = new_table("", "name", "rows", "features", "targets", "there")
    for row in rows:
        numbers, targets = (f"{row['rows']:,}", str(row["features"])), ", ".join(row["targets"])
        table.add_row(row["name"], *numbers, targets, "yes" if row["file"] else "no")
    Console().print(table)


@data.command("where")
def where(name: Name) -> None:
    """Print the file of a downloaded data set."""
    from vebnn.datasets.uci import where

    path = where(name)
    if path is None:
        raise ValueError(f"The {name} set is not downloaded. Download it: vebnn data fetch {name}.")
    typer.echo(path)


@data.command("fetch")
def fetch(name: Name) -> None:
    """Download a data set unless that is done, and print its file."""
    from vebnn.datasets.uci import fetch

    typer.echo(fetch(name))
