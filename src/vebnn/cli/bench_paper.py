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
