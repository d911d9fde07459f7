"""``vebnn data …``: the data sets of the benchmarks, and where they are."""

import os
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from vebnn.cli.groups import new_group
from vebnn.cli.output import AsJSON, new_table, print_json

data = new_group("List the data sets of the benchmarks, and where they are.")


@data.command("list")
def list_data(as_json: AsJSON = False) -> None:
    """List the data sets, and whether you have them."""
    from vebnn.datasets.uci import SOURCES

    rows: list[dict[str, Any]] = [
        {
            "name": name,
            "rows": source.num_rows,
            "features": len(source.feature_names),
            "targets": list(source.target_names),
            "there": _file_of(name).is_file(),
        }
        for name, source in SOURCES.items()
    ]
    if as_json:
        print_json(rows)
        return
    table = new_table("", "name", "rows", "features", "targets", "there")
    for row in rows:
        there = "yes" if row["there"] else "no"
        table.add_row(
            row["name"], f"{row['rows']:,}", str(row["features"]), ", ".join(row["targets"]), there
        )
    console = Console()
    console.print(table)
    console.print(f"Looked in {_file_of('<name>')}.", highlight=False, soft_wrap=True, markup=False)


@data.command("where")
def where(
    name: Annotated[str, typer.Argument(help="Name of a data set: see vebnn data list.")],
) -> None:
    """Print the file of a data set."""
    from vebnn.datasets.uci import load_uci

    load_uci(name)  # says what is wrong, if anything is
    typer.echo(_file_of(name))


def _file_of(name: str) -> Path:
    from vebnn.datasets.uci import FOLDER_VARIABLE

    return Path(os.environ.get(FOLDER_VARIABLE) or f"${FOLDER_VARIABLE}") / "uci" / name / "data.txt"
