"""``vebnn bench …``: the numbers this project claims."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from vebnn.cli.groups import listed, new_group

Mix = Annotated[
    bool, typer.Option("--mix", help="Count rows of the file that other versions of the code made.")
]

bench = new_group("Compute the numbers this project claims; an interrupted run is resumed.")


@bench.command("toy")
def bench_toy(
    seeds: Annotated[int, typer.Option(help="Seeds 0, 1, … to average over.")] = 10,
    methods: Annotated[
        str | None,
        typer.Option(help='Compare methods: names such as "VeBNN (pSGLD),MVE (pSGLD)", or all.'),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="File of rows; results/toy.jsonl or toy-methods.jsonl unless given."),
    ] = None,
    figures: Annotated[Path, typer.Option(help="Folder for the figure of a comparison.")] = Path(
        "results"
    ),
) -> None:
    """Compare with the truth and an oracle on the one-dimensional example, or methods with another."""
    from vebnn.bench.experiments import toy, toy_methods

    if methods is None:
        toy.bench_toy(seeds, out or Path("results/toy.jsonl"), Console())
    else:
        path = out or Path("results/toy-methods.jsonl")
        toy_methods.bench_methods(listed(methods), seeds, path, figures, Console())


@bench.command("sweep")
def bench_sweep(
    noise: Annotated[
        str, typer.Option(help="Kinds of noise, separated by commas.")
    ] = "heteroscedastic,homoscedastic",
    methods: Annotated[
        str, typer.Option(help="Names of methods; those of the paper's figures unless given.")
    ] = "",
    seeds: Annotated[int, typer.Option(help="Seeds 0, 1, … for every number of points.")] = 5,
    out: Annotated[Path, typer.Option(help="File of rows, one line per fit.")] = Path(
        "results/sweep.jsonl"
    ),
    figures: Annotated[Path, typer.Option(help="Folder for the figures.")] = Path("results"),
) -> None:
    """Follow methods from 5 to 500 points of the one-dimensional example."""
    from vebnn.bench.experiments import sweep

    sweep.bench_sweep(listed(noise), listed(methods), seeds, out, figures, Console())


@bench.command("modes")
def bench_modes(
    seeds: Annotated[int, typer.Option(help="Seeds 0, 1, … to average over.")] = 3,
    out: Annotated[Path, typer.Option(help="File of rows, one line per seed.")] = Path(
        "results/two-modes.jsonl"
    ),
    figures: Annotated[Path, typer.Option(help="Folder for the figure.")] = Path("results"),
) -> None:
    """Compare with the truth where the noise has two modes."""
    from vebnn.bench.experiments import two_modes

    two_modes.bench_two_modes(seeds, out, Console(), figures)


@bench.command("uci")
def bench_uci(
    datasets: Annotated[
        str, typer.Option(help="Names of the data sets, separated by commas.")
    ] = "yacht,energy,concrete,boston,wine-red",
    methods: Annotated[
        str,
        typer.Option(
            help="Names as in the paper's tables, separated by commas; or paper, peers, all; or "
            "module:function for a method of your own."
        ),
    ] = "VeBNN (pSGLD)",
    splits: Annotated[int, typer.Option(help="Random 80/20 splits of each data set.")] = 5,
    preset: Annotated[
        str, typer.Option(help="paper, standard (a tenth of that) or quick (minutes).")
    ] = "standard",
    engine: Annotated[str, typer.Option(help="Where fits run: local, dask or ray.")] = "local",
    jobs: Annotated[
        int | None, typer.Option(help="Fits at once; as many as there are cores unless given.")
    ] = None,
    scheduler: Annotated[
        str | None, typer.Option(help="Address of a running Dask scheduler or Ray head.")
    ] = None,
    out: Annotated[Path, typer.Option(help="File of rows, one line per fit.")] = Path(
        "results/uci.jsonl"
    ),
    mix: Mix = False,
) -> None:
    """Compare methods on UCI data sets; vebnn bench table writes the tables to files."""
    from vebnn.bench.comparison.measures import usual_metrics
    from vebnn.bench.comparison.reading import read_results
    from vebnn.bench.comparison.summary import summarise
    from vebnn.bench.experiments import uci
    from vebnn.bench.render.terminal import print_document

    console = Console()
    uci.bench_uci(
        listed(datasets),
        splits,
        out,
        console,
        methods=listed(methods),
        preset=preset,
        engine=engine,
        jobs=jobs,
        scheduler=scheduler,
        mix=mix,
    )
    summary = summarise(read_results([out], preset=preset, mix=mix), usual_metrics("uci"))
    print_document(summary.document(paper=True), console)
    console.print(f"Rows: {out}", highlight=False, soft_wrap=True)


@bench.command("plasticity")
def bench_plasticity(
    materials: Annotated[str, typer.Option(help="1, 2 or both, separated by a comma.")] = "1",
    sizes: Annotated[
        str, typer.Option(help="Numbers of training paths, separated by commas.")
    ] = "50,100,200,400,600,800,1000",
    methods: Annotated[
        str, typer.Option(help="Names of methods; those of the paper's figure unless given.")
    ] = "",
    repeats: Annotated[
        str, typer.Option(help="Random choices of training paths: one number, or one per size.")
    ] = "5",
    preset: Annotated[str, typer.Option(help="How methods are trained: paper or quick.")] = "quick",
    ablation: Annotated[
        str | None, typer.Option(help="Variants of VeBNN (pSGLD) instead: loss, rounds or size.")
    ] = None,
    out: Annotated[Path, typer.Option(help="File of rows, one line per fit.")] = Path(
        "results/plasticity.jsonl"
    ),
    figures: Annotated[Path, typer.Option(help="Folder for the figures.")] = Path("results"),
    jobs: Annotated[
        int | None,
        typer.Option(help="Fits at once, a core each; 1 gives one fit all cores."),
    ] = None,
    mix: Mix = False,
) -> None:
    """Learn the stress of a strain history, where the true mean and noise are known."""
    from vebnn.bench.experiments import plasticity

    plasticity.bench_plasticity(
        _whole("materials", materials),
        _whole("sizes", sizes),
        listed(methods),
        _whole("repeats", repeats),
        preset,
        ablation,
        out,
        figures,
        Console(),
        jobs=jobs,
        mix=mix,
    )


@bench.command("active")
def bench_active(
    seeds: Annotated[int, typer.Option(help="Seeds 0, 1, … to average over.")] = 20,
    out: Annotated[Path, typer.Option(help="File of rows; the figure is put beside it.")] = Path(
        "results/active.jsonl"
    ),
) -> None:
    """Ask for measurements by ignorance, by total uncertainty and at random."""
    from vebnn.bench.experiments import active

    active.bench_active(seeds, out, Console())


def _whole(option: str, numbers: str) -> list[int]:
    try:
        return [int(number) for number in listed(numbers)]
    except ValueError:
        raise ValueError(
            f"The option --{option} must be whole numbers separated by commas. Got {numbers!r}."
        ) from None
