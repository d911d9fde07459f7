"""A table understood and divided, before anything is trained."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas

from vebnn.calibration import CALIBRATIONS
from vebnn.calibration.conformal import rows_needed
from vebnn.core.arguments import require_number, require_one_of, require_whole
from vebnn.tabular.encoder import TableEncoder
from vebnn.tabular.errors import TableError, counted
from vebnn.tabular.scores import LEVEL

FEWEST_ROWS = 10
FEWEST_CALIBRATION_ROWS = 10
CALIBRATION_SHARE = 0.2  # of the rows that are not held out, as in the paper


@dataclass(frozen=True)
class Plan:
    """A table that has been understood and divided, before anything is trained.

    Args:
      encoder: learned from the rows to train on.
      notices: on what was decided.
      matrix: all rows as the network sees them.
      observed: their targets, ``(rows, targets)``.
      trained: positions of the rows to train on.
      held_out: positions of those for the score.
      seed: of the division.
      source: name of the file.
      calibrate: how to calibrate, if at all.
      calibrated: positions of the rows for that, which are used for nothing else.
    """

    encoder: TableEncoder
    notices: tuple[str, ...]
    matrix: pandas.DataFrame = field(repr=False)
    observed: np.ndarray = field(repr=False)
    trained: np.ndarray = field(repr=False)
    held_out: np.ndarray = field(repr=False)
    seed: int = 0
    source: str = ""
    calibrate: str | None = None
    calibrated: np.ndarray = field(default_factory=lambda: np.zeros(0, int), repr=False)


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
) -> Plan:
    """Understand a table and divide its rows, quickly; all that can be wrong with it is said here.

    Args:
      frame: the table.
      targets: columns to predict.
      drop: columns to leave out.
      categorical: columns to take as categories although they hold numbers.
      hold_out: share of the rows that is never trained on, for an honest score; may be 0.
      seed: of the choice of these rows.
      source: name of the file, for reports.
      calibrate: a method of ``VeBNNRegressor.calibrate``. A fifth of the rows that are not held out is
        then kept for it alone, so that neither training nor score has seen them.

    Raises:
      TableError: if the table cannot be used as it is.
    """
    require_number("hold_out", hold_out, 0, 0.9, "[]")
    require_whole("seed", seed, 0)
    if calibrate is not None:
        require_one_of("calibrate", calibrate, tuple(CALIBRATIONS))
    frame = frame.reset_index(drop=True)
    if len(frame) < FEWEST_ROWS:
        raise TableError(
            f"The table must have at least {FEWEST_ROWS} rows to learn from. Got "
            f"{counted(len(frame), 'row')}."
        )
    order = np.random.default_rng(seed).permutation(len(frame))
    num_held_out = int(np.ceil(hold_out * len(frame)))
    num_calibrated = _number_to_calibrate_on(calibrate, len(frame) - num_held_out)
    # The rows of the score are the same with and without calibration.
    parts = np.split(order, [num_held_out, num_held_out + num_calibrated])
    held_out, calibrated, trained = map(np.sort, parts)
    encoder, notices = TableEncoder.learn(
        frame.iloc[trained], targets, drop=drop, categorical=categorical
    )
    observed = encoder.target_values(frame)
    for name, values in zip(targets, observed[trained].T, strict=True):
        if np.ptp(values) == 0:
            raise TableError(
                f"The target {name!r} is {values[0]:g} in every row; there is nothing to learn.", name
            )
    matrix = encoder.encode(frame).matrix
    return Plan(
        encoder, notices, matrix, observed, trained, held_out, seed, source, calibrate, calibrated
    )


def _number_to_calibrate_on(calibrate: str | None, num_rows: int) -> int:
    if calibrate is None:
        return 0
    number = int(np.ceil(CALIBRATION_SHARE * num_rows))
    fewest = rows_needed(LEVEL) if calibrate == "conformal" else FEWEST_CALIBRATION_ROWS
    enough = round((fewest - 1) / CALIBRATION_SHARE) + 1
    if num_rows < enough:
        raise TableError(
            f"The calibration {calibrate!r} needs at least {fewest} rows of its own. Got "
            f"{counted(number, 'row')}, a fifth of the {num_rows} that are not held out; leave it out, "
            f"or bring rows until these are {enough}."
        )
    return number
