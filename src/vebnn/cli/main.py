"""All commands together, and what becomes of errors."""

import sys
from typing import Annotated

import typer

import vebnn
from vebnn.cli.bench import bench
from vebnn.cli.demo import demo
from vebnn.cli.groups import show_help_unless_told_more

USER_ERROR, INTERRUPTED = 2, 130

commands = typer.Typer(
    help="Neural-network regression with honest error bars, split into noise and ignorance.",
    add_completion=False,
    pretty_exceptions_enable=False,
)
commands.command()(demo)
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
    show_help_unless_told_more(context)


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
