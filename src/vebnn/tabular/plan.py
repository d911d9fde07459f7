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
    fewest_groups,
    find_groups,
)
from vebnn.tabular.encoded import EncodedTable, Encoder
from vebnn.tabular.encoder import TableEncoder
from vebnn.tabular.errors import TableError, counted
from vebnn.tabular.images.encoder import ImageEncoder
from vebnn.tabular.images.folder import ImageFolder
from vebnn.tabular.target_kinds import proposals, require_kinds, require_possible

FEWEST_ROWS = 10


@dataclass(frozen=True)
class TrainingPlan:
    """An encoded table and the use of each of its rows; rows are given by their positions."""

    encoder: Encoder  # learned from the rows to train on
    notices: tuple[str, ...]  # about what the encoder decided
    table: EncodedTable = field(repr=False)  # all rows
    groups: TableGroups = field(repr=False)  # rows that stay together
    division: Division = field(repr=False)  # of all rows
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
      max_categories: most categories of a column that have an input of their own; the most frequent.
      hold_out: share of the rows that is never trained on, for an honest score; may be 0.
      seed: of the choice of these rows.
      source: name of the file, for reports.
      calibrate: a method of ``VeBNNRegressor.calibrate``. It gets a fifth of the rows that are not held
        out; they are neither trained on nor scored.
      images: a folder of the images that a column of the table names. They are the only inputs.
      target_kinds: one for all targets, or one for each; real numbers by default.

    Raises:
      TableError: if the table cannot be used as it is.
    """
    require_number("hold_out", hold_out, 0, 0.9, "[]")
    require_whole("seed", seed, 0)
    require_whole("max_categories", max_categories, 1)
    if calibrate is not None:
        require_one_of("calibrate", calibrate, tuple(CALIBRATIONS))
    kinds = require_kinds(target_kinds, targets)
    frame = frame.reset_index(drop=True)
    if len(frame) < FEWEST_ROWS:
        got = counted(len(frame), "row")
        raise TableError(f"The table must have at least {FEWEST_ROWS} rows to learn from. Got {got}.")
    as_input = group_as_input or group in categorical
    if group is not None:
        check_group_column(frame, group, targets)
        drop = drop if as_input or group in drop else [*drop, group]
    fewest = fewest_groups(hold_out, calibrate)
    kind: Any = TableEncoder
    options: dict[str, Any] = {"categorical": categorical, "max_categories": max_categories}
    if images is not None:
        if categorical or group_as_input:
            raise TableError(
                "Images are the only inputs. Leave out --categorical and --group-as-input."
            )
        kind, options = ImageEncoder, {"images": images}
    encoder, notices = kind.fit(frame, targets, drop=drop, **options)
    table = encoder.encode(frame)
    require_possible(table.observed, targets, kinds)
    groups = find_groups(table, group, fewest=fewest)
    division = divide(groups, hold_out, calibrate, seed)
    trained = division.trained
    if images is None:
        # What a column is must not depend on rows that the model is scored on.
        encoder, notices = kind.fit(frame.iloc[trained], targets, drop=drop, **options)
        table = encoder.encode(frame)
    else:
        notices += table.notices  # about sizes, which are those of all images
    for name, values in zip(targets, table.observed[trained].T, strict=True):
        if np.ptp(values) == 0:
            raise TableError(
                f"The target {name!r} is {values[0]:g} in every row; there is nothing to learn.", name
            )
    notices += tuple(groups.notices(as_input=as_input))
    notices += tuple(proposals(table.observed[trained], targets, kinds))
    return TrainingPlan(encoder, notices, table, groups, division, seed, source, calibrate, kinds)
