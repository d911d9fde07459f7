"""The command line: arguments in, exit codes out. The work is done elsewhere."""

import sys
import warnings
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

import vebnn

USER_ERROR, INTERRUPTED = 2, 130

commands = typer.Typer(
    help="Neural-network regression with honest error bars, split into noise and ignorance.",
    add_completion=False,
    pretty_exceptions_enable=False,
)
bench = typer.Typer(help="Compute the numbers this project claims; an interrupted run is resumed.")
commands.add_typer(bench, name="bench")


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"vebnn {vebnn.__version__}")
        raise typer.Exit


@commands.callback(invoke_without_command=True)
def _main(
    context: typer.Context,
    version: Annotated[
        bool,
        typer.Option("--version", help="Print the version.", callback=_print_version, is_eager=True),
    ] = False,
) -> None:
    _help_unless_told_more(context)


@bench.callback(invoke_without_command=True)
def _bench(context: typer.Context) -> None:
    _help_unless_told_more(context)


def _help_unless_told_more(context: typer.Context) -> None:
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
        raise typer.Exit


@commands.command()
def demo(
    out: Annotated[Path, typer.Option(help="Folder for the figure.")] = Path("demo"),
    seed: Annotated[int, typer.Option(help="Seed of the data and the model.")] = 0,
) -> None:
    """Learn the paper's one-dimensional example and draw its Figure 1 (about a minute)."""
    from vebnn.experiments import toy
    from vebnn.plots import plot_steps, save_figure

    console = Console()
    out.mkdir(parents=True, exist_ok=True)  # what cannot be written is said before the long fit
    with warnings.catch_warnings(record=True) as notes:
        warnings.simplefilter("always", UserWarning)
        found = toy.demo(seed)
    picture, drawing = save_figure(plot_steps(found.model, found.data), out, "vebnn-demo")
    console.print(toy.demo_table(found.score))
    for note in notes:
        console.print(f"Note: {note.message}", highlight=False, soft_wrap=True)
    console.print(f"The figure is in {picture} and {drawing}.", highlight=False, soft_wrap=True)


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


@bench.command("modes")
def bench_modes(
    seeds: Annotated[int, typer.Option(help="Seeds 0, 1, … to average over.")] = 3,
    out: Annotated[Path, typer.Option(help="File of rows, one line per seed.")] = Path(
        "results/two-modes.jsonl"
    ),
    figures: Annotated[Path, typer.Option(help="Folder for the figure.")] = Path("results"),
) -> None:
    """Compare with the truth where the noise has two modes."""
    from vebnn.experiments import two_modes

    two_modes.bench_two_modes(seeds, out, Console(), figures)


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


def app() -> None:
    """Run a command; what the user can mend ends as one sentence, not as a traceback."""
    try:
        # A command returns nothing; an exit code comes back if it was left early.
        code = commands(standalone_mode=False) or 0
    except (KeyboardInterrupt, typer.Abort):
        code = INTERRUPTED
    except Exception as error:
        code = _explain(error)
    if code == INTERRUPTED:
        _say("Interrupted. Run the same command again; a benchmark goes on where it was.")
    sys.exit(code)


def _explain(error: Exception) -> int:
    if hasattr(error, "format_message"):  # the argument parser's own complaints
        _say(f"{error.format_message().strip().removesuffix('.')}. Try --help.")
        return USER_ERROR
    if isinstance(error, OSError) and error.filename is not None:
        _say(f"{error.strerror}: {error.filename}.")
        return USER_ERROR
    if isinstance(error, ValueError | OSError | FloatingPointError):
        _say(str(error))
        return USER_ERROR
    raise error


def _say(sentence: str) -> None:
    print(f"vebnn: {' '.join(sentence.split())}", file=sys.stderr)


if __name__ == "__main__":
    app()
