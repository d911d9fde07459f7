"""``vebnn suggest``: what to measure next, from a file of candidates or in a space."""

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.text import Text

from vebnn.cli.options import AsJSON, Images, ModelFolder
from vebnn.cli.tables import new_table, print_json, print_notices, to_records
from vebnn.tabular.errors import quoted_list

if TYPE_CHECKING:
    from vebnn.tabular.candidates import Candidates
    from vebnn.tabular.encoder import TableEncoder
    from vebnn.tabular.model import TableModel
    from vebnn.tabular.space.space import Drawn

# What the chosen rows are good for, their score, and its unit when it is added up over targets.
_MEANINGS = {
    "epistemic": (
        "The model knows least about these rows; noise, which no measurement removes, does not count.",
        "the epistemic variance",
        ", each relative to its mean total variance",
    ),
    "bald": (
        "These rows teach the model most; one measurement says little where noise is large.",
        "information about the network, in nats",
        "",
    ),
    "expected_improvement": (
        "The row with the largest expected improvement over the best so far comes first.",
        "the expected improvement of the mean",
        "",
    ),
    "confidence_bound": (
        "The row that could be the best, seen optimistically, comes first.",
        "{signed}, plus two epistemic stds",
        "",
    ),
}


def suggest(
    model: ModelFolder,
    pool: Annotated[
        Path | None,
        typer.Argument(
            metavar="[POOL]",
            show_default=False,
            help="Candidates: .csv, .tsv, .parquet, .feather or .npz; or give --space or --images.",
        ),
    ] = None,
    images: Images = None,
    space: Annotated[
        Path | None,
        typer.Option(help="TOML file of ranges, values, costs and constraints, in place of a POOL."),
    ] = None,
    write_space: Annotated[
        Path | None,
        typer.Option(help="Write such a file to start from, with the ranges of the training rows."),
    ] = None,
    n: Annotated[int, typer.Option("--n", "-n", help="Number of rows to choose.")] = 10,
    how: Annotated[
        str,
        typer.Option(
            help="To learn: epistemic, bald. For an optimum: expected_improvement, confidence_bound."
        ),
    ] = "epistemic",
    best: Annotated[
        float | None,
        typer.Option(
            help="Best target so far, in its units (default: best prediction for training rows)."
        ),
    ] = None,
    goal: Annotated[
        str | None, typer.Option(help="For an optimum: minimise (default) or maximise the target.")
    ] = None,
    target: Annotated[
        str | None, typer.Option("--target", "-t", help="Target to score (default: all of them).")
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="File: .csv, .tsv, .parquet or .feather.")
    ] = None,
    as_json: AsJSON = False,
) -> None:
    """Choose what to measure next: rows of a file of candidates, or points of a space.

    The best comes first, and each row is chosen as if those above it had
    been measured. Below the table is the reason for each row: the columns
    because of which the model knows little about it. The file of --out has
    these rows with all their columns, predictions, scores and reasons.
    """
    from vebnn.tabular.files import check_can_write, write_table
    from vebnn.tabular.saving import load_model_and_rows

    _check_options(n, how, best, goal)
    if write_space is not None:
        _write_space(model, write_space, as_json=as_json)
        return
    if space is not None and not (pool is None and images is None):
        raise ValueError("The candidates come from a file or from --space. Leave one of them out.")
    if out is not None:
        check_can_write(out)
    if space is None:
        loaded, rows = load_model_and_rows(model, pool, images)
        number, kind, costs = len(rows), "rows", False

        from vebnn.tabular.candidates import suggest_rows

        options, remarks = _score_options(loaded, how, best, goal, target)
        found = suggest_rows(loaded, rows, n, how, target=target, **options)
    else:
        loaded, drawn = _load_and_draw(model, space)
        number, kind, costs = len(drawn.frame), "candidates", drawn.cost is not None

        from vebnn.tabular.space.suggestion import suggest_in_space

        options, remarks = _score_options(loaded, how, best, goal, target)
        found = suggest_in_space(loaded, drawn, n, how, target=target, **options)
    notices = [*found.notices, *remarks]
    if out is not None:
        write_table(found.table, out)
    if as_json:
        records = {} if out else {"rows": to_records(found.table)}
        question = {"how": how, "target": target, **options}
        print_json({"out": str(out) if out else None, **question, "notices": notices, **records})
        return
    console = Console()
    print_notices(console, notices)
    about = f", for {target}" if target else ""
    _print_rows(console, loaded, found, f"Measure next: {n:,} of {number:,} {kind}{about}", target)
    summed = target is None and len(loaded.targets) > 1
    console.print(Text(_meaning(how, goal, n, summed, costs)), soft_wrap=True)
    for row, reason in zip(found.rows, found.reasons, strict=False):
        console.print(Text(f"  row {row + 1}: {reason}"), soft_wrap=True)
    if out is not None:
        console.print(Text(f"These rows, with all their columns, are in {out}."), soft_wrap=True)
        if space is not None:
            from vebnn.tabular.space.suggestion import columns_to_fill

            words = shlex.join(["vebnn", "add", str(model), str(out)])
            then = f"Fill in {quoted_list(columns_to_fill(loaded))} there, then:  {words}"
            console.print(Text(then), soft_wrap=True)


