"""``vebnn bench rounds`` and ``paper``: a study of the paper, and the page of all of it."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from vebnn.cli.groups import listed


def bench_rounds(
    datasets: Annotated[
        str, typer.Option(help="Names of UCI data sets, separated by commas.")
    ] = "energy",
    variants: Annotated[
        str,
        typer.Option(help="trained and untrained (of Step 1), with Γ (a term of pSGLD)."),
    ] = "trained,untrained",
    rounds: Annotated[int, typer.Option(help="Rounds of Steps 2 and 3, K in Algorithm 1.")] = 5,
    splits: Annotated[int, typer.Option(help="Random 80/20 splits of each data set.")] = 3,
    preset: Annotated[
        str, typer.Option(help="paper, standard (the defaults), quick or thorough.")
    ] = "paper",
    out: Annotated[Path, typer.Option("--out", help="File of rows, one line per fit.")] = Path(
        "results/rounds.jsonl"
    ),
    figures: Annotated[Path, typer.Option(help="Folder for the figures.")] = Path("results"),
) -> None:
    """Score VeBNN (pSGLD) after every step inside one fit, as it is and with a change."""
    from vebnn.bench.experiments import rounds as study

    chosen = listed(datasets), listed(variants)
    study.bench_rounds(*chosen, rounds, splits, preset, out, figures, Console())


def bench_paper(
    rows: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="The folder with the files of rows.")
    ] = Path("docs/results"),
    out: Annotated[Path, typer.Option("--out", "-o", help="The Markdown file to write.")] = Path(
        "docs/results/paper.md"
    ),
) -> None:
    """Set every table and figure of the paper beside the rows of a folder, without a fit."""
    from vebnn.bench.pages.paper.page import paper_page
    from vebnn.serialization.files import write_bytes

    if not rows.is_dir():
        raise FileNotFoundError(f"There is no folder {rows}. Name the folder with the files of rows.")
    write_bytes(out, paper_page(rows).text.encode())
    typer.echo(f"Written: {out}")
