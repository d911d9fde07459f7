"""A table encoded and divided into rows to train on, to calibrate on and to score, before training."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas

from vebnn.calibration import CALIBRATIONS
from vebnn.core.arguments import require_number, require_one_of, require_whole
from vebnn.tabular.detection import MAX_CATEGORIES
from vebnn.tabular.division import (
    Division,
    TableGroups,
    check_group_column,
    divide,
    divide_by_time,
    fewest_groups,
    find_groups,
)
from vebnn.tabular.encoded import EncodedTable, Encoder, check_names
from vebnn.tabular.encoder import TableEncoder
from vebnn.tabular.errors import Problems, TableError, counted
from vebnn.tabular.images.encoder import ImageEncoder
from vebnn.tabular.images.folder import ImageFolder
from vebnn.tabular.row_facts import RowFacts
from vebnn.tabular.target_kinds import proposals, require_kinds, require_possible
from vebnn.tabular.targets import notice_of_missing, read_targets, rows_with_targets
from vebnn.tabular.time_order import TimeOrder

FEWEST_ROWS = 10


@dataclass(frozen=True)
class TrainingPlan:
    """An encoded table and the use of each of its rows; rows are given by their positions."""

    encoder: Encoder  # learned from the rows to train on
    notices: tuple[str, ...]  # about what the encoder decided
    table: EncodedTable = field(repr=False)  # all rows that have the targets
    missing_targets: tuple[int, ...]  # rows without each target
    groups: TableGroups = field(repr=False)  # rows that stay together
    division: Division = field(repr=False)  # of all rows
    row_facts: RowFacts = field(repr=False, default_factory=RowFacts)
    time: TimeOrder | None = field(repr=False, default=None)  # by which the rows were divided
    seed: int = 0  # of the division
    source: str = ""  # name of the file
    calibrate: str | None = None  # method of calibration
    target_kinds: tuple[str, ...] = ()  # of each target; see vebnn.prediction.targets

    @property
    def target(self) -> str | tuple[str, ...]:
        """The kinds as an estimator takes them: one for all targets, or one for each."""
        return self.target_kinds[0] if len(set(self.target_kinds)) == 1 else self.target_kinds

    @property
    def trained(self) -> np.ndarray:
        """Rows to train on."""
        return self.division.trained

    @property
    def held_out(self) -> np.ndarray:
        """Rows for the score."""
        return self.division.held_out

    @property
    def calibrated(self) -> np.ndarray:
        """Rows for the calibration alone."""
        return self.division.calibrated


def plan_table(
    frame: pandas.DataFrame,
    targets: Sequence[str],
    *,
    drop: Sequence[str] = (),
    categorical: Sequence[str] = (),
    group: str | None = None,
    group_as_input: bool = False,
    time: str | None = None,
    y_std: Sequence[str] = (),
    weight: str | None = None,
    max_categories: int = MAX_CATEGORIES,
    hold_out: float = 0.2,
    seed: int = 0,
    source: str = "",
    calibrate: str | None = None,
    images: ImageFolder | None = None,
    target_kinds: Sequence[str] = (),
) -> TrainingPlan:
    """Check and encode a table, and divide its rows; takes no longer than reading them.

    Args:
      frame: the table.
      targets: columns to predict.
      drop: columns to leave out.
      categorical: columns to take as categories although they hold numbers.
      group: a column whose equal values mark rows that belong together, such as specimens. These rows
        are all trained on, all calibrated on, or all held out, and so are rows with identical inputs.
      group_as_input: whether this column is an input, too; it is one if it is also ``categorical``.
      time: a column of dates or numbers. The latest rows are held out, and those before them are for
        the calibration; rows of equal times stay together.
      y_std: for each target, a column of the known std of its measurement error, in its units.
      weight: a column that says how much each row counts in the training.
      max_categories: most categories of a column that have an input of their own; the most frequent.
      hold_out: share of the rows that is never trained on, for an honest score; may be 0.
      seed: of the choice of these rows.
      source: name of the file, for reports.
      calibrate: a method of ``VeBNNRegressor.calibrate``. It gets a fifth of the rows that are not held
        out; they are neither trained on nor scored.
      images: a folder of the images that a column of the table names. They are the only inputs.
      target_kinds: one for all targets, or one for each; real numbers by default.

    Raises:
      TableError: about everything that keeps the table from being used as it is.
    """
    check_options(hold_out, seed, max_categories, calibrate)
    kinds = require_kinds(target_kinds, targets)
    named = {"group": group, "time": time, "weight": weight}
    used = {name: [column] for name, column in named.items() if column is not None}
    check_names(frame, targets, drop=drop, categorical=categorical, y_std=y_std, **used)
    if group is not None and time is not None:
        raise TableError("The rows can be divided by --group or by --time. Leave one of them out.")
    if time is not None and hold_out == 0 and calibrate is None:
        raise TableError(
            "The --time says which rows are held out, but --hold-out 0 holds out none. Leave out one "
            "of them."
        )
    frame = frame.reset_index(drop=True)
    as_input = group_as_input or group in categorical
    no_inputs = [*y_std, *used.get("weight", []), *([] if as_input else used.get("group", []))]
    drop = [*drop, *(name for name in dict.fromkeys(no_inputs) if name not in drop)]
    kind: Any = TableEncoder
    options: dict[str, Any] = {"categorical": categorical, "max_categories": max_categories}
    if images is not None:
        if categorical or group_as_input:
            raise TableError(
                "Images are the only inputs. Leave out --categorical and --group-as-input."
            )
        kind, options = ImageEncoder, {"images": images}

    problems, order, facts = Problems(), None, RowFacts()
    values, present = np.zeros((len(frame), len(targets))), np.ones(len(frame), bool)
    with problems.collected():
        values = read_targets(frame, targets)
        present = rows_with_targets(values, targets)
    notices = tuple(notice_of_missing(present, targets))
    frame = frame[present]
    if len(frame) < FEWEST_ROWS:
        got = counted(len(frame), "row")
        if not present.all():
            got += f" with a value of every target, of {len(present):,}"
        raise TableError(f"The table must have at least {FEWEST_ROWS} rows to learn from. Got {got}.")
    with problems.collected():
        encoder, about_columns = kind.fit(frame, targets, drop=drop, **options)
    if group is not None:
        with problems.collected():
            check_group_column(frame, group)
    if time is not None:
        with problems.collected():
            order = TimeOrder.read(frame, time)
    with problems.collected():
        facts = RowFacts.read(frame, targets, y_std, weight)
    problems.raise_any()

    table = encoder.encode(frame)
    with problems.collected():
        require_possible(table.observed, targets, kinds, frame.index)
    problems.raise_any()
    if order is None:
        groups = find_groups(table, group, fewest=fewest_groups(hold_out, calibrate))
        division = divide(groups, hold_out, calibrate, seed)
    else:
        groups = TableGroups(np.arange(len(table)), None, 0)
        division = divide_by_time(order.column, order.times, hold_out, calibrate)
    trained = division.trained
    if images is None:
        # What a column is must not depend on rows that the model is scored on.
        options["forms"] = encoder.forms
        encoder, about_columns = kind.fit(frame.iloc[trained], targets, drop=drop, **options)
        table = encoder.encode(frame)
    else:
        about_columns += table.notices  # about sizes, which are those of all images
    refuse_constant(targets, table.observed[trained])
    notices += *about_columns, *groups.notices(as_input=as_input), *facts.notices(targets)
    notices += () if order is None else tuple(order.notices(division))
    notices += tuple(proposals(table.observed[trained], targets, kinds))
    return TrainingPlan(
        encoder=encoder,
        notices=notices,
        table=table,
        missing_targets=tuple(np.isnan(values).sum(0).tolist()),
        groups=groups,
        division=division,
        row_facts=facts,
        time=order,
        seed=seed,
        source=source,
        calibrate=calibrate,
        target_kinds=kinds,
    )


def check_options(hold_out: float, seed: int, max_categories: int, calibrate: str | None) -> None:
    """Refuse impossible values of the options that every plan has."""
    require_number("hold_out", hold_out, 0, 0.9, "[]")
    require_whole("seed", seed, 0)
    require_whole("max_categories", max_categories, 1)
    if calibrate is not None:
        require_one_of("calibrate", calibrate, tuple(CALIBRATIONS))


def refuse_constant(targets: Sequence[str], observed: np.ndarray) -> None:
    """Refuse a target that is the same in all training rows."""
    problems = Problems()
    for name, values in zip(targets, observed.T, strict=True):
        if np.ptp(values) == 0:
            with problems.collected():
                raise TableError(
                    f"The target {name!r} is {values[0]:g} in every row; there is nothing to learn.",
                    name,
                )
    problems.raise_any()
