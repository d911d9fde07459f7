"""The rows that a model of a table keeps, so that more can be added: encoded, with their use."""

from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from vebnn.tabular.division import Division, group_inputs
from vebnn.tabular.encoded import EncodedTable, row_fingerprints
from vebnn.tabular.known_rows import KnownRows, of_labels
from vebnn.tabular.row_facts import RowFacts

if TYPE_CHECKING:
    from vebnn.tabular.plan import TrainingPlan

HELD_OUT, CALIBRATED, TRAINED = range(3)  # in the order of Division


@dataclass(frozen=True)
class KeptRows:
    """Rows as the network sees them; an array without rows stands for what the table has not."""

    inputs: np.ndarray = field(repr=False)  # (rows, encoded columns)
    observed: np.ndarray = field(repr=False)  # (rows, targets)
    use: np.ndarray  # (rows,): HELD_OUT, CALIBRATED or TRAINED
    labels: np.ndarray = field(repr=False)  # (rows,), fingerprints of the labels of the group column
    y_std: np.ndarray = field(repr=False)  # (rows, targets), known measurement errors
    weight: np.ndarray = field(repr=False)  # (rows,)

    @classmethod
    def of_plan(cls, plan: "TrainingPlan") -> "KeptRows":
        """Return the rows of a plan."""
        use = np.full(len(plan.table), TRAINED, np.uint8)
        use[plan.held_out], use[plan.calibrated] = HELD_OUT, CALIBRATED
        return cls.of_table(plan.table, use, plan.groups.column, plan.row_facts)

    @classmethod
    def of_table(
        cls, table: EncodedTable, use: np.ndarray, group: str | None, facts: RowFacts
    ) -> "KeptRows":
        """Return the rows of a table."""
        labels = np.zeros(0, np.uint64) if group is None else of_labels(table, group)
        no_std = np.zeros((0, table.observed.shape[1]))
        return cls(
            inputs=np.asarray(table.matrix, float),
            observed=table.observed,
            use=use,
            labels=labels,
            y_std=no_std if facts.y_std is None else facts.y_std,
            weight=np.zeros(0) if facts.weight is None else facts.weight,
        )

    def __len__(self) -> int:
        return len(self.use)

    @property
    def num_bytes(self) -> int:
        """Size of all arrays."""
        return sum(array.nbytes for array in self.arrays().values())

    def arrays(self) -> dict[str, np.ndarray]:
        """Return all arrays by name."""
        return {one.name: getattr(self, one.name) for one in fields(self)}

    def joined(self, others: "KeptRows") -> "KeptRows":
        """Return these rows and others of the same columns."""
        mine, theirs = self.arrays(), others.arrays()
        return KeptRows(**{name: np.concatenate([mine[name], theirs[name]]) for name in mine})

    @property
    def division(self) -> Division:
        """Positions of the rows, by their use."""
        return Division(*(np.flatnonzero(self.use == use) for use in (HELD_OUT, CALIBRATED, TRAINED)))

    @property
    def known_rows(self) -> KnownRows:
        """Fingerprints of the rows."""
        rows = row_fingerprints(self.inputs, self.observed)
        inputs = row_fingerprints(self.inputs)
        return KnownRows.of_fingerprints(rows, inputs, self.labels, self.division)

    def related_to(self, others: "KeptRows") -> np.ndarray:
        """Return for each row whether another has its group or, if these count, its inputs."""
        related = np.zeros(len(self), bool)
        if len(self.labels):
            related |= np.isin(self.labels, others.labels)
        if self._same_inputs_count:
            related |= np.isin(row_fingerprints(self.inputs), row_fingerprints(others.inputs))
        return related

    @property
    def _same_inputs_count(self) -> bool:
        """Whether rows with the same inputs were kept together when the table was divided."""
        held_out, calibrated, _ = self.division
        labels = self.labels if len(self.labels) else None
        fewest = 2 + (len(held_out) > 0) + (len(calibrated) > 0)
        return group_inputs(self.inputs, labels, None, fewest=fewest).kept

    def y_std_of(self, rows: np.ndarray) -> np.ndarray | None:
        """Return the known measurement errors of some rows, if there are any."""
        return self.y_std[rows] if len(self.y_std) else None

    def arguments_of(self, rows: np.ndarray) -> dict[str, Any]:
        """Return the arguments of an estimator's ``fit`` for some rows, besides inputs and targets."""
        return {
            "y_std": self.y_std_of(rows),
            "sample_weight": self.weight[rows] if len(self.weight) else None,
            "groups": self.labels[rows] if len(self.labels) else None,
        }
