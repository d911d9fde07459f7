"""A typical row of a table: a real one, because the medians of all columns may not go together."""

from typing import Any

import numpy as np
import pandas

from vebnn.tabular.columns import CategoryColumn
from vebnn.tabular.encoder import TableEncoder

MOST_ROWS = 500  # that are compared, each with each


def typical_row(encoder: TableEncoder, sample: np.ndarray) -> dict[str, Any]:
    """Return the medoid of some encoded rows: the one with the least total distance to the others.

    A distance is the sum over columns of the difference, or of 1 for different categories, in units of
    its mean over all pairs (as Gower 1971, with means for ranges). Only rows with the fewest gaps are
    taken; if these have gaps, they are filled with medians or most frequent values.
    """
    places = np.unique(np.linspace(0, len(sample) - 1, MOST_ROWS).round().astype(int))
    rows = pandas.DataFrame([encoder.decode(row) for row in sample[places]], dtype=object)
    gaps = rows.isna().sum(axis=1).to_numpy()
    rows = rows[gaps == gaps.min()].reset_index(drop=True)
    total = np.zeros(len(rows))
    for column in encoder.columns:
        values = rows[column.name]
        if values.isna().any():
            rows[column.name] = values = values.where(values.notna(), column.typical)
        if isinstance(column, CategoryColumn):
            labels = values.to_numpy(object)
            distance = (labels[:, None] != labels[None, :]).astype(float)
        else:
            numbers = column.encode(values)[0][:, 0]  # the number itself, or the trend
            distance = np.abs(numbers[:, None] - numbers[None, :])
        if (mean := distance.mean()) > 0:
            total += distance.mean(1) / mean
    return dict(rows.iloc[int(np.argmin(total))])
