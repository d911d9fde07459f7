"""``vebnn bench table``: rows of results as tables with tests and ranks."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from vebnn.cli.groups import listed

Files = Annotated[
    list[Path], typer.Argument(metavar="FILE...", help="Rows of vebnn bench uci or plasticity.")
]
Out = Annotated[
    Path | None,
    typer.Option("--out", "-o", help="Folder for Markdown, LaTeX, HTML and CSV files."),
]
Metrics = Annotated[
    str,
    typer.Option("--metric", help="Fields of rows, such as tll,crps; the paper's unless given."),
]
Preset = Annotated[str | None, typer.Option(help="Only rows that were made with this preset.")]
Methods = Annotated[str, typer.Option(help="Only these methods, separated by commas.")]
Datasets = Annotated[str, typer.Option(help="Only these data sets, separated by commas.")]
Paper = Annotated[
    bool | None,
    typer.Option(
        "--paper/--no-paper",
        help="Published numbers below ours: everywhere, or nowhere; in Markdown and HTML unless said.",
    ),
]


def table(
    files: Files,
    out: Out = None,
    metric: Metrics = "",
    preset: Preset = None,
    methods: Methods = "",
    datasets: Datasets = "",
    paper: Paper = None,
) -> None:
    """Compare methods: mean (std), best and second, significance, ranks, the paper's numbers."""
    from vebnn.bench.comparison.measures import find_metrics, usual_metrics
    from vebnn.bench.comparison.reading import read_results
    from vebnn.bench.comparison.summary import summarise, write_summary
    from vebnn.bench.render.terminal import print_document

    chosen = find_metrics(listed(metric)) if metric else None
    if out is not None and out.exists() and not out.is_dir():
        raise NotADirectoryError(f"{out} is a file. Give --out the name of a folder.")
    results = read_results(files, preset=preset, methods=listed(methods), datasets=listed(datasets))
    summary = summarise(results, chosen or usual_metrics(results.experiment))
    written = [] if out is None else write_summary(summary, out, paper=paper)
    print_document(summary.document(paper=paper is True), Console())
    if written:
        typer.echo(f"Written: {', '.join(map(str, written))}")
