"""All commands, and the messages and exit codes of errors."""

import sys
from typing import Annotated

import typer

import vebnn
from vebnn.cli.add import add
from vebnn.cli.bench import bench
from vebnn.cli.data import data
from vebnn.cli.demo import demo
from vebnn.cli.evaluate import evaluate
from vebnn.cli.fit import fit
from vebnn.cli.groups import Interrupted, print_help_without_command
from vebnn.cli.history import history
from vebnn.cli.predict import predict
from vebnn.cli.report import report
from vebnn.cli.serve import serve
from vebnn.cli.simulate import simulate
from vebnn.cli.suggest import suggest
from vebnn.core.signals import Interrupts
from vebnn.tabular.errors import TableError

USER_ERROR, INTERRUPTED = 2, 130

commands = typer.Typer(
    help=(
        "Neural-network regression with error bars, split into noise and model uncertainty. "
        "Exit codes: 0 success, 2 wrong input, 130 interrupted (Ctrl-C)."
    ),
    add_completion=False,
    pretty_exceptions_enable=False,
)
commands.command(short_help="Learn from a file of rows; save the model.")(fit)
commands.command(short_help="Predict new rows: mean, aleatoric and epistemic std, interval.")(predict)
commands.command(short_help="Score a model on rows whose targets are known.")(evaluate)
commands.command(short_help="Choose what to measure next, from a file or in a space.")(suggest)
commands.command(short_help="Score a model on new rows, then learn them, too.")(add)
commands.command(short_help="Show what added rows have changed.")(history)
commands.command(short_help="Write an HTML report: errors, noise, ignorance.")(report)
commands.command(short_help="Serve predictions over HTTP, with a page to try it.")(serve)
commands.command(short_help="Learn the paper's example and draw its Figure 1.")(demo)
commands.add_typer(bench, name="bench", short_help="Compute the numbers this project claims.")
commands.add_typer(simulate, name="simulate", short_help="Make data whose noise is known.")
commands.add_typer(data, name="data", short_help="List and download the data sets of the benchmarks.")


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
    print_help_without_command(context)


def app() -> None:
    """Run a command; an error that the user can correct is one sentence, not a traceback."""
    try:
        with Interrupts():
            # A command returns nothing, or an exit code if it ended early.
            code = commands(standalone_mode=False) or 0
    except (KeyboardInterrupt, typer.Abort):
        code = INTERRUPTED
    except Interrupted as stop:
        _print_error(str(stop))
        sys.exit(INTERRUPTED)
    except Exception as error:
        code = _explain(error)
    if code == INTERRUPTED:
        _print_error("Interrupted. Rerun the same command; vebnn bench and vebnn simulate resume.")
    sys.exit(code)


def _explain(error: Exception) -> int:
    not_installed = isinstance(error, ImportError) and "pip install" in str(error)  # an extra
    if hasattr(error, "format_message"):  # an error of the argument parser
        _print_error(f"{error.format_message().strip().removesuffix('.')}. Try --help.")
    elif isinstance(error, OSError) and error.filename is not None:
        name = str(error.filename)
        name = name if len(name) <= 120 else f"{name[:100]}…{name[-19:]}"
        _print_error(f"{error.strerror}: {name}.")
    elif isinstance(error, TableError):
        # Lines as they are: spaces in the names of columns count where they can be pasted.
        print("vebnn:", "\n  ".join(str(error).splitlines()), file=sys.stderr)
    elif not_installed or isinstance(error, ValueError | OSError | FloatingPointError):
        _print_error(str(error))
    else:
        raise error
    return USER_ERROR


def _print_error(message: str) -> None:
    print(f"vebnn: {' '.join(message.split())}", file=sys.stderr)
