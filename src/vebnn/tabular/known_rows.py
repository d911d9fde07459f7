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
        labels = _none() if groups.column is None else of_labels(table, groups.column)
        return cls.of_fingerprints(table.fingerprints(), table.input_fingerprints(), labels, division)

    @classmethod
    def of_fingerprints(
        cls, rows: np.ndarray, inputs: np.ndarray, labels: np.ndarray, division: Division
    ) -> "KnownRows":
        """Return the same from fingerprints of rows, of their inputs, and of group labels, if any."""
        learned_from = np.concatenate(division[1:])
        return cls(
            trained_rows=np.sort(rows[learned_from]),
            held_out_rows=np.sort(rows[division.held_out]),
            trained_inputs=np.unique(inputs[learned_from]),
            trained_groups=np.unique(labels[learned_from] if len(labels) else labels),
        )

    def has_seen(self, table: EncodedTable) -> np.ndarray:
        """Return for each row, with its targets, whether it was among the rows of the model at all."""
        return np.isin(table.fingerprints(), np.union1d(self.trained_rows, self.held_out_rows))

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
            related |= np.isin(of_labels(table, group_column), self.trained_groups)
        return related


def of_labels(table: EncodedTable, column: str) -> np.ndarray:
    """Return fingerprints of the labels of a column."""
    return fingerprints(label.encode() for label in to_labels(table.frame[column]))
