"""The columns to predict: their values, and rows that lack one."""

from collections.abc import Sequence

import numpy as np
import pandas

from vebnn.tabular.errors import Problems, TableError, counted, quoted_list
from vebnn.tabular.values import to_numbers


def read_targets(frame: pandas.DataFrame, names: Sequence[str]) -> np.ndarray:
    """Return the targets of some rows, ``(rows, targets)``, NaN where one is missing."""
    columns, problems = [], Problems()
    for name in names:
        with problems.collected():
            if name not in frame.columns:
                raise TableError(
                    f"There is no target column {name!r} in the table. Its columns are "
                    f"{quoted_list(frame.columns)}.",
                    name,
                )
            columns.append(to_numbers(frame[name]))
    problems.raise_any()
    return np.column_stack(columns)


def rows_with_targets(values: np.ndarray, names: Sequence[str]) -> np.ndarray:
    """Return for each row whether it has all targets, ``(rows,)``; refuse a table where none has."""
    present = ~np.isnan(values).any(1)
    if not present.any():
        raise TableError(f"No row has a value of the target {quoted_list(names)}.", names[0])
    return present


def notice_of_missing(present: np.ndarray, names: Sequence[str]) -> list[str]:
    """Return a notice about rows without all targets, if there are any."""
    missing = int(np.sum(~present))
    if not missing:
        return []
    without = f"without the target {quoted_list(names)}"
    if len(names) > 1:
        without = f"without all of the targets {quoted_list(names)}"
    verb = "is" if missing == 1 else "are"
    return [f"{counted(missing, 'row')} {without} {verb} left out."]
