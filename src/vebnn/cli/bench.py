"""``vebnn bench …``: the numbers this project claims."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from vebnn.cli.groups import new_group

bench = new_group("Compute the numbers this project claims; an interrupted run is resumed.")


@bench.command("toy")
def bench_toy(
    seeds: Annotated[int, typer.Option(help="Seeds 0, 1, … to average over.")] = 10,
    out: Annotated[Path, typer.Option(help="File of rows, one line per seed.")] = Path(
        "results/toy.jsonl"
    ),
) -> None:
    """Compare with the truth and an oracle on the one-dimensional example."""
    from vebnn.experiments import toy

    toy.bench_toy(seeds, out, Console())


@bench.command("uci")
def bench_uci(
    datasets: Annotated[
        str, typer.Option(help="Names of the data sets, separated by commas.")
    ] = "yacht,energy,concrete,boston",
    splits: Annotated[int, typer.Option(help="Random 80/20 splits of each data set.")] = 5,
    out: Annotated[Path, typer.Option(help="File of rows, one line per split.")] = Path(
        "results/uci.jsonl"
    ),
) -> None:
    """Compare with the paper on UCI data sets, read from the folder VEBNN_DATA."""
    from vebnn.experiments import uci

    names = [name.strip() for name in datasets.split(",") if name.strip()]
    uci.bench_uci(names, splits, out, Console())