def _write_space(model: Path, path: Path, *, as_json: bool) -> None:
    """Write a space file to start from; never over another file, which somebody may have edited."""
    from vebnn.serialization.files import write_bytes
    from vebnn.tabular.space.starting_file import starting_file

    if path.exists():
        raise FileExistsError(f"There is a file {path} already. Delete it, or choose another name.")
    write_bytes(path, starting_file(_encoder_of_table(model)).encode())
    if as_json:
        print_json({"space": str(path)})
        return
    words = shlex.join(["vebnn", "suggest", str(model), "--space", str(path)])
    typer.echo(f"The space of the training rows is in {path}. Edit it, then:  {words}")


def _load_and_draw(model: Path, space: Path) -> "tuple[TableModel, Drawn]":
    """Draw candidates and load the model; errors come before the slow import of JAX."""
    from vebnn.tabular.saving import SavedTableModel
    from vebnn.tabular.space.reading import read_space

    drawn = read_space(space, _encoder_of_table(model)).draw()
    return SavedTableModel.open(model).load(), drawn


def _encoder_of_table(model: Path) -> "TableEncoder":
    from vebnn.tabular.encoder import TableEncoder
    from vebnn.tabular.saving import SavedTableModel

    encoder = SavedTableModel.open(model).encoder
    if not isinstance(encoder, TableEncoder):
        raise ValueError(f"The model in {model} was trained on {encoder.what}, which have no --space.")
    return encoder


def _check_options(n: int, how: str, best: float | None, goal: str | None) -> None:
    """Refuse options that contradict each other, before anything slow."""
    from vebnn.acquisition import SCORES
    from vebnn.core.arguments import require_number, require_one_of, require_whole
    from vebnn.tabular.candidates import FOR_AN_OPTIMUM

    require_whole("--n", n, 1)
    require_one_of("--how", how, tuple(SCORES))
    if goal is not None:
        require_one_of("--goal", goal, ("minimise", "maximise"))
        if how not in FOR_AN_OPTIMUM:
            raise ValueError(f"The --goal is for --how {' or '.join(FOR_AN_OPTIMUM)}. Got --how {how}.")
    if best is not None:
        require_number("--best", best, float("-inf"), float("inf"))
        if how != "expected_improvement":
            raise ValueError(f"The --best is for --how expected_improvement. Got --how {how}.")


def _score_options(
    model: "TableModel", how: str, best: float | None, goal: str | None, target: str | None
) -> tuple[dict[str, Any], list[str]]:
    """Return the settings of the score, and a notice about a default that depends on the model."""
    from vebnn.tabular.candidates import FOR_AN_OPTIMUM, best_so_far, target_position

    if how not in FOR_AN_OPTIMUM:
        return {}, []
    target_position(model, target)  # a sum of several targets has no optimum
    options: dict[str, Any] = {"goal": goal or "minimise"}
    if how == "confidence_bound":
        return options, []
    if best is not None:
        return {**options, "best": best}, []
    found = best_so_far(model, options["goal"], target=target)
    trained = model.facts.num_trained  # 0 if the model keeps no record of it
    count = f"{len(model.sample):,} of {trained:,}" if trained else f"{len(model.sample):,}"
    extreme = "largest" if options["goal"] == "maximise" else "smallest"
    return {**options, "best": found}, [
        f"The best so far is taken to be {found:.4g}, the {extreme} mean predicted for "
        f"{count} training rows; change it with --best."
    ]


def _print_rows(
    console: Console, model: "TableModel", found: "Candidates", title: str, target: str | None
) -> None:
    """Print a line per row and target, with as many columns of the rows as fit the width."""
    from vebnn.tabular.scores import columns_of

    encoder = model.encoder
    # An image is named by the column that the model uses.
    wanted = dict.fromkeys([*encoder.identifiers, *(column.name for column in encoder.columns)])
    names = [name for name in wanted if name in found.table.columns]
    shown = [model.targets.index(target)] if target else list(range(len(model.targets)))
    predicted = {"target": ["\n".join(model.targets)] * len(found.rows)} if len(shown) > 1 else {}
    for part in ("mean", "aleatoric_std", "epistemic_std"):
        values = columns_of(getattr(found.prediction, part))[:, shown]
        predicted[part.replace("_", "\n")] = ["\n".join(f"{one:.4g}" for one in row) for row in values]
    free = console.options.update_width(10_000)  # to measure a table of any width
    for number in range(len(names), -1, -1):
        columns = {"row": [f"{row + 1}" for row in found.rows]}
        columns |= {name: [_cell(value) for value in found.table[name]] for name in names[:number]}
        columns |= predicted
        table = new_table(title, *columns, "score")
        for *cells, score in zip(*columns.values(), found.scores, strict=True):
            table.add_row(*map(Text, cells), f"{score:.4g}")
        if console.measure(table, options=free).maximum <= console.width:
            break
    console.print(table)
    if number < len(names):
        rest = len(names) - number
        console.print(f"  … and {rest} more column{'s'[: rest > 1]}; --out has all", highlight=False)


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return "" if value != value else f"{value:.6g}"
    return str(value)


def _meaning(how: str, goal: str | None, n: int, summed: bool, costs: bool) -> str:
    """Return the purpose of the chosen rows and the definition of their score."""
    purpose, score, relative = _MEANINGS[how]
    signed = "the mean" if goal == "maximise" else "minus the mean"
    over_targets = f", added up over targets{relative}" if summed else ""
    per_cost = ", per unit of cost" if costs else ""
    measured = ", as if the rows above were measured" if n > 1 else ""
    return f"{purpose} Score: {score.format(signed=signed)}{over_targets}{per_cost}{measured}."
