"""``vebnn bench rounds``: studies of the paper that need no comparison of methods."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from vebnn.cli.groups import listed


def bench_rounds(
    datasets: Annotated[
        str, typer.Option(help="Names of UCI data sets, separated by commas.")
    ] = "energy",
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
    """Score VeBNN (pSGLD) after every step inside one fit, with Step 1 trained and untrained."""
    from vebnn.bench.experiments import rounds as study

    study.bench_rounds(listed(datasets), rounds, splits, preset, out, figures, Console())
