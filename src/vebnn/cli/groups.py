"""What commands have in common: groups that print their help, and how one ends early."""

from typing import Any

import typer


class Interrupted(Exception):
    """The user stopped a command that has something to say about how to go on."""


def new_group(help_text: str, **settings: Any) -> typer.Typer:
    """Return an empty group of commands."""
    group = typer.Typer(help=help_text, **settings)

    @group.callback(invoke_without_command=True)
    def help_unless_told_more(context: typer.Context) -> None:
        show_help_unless_told_more(context)

    return group


def show_help_unless_told_more(context: typer.Context) -> None:
    """Print the help of a group that was called without a command, and leave."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
        raise typer.Exit


def listed(names: str) -> list[str]:
    """Return the names in a list separated by commas."""
    return [name.strip() for name in names.split(",") if name.strip()]
