"""``vebnn bench run``: methods on tables of the user's own."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from vebnn.cli.groups import listed

Columns = list[str] | None


def bench_run(
    data: Annotated[
        list[Path], typer.Option(metavar="FILE", help="A file of rows, as for vebnn fit; repeatable.")
    ],
    target: Annotated[
        list[str],
        typer.Option(
            metavar="COLUMN",
            help="The column to predict: one for each --data, one for all, or several of one file.",
        ),
    ],
    methods: Annotated[
        str,
        typer.Option(
            "--methods",
            "--method",
            help="Names separated by commas, as for bench uci; file.py:function is a method of your "
            'own; a kind of target may follow, as in "CatBoost / positive".',
        ),
    ] = "VeBNN (pSGHMC),CatBoost,NGBoost,Quantile boosting",
    target_kind: Annotated[
        Columns,
        typer.Option(
            metavar="KIND",
            help="real, positive, fraction or count, for methods of this library: one for all data "
            "sets, or one for each.",
        ),
    ] = None,
    splits: Annotated[int, typer.Option(help="How often rows are held out; seeds 0, 1, ….")] = 5,
    hold_out: Annotated[float, typer.Option(help="Share of the rows that is held out.")] = 0.2,
    group: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Hold out whole groups of rows.")
    ] = None,
    time: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="Hold out the latest rows, in as many blocks as there are splits; each is predicted "
            "from all earlier rows.",
        ),
    ] = None,
    drop: Annotated[
        Columns, typer.Option(metavar="COLUMN", help="Leave a column out; repeatable.")
    ] = None,
    categorical: Annotated[
        Columns, typer.Option(metavar="COLUMN", help="Take a column as categories; repeatable.")
    ] = None,
    preset: Annotated[
        str, typer.Option(help="Length of training: standard (the defaults), quick or thorough.")
    ] = "standard",
    jobs: Annotated[
        int | None,
        typer.Option(help="Fits at once, a core each; as many as there are cores by default."),
    ] = None,
    out: Annotated[Path, typer.Option("--out", help="File of rows, one line per fit.")] = Path(
        "results/run.jsonl"
    ),
) -> None:
    """Compare methods on your own tables; vebnn bench table writes the tables of results to files.

    Every method gets the same columns, encoded as by vebnn fit, and the same
    splits. Columns of --drop, --categorical, --group and --time count in
    every file that has them. Rerun the same command to resume it.
    """
    from vebnn.bench.comparison.measures import usual_metrics
    from vebnn.bench.comparison.reading import results_of
    from vebnn.bench.comparison.summary import summarise
    from vebnn.bench.experiments import run
    from vebnn.bench.own_tables import own_tables
    from vebnn.bench.render.terminal import print_document, print_lines

    tables = own_tables(
        data,
        target,
        target_kinds=target_kind or [],
        drop=drop or [],
        categorical=categorical or [],
        group=group,
        time=time,
        hold_out=hold_out,
        num_splits=splits,
    )
    console = Console()
    rows = run.bench_run(tables, listed(methods), splits, out, console, preset=preset, jobs=jobs)
    summary = summarise(results_of(rows), usual_metrics(run.EXPERIMENT))
    print_document(summary.document(paper=False), console)
    print_lines(console, f"Rows: {out}; vebnn bench table {out} --out FOLDER writes these tables.")
