"""``vebnn add``: new measurements for a saved model."""

import shlex
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.text import Text

from vebnn.cli import tables
from vebnn.cli.groups import Interrupted
from vebnn.cli.options import AsJSON, ModelFolder

if TYPE_CHECKING:
    from vebnn.tabular.additions.adding import NewRows
    from vebnn.tabular.additions.history import Addition
    from vebnn.tabular.model import TableModel
    from vebnn.tabular.saving import SavedTableModel


def add(
    model: ModelFolder,
    results: Annotated[
        Path,
        typer.Argument(
            metavar="RESULTS", help="New rows with targets: .csv, .tsv, .parquet, .feather or .npz."
        ),
    ],
    space: Annotated[
        Path | None,
        typer.Option(help="Space file: measure the ignorance there, from now on."),
    ] = None,
    repeats: Annotated[
        bool,
        typer.Option("--repeats", help="Rows with values that the model knows are new measurements."),
    ] = False,
    as_json: AsJSON = False,
) -> None:
    """Score a model on new rows, then let it learn them, too.

    The chains of the model go on from where they were, with all rows: those
    it keeps, and the new ones. Rows it knows already are left out, so a
    file that is added twice changes nothing. The model is replaced as a
    whole at the end, and stays as it was if the command is interrupted.
    """
    from vebnn.tabular.additions.history import NO_ROWS
    from vebnn.tabular.errors import TableError
    from vebnn.tabular.files import read_table
    from vebnn.tabular.saving import SavedTableModel, check_can_save

    saved = SavedTableModel.open(model, history=True)
    if saved.history is None:
        raise TableError(NO_ROWS)
    frame = read_table(results, saved.label_names)
    area = None
    if space is not None:
        from vebnn.tabular.encoder import TableEncoder
        from vebnn.tabular.space.reading import read_space

        if isinstance(saved.encoder, TableEncoder):
            area = read_space(space, saved.encoder)
    check_can_save(model)
    loaded = saved.load()

    from sklearn.exceptions import ConvergenceWarning

    from vebnn.tabular.additions.adding import add_rows, find_new_rows

    new = find_new_rows(loaded, frame, repeats=repeats)
    console = Console(quiet=as_json)
    if not len(new.rows):
        _print_nothing_new(console, new, as_json=as_json)
        return
    tables.print_notices(console, new.notices)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # a notice says the same
            better = add_rows(
                loaded,
                new,
                source=results.name,
                space=area,
                space_name="" if space is None else space.name,
                verbose=int(not as_json),
            )
        _refuse_replaced(saved)
        better.save(model)
    except KeyboardInterrupt:
        raise Interrupted("Interrupted. The model is as it was; rerun the same command.") from None
    _print_result(console, loaded, better, new, model, as_json=as_json)


def _refuse_replaced(saved: "SavedTableModel") -> None:
    """Refuse to replace a model that another program has replaced meanwhile, with other rows."""
    from vebnn.serialization.folders import SavedFolder

    name, folder = "table.json", saved.folder
    if SavedFolder(folder.path).read(name) != folder.read(name):
        raise ValueError(
            f"The model in {folder.path} was replaced by another program during the training. Nothing "
            f"was added; rerun the same command."
        )


def _print_nothing_new(console: Console, new: "NewRows", *, as_json: bool) -> None:
    sentence = (
        f"The model knows all {new.num_known:,} rows; nothing was changed. If they are new "
        f"measurements with the same values, add --repeats."
    )
    if as_json:
        tables.print_json({"added": 0, "known": new.num_known, "notices": [sentence]})
    else:
        console.print(Text(sentence), soft_wrap=True)


def _print_result(
    console: Console,
    before: "TableModel",
    after: "TableModel",
    new: "NewRows",
    folder: Path,
    *,
    as_json: bool,
) -> None:
    """Print scores and ignorance before and after, or the same as JSON."""
    from vebnn.tabular.additions.adding import history_of, num_released
    from vebnn.tabular.model import UNMIXED

    addition = history_of(after).additions[-1]
    released = num_released(before, after)
    notices = [*new.notices]
    if released:
        notices.append(
            f"Held-out rows with the inputs or group of a new row, now trained on, too: {released:,}."
        )
    if not addition.continued:
        reason = "Student-t noise is learned from the beginning"
        if not before.settings.get("heavy_tails"):
            reason = f"The engine {before.settings['inference']!r} has no chains to continue"
        notices.append(f"{reason}: all was fitted again.")
    diagnostics = after.estimator.diagnostics_
    if diagnostics is not None and diagnostics.complaint():
        notices.append(UNMIXED)
    if as_json:
        tables.print_json(
            {
                "added": addition.num_added,
                "known": new.num_known,
                "notices": notices,
                "r_hat": tables.r_hat_of(after.estimator),
                **addition.describe(),
            }
        )
        return
    tables.print_notices(console, notices[len(new.notices) :])
    title = f"On the {addition.num_added:,} new rows, before it learned them"
    console.print(tables.score_table(title, addition.new, before.estimator))
    console.print(change_table(addition))
    console.print(
        Text(
            f"{addition.num_added:,} rows added: {addition.num_trained:,} to train on. The model is in "
            f"{folder} ({addition.seconds:.0f} s).  See {shlex.join(['vebnn', 'history', str(folder)])}"
        ),
        soft_wrap=True,
    )


def change_table(addition: "Addition") -> "tables.Table":
    """Return the table of what an addition has changed."""
    table = tables.new_table("What they have changed", "", "before", "after")
    ignorance = zip(addition.ignorance_before, addition.ignorance_after, strict=True)
    for before, after in ignorance:
        name = before.target
        lines = {
            "typical ignorance (epistemic std)": (before.median, after.median),
            "ignorance that 90 % of the space is below": (before.high, after.high),
        }
        _add_lines(table, name, lines)
    held_out = zip(addition.held_out_before, addition.held_out_after, strict=True)
    for one, other in held_out:
        rows = f"{one.num_rows:,} held-out rows"
        lines = {f"RMSE, {rows}": (one.rmse, other.rmse), f"TLL, {rows}": (one.tll, other.tll)}
        _add_lines(table, one.target, lines)
    return table


def _add_lines(table: "tables.Table", target: str, lines: dict[str, tuple[float, float]]) -> None:
    for label, pair in lines.items():
        table.add_row(Text(f"{target}: {label}"), *(f"{value:.4g}" for value in pair))
