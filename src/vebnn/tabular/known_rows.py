"""The rows a model has learned from, and how it recognises them."""

from dataclasses import dataclass, field

import numpy as np

from vebnn.tabular.division import Division, TableGroups
from vebnn.tabular.encoded import EncodedTable, fingerprints
from vebnn.tabular.values import to_labels


def _none() -> np.ndarray:
    return np.zeros(0, np.uint64)


@dataclass(frozen=True)
class KnownRows:
    """Sorted fingerprints of rows; "trained" includes the rows of the calibration.

    Models of format 3 and older have only the first.
    """

    trained_rows: np.ndarray = field(repr=False)  # inputs and targets; as often as there are such rows
    held_out_rows: np.ndarray = field(repr=False, default_factory=_none)  # the same, of held-out rows
    trained_inputs: np.ndarray = field(repr=False, default_factory=_none)  # distinct inputs
    trained_groups: np.ndarray = field(repr=False, default_factory=_none)  # distinct labels

    @classmethod
    def of(cls, table: EncodedTable, division: Division, groups: TableGroups) -> "KnownRows":
        """Return the rows of a table, by their use."""
        rows, learned_from = table.fingerprints(), np.concatenate(division[1:])
        labels = _none()
        if groups.column is not None:
            labels = _of_labels(table, groups.column)[learned_from]
        return cls(
            trained_rows=np.sort(rows[learned_from]),
            held_out_rows=np.sort(rows[division.held_out]),
            trained_inputs=np.unique(table.input_fingerprints()[learned_from]),
            trained_groups=np.unique(labels),
        )

    def was_trained_on(self, table: EncodedTable) -> np.ndarray:
        """Return for each row, with its targets, whether the model was trained or calibrated on it."""
        rows = table.fingerprints()
        trained = np.isin(rows, self.trained_rows)
        # The model may see no difference between a held-out and a training row, such as a category that
        # only the held-out row has. Then as many copies count as new as were held out.
        for twin in np.intersect1d(self.trained_rows, self.held_out_rows):
            copies = np.flatnonzero(rows == twin)
            trained[copies[: np.count_nonzero(self.held_out_rows == twin)]] = False
        return table.settled(trained)

    def is_related(self, table: EncodedTable, group_column: str | None) -> np.ndarray:
        """Return for each row whether it has the inputs or the group of a training row."""
        related = np.isin(table.input_fingerprints(), self.trained_inputs)
        if group_column is not None and group_column in table.frame.columns:
            related |= np.isin(_of_labels(table, group_column), self.trained_groups)
        return related


def _of_labels(table: EncodedTable, column: str) -> np.ndarray:
    return fingerprints(label.encode() for label in to_labels(table.frame[column]))
