"""``vebnn history``: how the ignorance of a model shrank with the rows that were added."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.text import Text

from vebnn.cli.options import AsJSON, ModelFolder
from vebnn.cli.tables import new_table, print_json

if TYPE_CHECKING:
    from vebnn.tabular.additions.history import History


def history(
    model: ModelFolder,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="HTML file to write.")] = None,
    as_json: AsJSON = False,
) -> None:
    """Show the rows that were added to a model, and what they have changed.

    The ignorance is the epistemic std over fixed points of the space. The
    file of --out is a page with curves, which needs no network.
    """
    from vebnn.tabular.errors import TableError
    from vebnn.tabular.saving import SavedTableModel

    if out is not None and out.is_dir():
        raise IsADirectoryError(f"{out} is a folder. Give the name of a file.")
    found = SavedTableModel.open(model, history=True).history
    if found is None or not found.additions:
        raise TableError(f"No rows were added to the model in {model}. Add some with vebnn add.")
    if out is not None:
        from vebnn.tabular.additions.page import write_history

        write_history(found, out, model.name or str(model))
    if as_json:
        print_json({"out": str(out) if out else None, **found.describe()})
        return
    console = Console()
    _print_history(console, found)
    if out is not None:
        console.print(Text(f"The page is in {out}. Open it in a browser."), soft_wrap=True)


def _print_history(console: Console, found: "History") -> None:
    targets = [one.target for one in found.additions[0].ignorance_before]
    table = new_table("Typical ignorance (epistemic std)", "file", "added", "rows", *targets)
    where = None
    for one in found.additions:
        if one.points != where:
            where = one.points
            before = (f"{ignorance.median:.4g}" for ignorance in one.ignorance_before)
            table.add_row(Text(f"over {where}"), "", f"{one.num_trained - one.num_added:,}", *before)
        after = (f"{ignorance.median:.4g}" for ignorance in one.ignorance_after)
        table.add_row(Text(one.source), f"{one.num_added:,}", f"{one.num_trained:,}", *after)
    console.print(table)
