"""``vebnn bench …``: the numbers this project claims."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from vebnn.cli.bench_pages import bench_page, bench_table
from vebnn.cli.bench_paper import bench_paper, bench_rounds
from vebnn.cli.bench_run import bench_run
from vebnn.cli.groups import listed, new_group
from vebnn.cli.options import Scheduler

if TYPE_CHECKING:
    from vebnn.bench.render.sheet import Sheet

Methods = Annotated[
    str, typer.Option(help="Names of methods; those of the paper's figures by default.")
]
Seeds = Annotated[int, typer.Option(help="Seeds 0, 1, … to average over.")]
RowsFile = Annotated[Path, typer.Option("--out", help="File of rows, one line per fit.")]
Figures = Annotated[Path, typer.Option(help="Folder for the figures.")]
Jobs = Annotated[
    int | None, typer.Option(help="Fits at once, a core each; as many as there are cores by default.")
]
Preset = Annotated[
    str, typer.Option(help="paper, standard (a tenth of that), quick (minutes) or thorough.")
]
ToyPreset = Annotated[str, typer.Option(help="standard (the defaults) or paper.")]
TableMethods = Annotated[
    str, typer.Option(help='Names as for bench uci, such as "VeBNN (pSGHMC),NGBoost,bde".')
]

bench = new_group(
    "Compare methods on your tables (run), or compute the numbers this project claims. Rerun a command "
    "to resume it."
)
bench.command("run")(bench_run)
bench.command("rounds")(bench_rounds)


@bench.command("toy")
def bench_toy(
    seeds: Seeds = 10,
    methods: Annotated[
        str | None,
        typer.Option(help='Compare methods: names such as "VeBNN (pSGLD),MVE (pSGLD)", or all.'),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="File of rows; results/toy.jsonl or toy-methods.jsonl by default."),
    ] = None,
    preset: ToyPreset = "standard",
    figures: Figures = Path("results"),
) -> None:
    """Compare the default model, or several methods, with the truth of the one-dimensional example."""
    from vebnn.bench.experiments import toy, toy_methods

    if methods is None and preset == "standard":
        toy.bench_toy(seeds, out or Path("results/toy.jsonl"), Console())
    else:
        path = out or Path("results/toy-methods.jsonl")
        chosen = listed(methods or "VeBNN (pSGLD)")
        toy_methods.bench_methods(chosen, seeds, path, figures, Console(), preset)


@bench.command("sweep")
def bench_sweep(
    noise: Annotated[
        str, typer.Option(help="Kinds of noise, separated by commas.")
    ] = "heteroscedastic,homoscedastic",
    methods: Methods = "",
    seeds: Seeds = 5,
    out: RowsFile = Path("results/sweep.jsonl"),
    preset: ToyPreset = "standard",
    figures: Figures = Path("results"),
) -> None:
    """Follow methods from 5 to 500 points of the one-dimensional example."""
    from vebnn.bench.experiments import sweep

    chosen = listed(noise), listed(methods)
    sweep.bench_sweep(*chosen, seeds, out, figures, Console(), preset)


@bench.command("modes")
def bench_modes(
    seeds: Seeds = 3,
    out: RowsFile = Path("results/two-modes.jsonl"),
    figures: Figures = Path("results"),
) -> None:
    """Compare the mixture model with the truth where the noise has two modes."""
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
            help="Names as in the paper's tables, separated by commas; or paper, baselines, all; or "
            "module:function for a method of your own."
        ),
    ] = "VeBNN (pSGHMC)",
    splits: Annotated[int, typer.Option(help="Random 80/20 splits of each data set.")] = 5,
    standard: Annotated[
        bool,
        typer.Option(
            "--standard", help="Take the splits from the 20 standard 90/10 splits of the literature."
        ),
    ] = False,
    preset: Preset = "standard",
    backend: Annotated[str, typer.Option(help="Where fits run: local, dask or ray.")] = "local",
    engine: Annotated[str | None, typer.Option(hidden=True)] = None,  # the former name of --backend
    jobs: Jobs = None,
    scheduler: Scheduler = None,
    out: Annotated[
        Path | None,
        typer.Option(help="File of rows; results/uci.jsonl or uci-standard.jsonl by default."),
    ] = None,
) -> None:
    """Compare methods on UCI data sets; vebnn bench table writes the tables to files."""
    from vebnn.bench.comparison.measures import usual_metrics
    from vebnn.bench.comparison.reading import read_results
    from vebnn.bench.comparison.summary import summarise
    from vebnn.bench.experiments import uci
    from vebnn.bench.render.terminal import print_document, print_lines

    console = Console()
    path = out or Path("results/uci-standard.jsonl" if standard else "results/uci.jsonl")
    uci.bench_uci(
        listed(datasets),
        splits,
        path,
        console,
        methods=listed(methods),
        preset=preset,
        standard_splits=standard,
        backend=engine or backend,
        jobs=jobs,
        scheduler=scheduler,
    )
    summary = summarise(read_results([path], preset=preset), usual_metrics("uci"))
    print_document(summary.document(paper=True), console)
    print_lines(console, f"Rows: {path}")


@bench.command("truth")
def bench_truth(
    problems: Annotated[
        str, typer.Option(help="Names of problems, separated by commas; all by default.")
    ] = "",
    methods: TableMethods = "",
    seeds: Seeds = 5,
    preset: Preset = "standard",
    jobs: Jobs = None,
    out: RowsFile = Path("results/truth.jsonl"),
) -> None:
    """Compare mean, noise and epistemic intervals with the truth, on problems where it is known."""
    from vebnn.bench.comparison.reading import results_of
    from vebnn.bench.experiments import truth
    from vebnn.bench.pages.truth import truth_summary, truth_tables

    rows = truth.bench_truth(
        listed(problems), listed(methods), seeds, out, console := Console(), preset=preset, jobs=jobs
    )
    _print_sheets(truth_summary(truth_tables(results_of(rows))), out, console)


@bench.command("effort")
def bench_effort(
    methods: TableMethods = "",
    seeds: Seeds = 3,
    out: RowsFile = Path("results/effort.jsonl"),
) -> None:
    """Compare seconds and accuracy: every effort of the default model, and other methods."""
    from vebnn.bench.experiments import effort
    from vebnn.bench.pages.effort import effort_means, effort_sheet

    rows = effort.bench_effort(listed(methods), seeds, out, console := Console())
    _print_sheets([effort_sheet(effort_means(rows))], out, console)


@bench.command("update")
def bench_update(
    problems: Annotated[
        str, typer.Option(help="Names of problems of vebnn bench truth, separated by commas.")
    ] = "",
    seeds: Seeds = 3,
    out: RowsFile = Path("results/update.jsonl"),
) -> None:
    """Compare an update with new rows and a new fit of all rows: computing time and scores."""
    from vebnn.bench.experiments import update
    from vebnn.bench.pages.update import update_sheets

    rows = update.bench_update(listed(problems), seeds, out, console := Console())
    _print_sheets(update_sheets(rows), out, console)


@bench.command("replicates")
def bench_replicates(
    datasets: Annotated[
        str, typer.Option(help="crossed-barrel, p3ht, perovskite, separated by commas; all by default.")
    ] = "",
    methods: TableMethods = "",
    preset: Preset = "standard",
    jobs: Jobs = None,
    out: RowsFile = Path("results/replicates.jsonl"),
) -> None:
    """Compare noise with the scatter of repeated measurements, on conditions that are held out."""
    from vebnn.bench.comparison.reading import results_of
    from vebnn.bench.experiments import replicates
    from vebnn.bench.pages.replicates import replicates_sheets

    rows = replicates.bench_replicates(
        listed(datasets), listed(methods), out, console := Console(), preset=preset, jobs=jobs
    )
    _print_sheets(replicates_sheets(results_of(rows)), out, console)


@bench.command("images")
def bench_images(
    datasets: Annotated[
        str, typer.Option(help="Names, separated by commas; the cells and rotated-digits by default.")
    ] = "",
    methods: Annotated[
        str, typer.Option(help="Names of methods, or paper (the default), loss, dropout.")
    ] = "",
    seeds: Seeds = 1,
    preset: Annotated[str, typer.Option(help="small (two cores) or paper (an accelerator).")] = "small",
    folder: Annotated[
        Path | None, typer.Option(help="Folder of the images; images in $VEBNN_DATA by default.")
    ] = None,
    jobs: Jobs = None,
    out: RowsFile = Path("results/images.jsonl"),
) -> None:
    """Compare both uncertainties on images inside and outside the training range."""
    from vebnn.bench.comparison.reading import results_of
    from vebnn.bench.experiments import images
    from vebnn.bench.pages.images import images_summary

    rows = images.bench_images(
        listed(datasets), listed(methods), seeds, out, console := Console(), preset, folder, jobs=jobs
    )
    _print_sheets(images_summary(results_of(rows)), out, console)


@bench.command("plasticity")
def bench_plasticity(
    materials: Annotated[str, typer.Option(help="1, 2 or both, separated by a comma.")] = "1",
    sizes: Annotated[
        str, typer.Option(help="Numbers of training paths, separated by commas.")
    ] = "50,100,200,400,600,800,1000",
    methods: Methods = "",
    repeats: Annotated[
        str, typer.Option(help="Random choices of training paths: one number, or one per size.")
    ] = "5",
    preset: Annotated[
        str, typer.Option(help="How methods are trained: standard, quick or paper.")
    ] = "standard",
    ablation: Annotated[
        str | None,
        typer.Option(help="Variants of VeBNN (pSGLD) instead: loss, loss-in-sample, rounds or size."),
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option(
            help="Folder of the data: of vebnn simulate, or with the pickles of the paper's authors."
        ),
    ] = None,
    out: RowsFile = Path("results/plasticity.jsonl"),
    figures: Figures = Path("results"),
    jobs: Jobs = None,
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
        source=data,
        jobs=jobs,
    )


@bench.command("active")
def bench_active(seeds: Seeds = 20, out: RowsFile = Path("results/active.jsonl")) -> None:
    """Query measurements by epistemic, by total uncertainty and at random; draws beside the rows."""
    from vebnn.bench.experiments import active

    active.bench_active(seeds, out, Console())


@bench.command("cells")
def bench_cells(
    images: Annotated[int, typer.Option(help="Simulated images to learn from.")] = 1_000,
    seeds: Seeds = 1,
    out: RowsFile = Path("results/cells.jsonl"),
) -> None:
    """Learn to count cells on simulated images, and rank the VGG images by it."""
    from vebnn.bench.experiments import cells_transfer

    cells_transfer.bench_cells(images, seeds, out, Console())


bench.command("table", short_help="Make tables of the rows: tests, ranks, the paper's numbers.")(
    bench_table
)
bench.command("page")(bench_page)
bench.command("paper")(bench_paper)


def _print_sheets(sheets: "Sequence[Sheet]", rows: Path, console: Console) -> None:
    from vebnn.bench.render.terminal import print_lines, print_sheet

    for sheet in sheets:
        print_sheet(sheet, console)
    print_lines(console, f"Rows: {rows}; vebnn bench page writes a page of them")


def _whole(option: str, numbers: str) -> list[int]:
    try:
        return [int(number) for number in listed(numbers)]
    except ValueError:
        raise ValueError(
            f"The option --{option} must be whole numbers separated by commas. Got {numbers!r}."
        ) from None
