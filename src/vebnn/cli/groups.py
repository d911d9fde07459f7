"""Groups of commands that print their help, lists in options, and interrupted commands."""

from typing import Any

import typer


class Interrupted(Exception):
    """The user stopped a command; the message says how to resume it."""


def new_group(help_text: str, **settings: Any) -> typer.Typer:
    """Return an empty group of commands."""
    group = typer.Typer(help=help_text, **settings)

    @group.callback(invoke_without_command=True)
    def print_help(context: typer.Context) -> None:
        print_help_without_command(context)

    return group


def print_help_without_command(context: typer.Context) -> None:
    """Print the help of a group that is called without a command, and exit."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
        raise typer.Exit


def listed(names: str) -> list[str]:
    """Return the names in a list separated by commas."""
    return [name.strip() for name in names.split(",") if name.strip()]
