"""A long table as sequences, divided in whole ones, before training."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas

from vebnn.tabular.detection import MAX_CATEGORIES
from vebnn.tabular.division import (
    Division,
    TableGroups,
    check_group_column,
    divide,
    fewest_groups,
    group_inputs,
)
from vebnn.tabular.encoded import check_names
from vebnn.tabular.errors import Problems, TableError, counted, quoted
from vebnn.tabular.plan import TrainingPlan, check_options, refuse_constant
from vebnn.tabular.row_facts import RowFacts
from vebnn.tabular.sequences.encoder import EncodedSequences, SequenceColumns, SequenceEncoder
from vebnn.tabular.sequences.order import SequenceOrder
from vebnn.tabular.target_kinds import proposals, require_kinds, require_possible
from vebnn.tabular.targets import read_targets, rows_with_targets
from vebnn.tabular.values import to_labels

FEWEST_SEQUENCES = 10


def plan_sequences(
    frame: pandas.DataFrame,
    targets: Sequence[str],
    by: SequenceColumns,
    *,
    drop: Sequence[str] = (),
    categorical: Sequence[str] = (),
    group: str | None = None,
    y_std: Sequence[str] = (),
    weight: str | None = None,
    max_categories: int = MAX_CATEGORIES,
    hold_out: float = 0.2,
    seed: int = 0,
    source: str = "",
    calibrate: str | None = None,
    target_kinds: Sequence[str] = (),
) -> TrainingPlan:
    """Check and encode a long table, and divide its sequences.

    The other arguments are those of :func:`~vebnn.tabular.plan.plan_table`. Shares are shares of the
    sequences. Rows without all targets are inputs; the rows of the plan are those with targets.

    Raises:
      TableError: about everything that keeps the table from being used as it is.
    """
    check_options(hold_out, seed, max_categories, calibrate)
    kinds = require_kinds(target_kinds, targets)
    used = {name: [one] for name, one in (("group", group), ("weight", weight)) if one is not None}
    named = {"sequence": [by.sequence], "step": [by.step]} | used
    check_names(frame, targets, drop=drop, categorical=categorical, y_std=y_std, **named)
    if by.sequence == by.step:
        raise TableError(
            f"The --sequence and the --step must be two columns. Got {by.sequence!r} for both."
        )
    frame = frame.reset_index(drop=True)
    no_inputs = [*y_std, *used.get("weight", []), *used.get("group", [])]
    drop = [*drop, *(name for name in dict.fromkeys(no_inputs) if name not in drop)]
    options: dict[str, Any] = {"categorical": categorical, "max_categories": max_categories}

    problems, facts, order = Problems(), RowFacts(), None
    values, present = np.zeros((len(frame), len(targets))), np.ones(len(frame), bool)
    with problems.collected():
        values = read_targets(frame, targets)
        present = rows_with_targets(values, targets)
    with problems.collected():
        order = SequenceOrder.read(frame, by.sequence, by.step)
        _refuse_few(frame, by, order, present)
        if group is not None:
            check_group_column(frame, group)
            _refuse_split_groups(frame, by, order, group)
    with problems.collected():
        encoder, _ = SequenceEncoder.fit(frame, targets, by, drop=drop, **options)
    with problems.collected():
        facts = RowFacts.read(frame[present], targets, y_std, weight)
    problems.raise_any()
    assert order is not None

    table = encoder.encode(frame).with_targets()
    require_possible(table.observed, targets, kinds, table.frame.index.tolist())
    if calibrate == "conformal":
        _refuse_unequal(table)
    groups, of_sequences, division = _divide(table, group, hold_out, calibrate, seed)
    # What a column is must not depend on sequences that the model is scored on.
    learned = np.isin(order.number, of_sequences.trained)
    options["forms"] = encoder.of_steps.forms
    encoder, about_columns = SequenceEncoder.fit(frame[learned], targets, by, drop=drop, **options)
    encoder = encoder.with_example(
        frame[learned], SequenceOrder.read(frame[learned], by.sequence, by.step)
    )
    encoded = encoder.encode(frame)
    table = encoded.with_targets()
    refuse_constant(targets, table.observed[division.trained])
    about_gaps = table.notices[len(encoded.notices) :]
    notices = (
        _about_sequences(table, by),
        *order.notices,
        *about_gaps,
        *about_columns,
        *groups.notices(as_input=False),
        *facts.notices(targets),
        *proposals(table.observed[division.trained], targets, kinds),
    )
    return TrainingPlan(
        encoder=encoder,
        notices=notices,
        table=table,
        missing_targets=tuple(np.isnan(values).sum(0).tolist()),
        groups=_of_rows(groups, table),
        division=division,
        row_facts=facts,
        seed=seed,
        source=source,
        calibrate=calibrate,
        target_kinds=kinds,
    )


def _refuse_few(
    frame: pandas.DataFrame, by: SequenceColumns, order: SequenceOrder, present: np.ndarray
) -> None:
    """Refuse a table with too few sequences that have a target, or with sequences of one row."""
    sizes = np.bincount(order.number)
    if sizes.max() == 1:
        raise TableError(
            f"The sequence {by.sequence!r} is different in every row, so there is no row before "
            f"another. Name the column whose equal values mark the rows of one sequence, or leave out "
            f"--sequence and --step.",
            by.sequence,
        )
    found = len(np.unique(order.number[present]))
    if found < FEWEST_SEQUENCES:
        raise TableError(
            f"The table must have at least {FEWEST_SEQUENCES} sequences with a target to learn from. "
            f"Got {found}, by the column {by.sequence!r}."
        )


def _refuse_split_groups(
    frame: pandas.DataFrame, by: SequenceColumns, order: SequenceOrder, group: str
) -> None:
    """Refuse groups that change within a sequence."""
    labels = to_labels(frame[group])
    first = np.unique(order.number, return_index=True)[1]
    if (other := labels != labels[first][order.number]).any():
        row = int(np.argmax(other))
        name = order.labels[order.number[row]]
        raise TableError(
            f"The group {group!r} must be the same in all rows of a sequence, but {by.sequence} "
            f"{quoted(name)} has {quoted(labels[first][order.number[row]])} and, in row {row + 1}, "
            f"{quoted(labels[row])}. Correct it, or choose another column.",
            group,
            row,
        )


def _refuse_unequal(table: EncodedSequences) -> None:
    """Refuse sequences that a conformal calibration cannot use."""
    steps = table.matrix
    lengths = np.bincount(steps.sequence)
    observed = np.bincount(steps.sequence_of_rows, minlength=len(lengths))
    used = observed > 0
    if not np.all(observed[used] == lengths[used].max()):
        raise TableError(
            "The calibration 'conformal' needs sequences of equal length with a target in every row: "
            "its guarantee is for whole ones. Try --calibrate common or separate."
        )


def _divide(
    table: EncodedSequences, column: str | None, hold_out: float, calibrate: str | None, seed: int
) -> tuple[TableGroups, Division, Division]:
    """Divide sequences; return their groups, the division of sequences, and that of the rows."""
    steps = table.matrix
    numbers = np.unique(steps.sequence_of_rows)
    wholes = steps.first_of_each(np.array(steps.wholes(), object))
    inputs = np.array([np.frombuffer(digest, np.uint8) for digest in wholes])
    labels = None if column is None else steps.first_of_each(to_labels(table.frame[column]))
    fewest = fewest_groups(hold_out, calibrate)
    groups = replace(group_inputs(inputs, labels, column, fewest=fewest), unit="sequence")
    division = divide(groups, hold_out, calibrate, seed)
    of_sequences = Division(*(numbers[part] for part in division))
    rows = (np.flatnonzero(np.isin(steps.sequence_of_rows, part)) for part in of_sequences)
    return groups, of_sequences, Division(*rows)


def _of_rows(groups: TableGroups, table: EncodedSequences) -> TableGroups:
    """Return the groups of single rows; without a group column, every sequence is one.

    Its label is no name of a group: another file may use it for another sequence.
    """
    _, number = np.unique(table.matrix.sequence_of_rows, return_inverse=True)
    if groups.column is not None:
        return replace(groups, of_rows=groups.of_rows[number])
    return TableGroups(number, None, 0, noun="sequence")


def _about_sequences(table: EncodedSequences, by: SequenceColumns) -> str:
    number = table.matrix.sequence_of_rows
    every = np.bincount(table.matrix.sequence)
    lengths = every[np.unique(number)]
    span = f"{lengths.min()}" if np.ptp(lengths) == 0 else f"{lengths.min()} to {lengths.max()}"
    role = "is also an input" if by.step_as_input else "is no input"
    without = len(every) - len(lengths)
    unused = f"; {counted(without, 'sequence')} without a target left out" if without else ""
    return (
        f"{by.sequence}: {len(lengths):,} sequences of {span} rows, in the order of {by.step}, which "
        f"{role}{unused}."
    )
