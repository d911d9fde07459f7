"""A table encoded and divided into rows to train on, to calibrate on and to score, before training."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas

from vebnn.calibration import CALIBRATIONS
from vebnn.calibration.conformal import rows_needed
from vebnn.core.arguments import require_number, require_one_of, require_whole
from vebnn.tabular.encoder import EncodedTable, TableEncoder
from vebnn.tabular.errors import TableError, counted
from vebnn.tabular.scores import DEFAULT_LEVEL

FEWEST_ROWS = 10
FEWEST_CALIBRATION_ROWS = 10
CALIBRATION_SHARE = 0.2  # of the rows that are not held out, as in the paper


@dataclass(frozen=True)
class TrainingPlan:
    """An encoded table and the use of each of its rows; rows are given by their positions."""

    encoder: TableEncoder  # learned from the rows to train on
    notices: tuple[str, ...]  # about what the encoder decided
    table: EncodedTable = field(repr=False)  # all rows
    trained: np.ndarray = field(repr=False)  # rows to train on
    held_out: np.ndarray = field(repr=False)  # rows for the score
    calibrated: np.ndarray = field(repr=False)  # rows for the calibration alone
    seed: int = 0  # of the division
    source: str = ""  # name of the file
    calibrate: str | None = None  # method of calibration


def plan_table(
    frame: pandas.DataFrame,
    targets: Sequence[str],
    *,
    drop: Sequence[str] = (),
    categorical: Sequence[str] = (),
    hold_out: float = 0.2,
    seed: int = 0,
    source: str = "",
    calibrate: str | None = None,
) -> TrainingPlan:
    """Check and encode a table, and divide its rows; takes no longer than reading them.

    Args:
      frame: the table.
      targets: columns to predict.
      drop: columns to leave out.
      categorical: columns to take as categories although they hold numbers.
      hold_out: share of the rows that is never trained on, for an honest score; may be 0.
      seed: of the choice of these rows.
      source: name of the file, for reports.
      calibrate: a method of ``VeBNNRegressor.calibrate``. It gets a fifth of the rows that are not held
        out; they are neither trained on nor scored.

    Raises:
      TableError: if the table cannot be used as it is.
    """
    require_number("hold_out", hold_out, 0, 0.9, "[]")
    require_whole("seed", seed, 0)
    if calibrate is not None:
        require_one_of("calibrate", calibrate, tuple(CALIBRATIONS))
    frame = frame.reset_index(drop=True)
    if len(frame) < FEWEST_ROWS:
        got = counted(len(frame), "row")
        raise TableError(f"The table must have at least {FEWEST_ROWS} rows to learn from. Got {got}.")
    order = np.random.default_rng(seed).permutation(len(frame))
    num_held_out = int(np.ceil(hold_out * len(frame)))
    num_calibrated = _num_calibrated(calibrate, len(frame) - num_held_out)
    # The scored rows are the same with and without calibration.
    parts = np.split(order, [num_held_out, num_held_out + num_calibrated])
    held_out, calibrated, trained = map(np.sort, parts)
    encoder, notices = TableEncoder.fit(
        frame.iloc[trained], targets, drop=drop, categorical=categorical
    )
    table = encoder.encode(frame)
    for name, values in zip(targets, table.observed[trained].T, strict=True):
        if np.ptp(values) == 0:
            raise TableError(
                f"The target {name!r} is {values[0]:g} in every row; there is nothing to learn.", name
            )
    return TrainingPlan(encoder, notices, table, trained, held_out, calibrated, seed, source, calibrate)


def _num_calibrated(calibrate: str | None, num_rows: int) -> int:
    if calibrate is None:
        return 0
    number = int(np.ceil(CALIBRATION_SHARE * num_rows))
    fewest = rows_needed(DEFAULT_LEVEL) if calibrate == "conformal" else FEWEST_CALIBRATION_ROWS
    enough = round((fewest - 1) / CALIBRATION_SHARE) + 1
    if num_rows < enough:
        raise TableError(
            f"The calibration {calibrate!r} needs at least {fewest} rows of its own. Got "
            f"{counted(number, 'row')}, a fifth of the {num_rows} that are not held out; leave it out, "
            f"or add rows until these are {enough}."
        )
    return number
