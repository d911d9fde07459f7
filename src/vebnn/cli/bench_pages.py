"""``vebnn bench table`` and ``page``: tables and pages of rows, without a fit."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from vebnn.cli.groups import listed


def bench_table(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE...", help="Rows of vebnn bench run, uci, truth, images or plasticity."
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="Folder for Markdown, LaTeX, HTML and CSV files."),
    ] = None,
    metric: Annotated[
        str, typer.Option(help="Fields of rows, such as tll,crps; the paper's unless given.")
    ] = "",
    preset: Annotated[
        str | None, typer.Option(help="Only rows that were made with this preset.")
    ] = None,
    methods: Annotated[str, typer.Option(help="Only these methods, separated by commas.")] = "",
    datasets: Annotated[str, typer.Option(help="Only these data sets, separated by commas.")] = "",
    paper: Annotated[
        bool | None,
        typer.Option(
            help="Published numbers below ours: everywhere, or nowhere; in Markdown and HTML unless "
            "said."
        ),
    ] = None,
) -> None:
    """Compare methods: mean (std), best and second, significance, ranks, the paper's numbers.

    Rows of vebnn bench toy, sweep, modes, active, rounds, effort and update have tables of their own,
    which are printed.
    """
    from vebnn.bench.comparison.measures import find_metrics, usual_metrics
    from vebnn.bench.comparison.reading import read_results
    from vebnn.bench.comparison.summary import summarise, write_summary
    from vebnn.bench.pages.sheets import sheets_of
    from vebnn.bench.render.terminal import print_document, print_sheet

    if sheets := sheets_of(files, preset):
        if out is not None:
            raise ValueError(
                f"The tables of {', '.join(map(str, files))} can only be printed. Got --out {out}; "
                f"leave it out."
            )
        for sheet in sheets:
            print_sheet(sheet, Console())
        return
    chosen = find_metrics(listed(metric)) if metric else None
    if out is not None and out.exists() and not out.is_dir():
        raise NotADirectoryError(f"{out} is a file. Give --out the name of a folder.")
    results = read_results(files, preset=preset, methods=listed(methods), datasets=listed(datasets))
    summary = summarise(results, chosen or usual_metrics(results.experiment))
    written = [] if out is None else write_summary(summary, out, paper=paper)
    print_document(summary.document(paper=paper is True), Console())
    if written:
        typer.echo(f"Written: {', '.join(map(str, written))}")


def bench_page(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE...",
            help="Rows of vebnn bench run, truth, effort, update, replicates, images, uci --standard.",
        ),
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="The Markdown file to write.")],
    preset: Annotated[
        str | None, typer.Option(help="Only rows that were made with this preset.")
    ] = None,
) -> None:
    """Write the page of an experiment from its rows, without a fit."""
    from vebnn.bench.comparison.reading import read_results
    from vebnn.bench.pages.writing import write_page

    for path in write_page(read_results(files, preset=preset), out):
        typer.echo(f"Written: {path}")
