"""A table understood and divided, before anything is trained."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas

from vebnn.arguments import require_number, require_whole
from vebnn.tables.encoder import TableEncoder
from vebnn.tables.errors import TableError, counted

FEWEST_ROWS = 10


@dataclass(frozen=True)
class Plan:
    """A table that has been understood and divided, before anything is trained.

    Args:
      encoder: learned from the rows to train on.
      notices: on what was decided.
      matrix: all rows as the network sees them.
      observed: their targets, ``(rows, targets)``.
      trained: positions of the rows to train on.
      held_out: positions of the others.
      seed: of the division.
      source: name of the file.
    """

    encoder: TableEncoder
    notices: tuple[str, ...]
    matrix: pandas.DataFrame = field(repr=False)
    observed: np.ndarray = field(repr=False)
    trained: np.ndarray = field(repr=False)
    held_out: np.ndarray = field(repr=False)
    seed: int = 0
    source: str = ""


def plan_table(
    frame: pandas.DataFrame,
    targets: Sequence[str],
    *,
    drop: Sequence[str] = (),
    categorical: Sequence[str] = (),
    hold_out: float = 0.2,
    seed: int = 0,
    source: str = "",
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

    Raises:
      TableError: if the table cannot be used as it is.
    """
    require_number("hold_out", hold_out, 0, 0.9, "[]")
    require_whole("seed", seed, 0)
    frame = frame.reset_index(drop=True)
    if len(frame) < FEWEST_ROWS:
        raise TableError(
            f"The table must have at least {FEWEST_ROWS} rows to learn from. Got "
            f"{counted(len(frame), 'row')}."
        )
    order = np.random.default_rng(seed).permutation(len(frame))
    num_held_out = int(np.ceil(hold_out * len(frame)))
    held_out, trained = np.sort(order[:num_held_out]), np.sort(order[num_held_out:])
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
    return Plan(encoder, notices, matrix, observed, trained, held_out, seed, source)
