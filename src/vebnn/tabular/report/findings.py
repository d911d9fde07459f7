"""Everything the report shows about a model and rows whose targets are known."""

from dataclasses import dataclass

import numpy as np
import pandas

from vebnn.tabular.columns import CategoryColumn, NumberColumn
from vebnn.tabular.date_column import DateColumn
from vebnn.tabular.encoded import EncodedTable
from vebnn.tabular.encoder import TableEncoder
from vebnn.tabular.errors import quoted
from vebnn.tabular.images.encoder import ImageEncoder
from vebnn.tabular.model import UNMIXED, Evaluation, TableModel
from vebnn.tabular.scores import TargetScore, columns_of
from vebnn.tabular.sequences.encoder import SequenceEncoder
from vebnn.tabular.values import MISSING, to_numbers

TAILS = np.array([0.025, 0.975])  # of 95 % intervals


@dataclass(frozen=True)
class TargetFindings:
    """One target; every array has an entry per row of the user's table."""

    score: TargetScore  # of the scored rows
    observed: np.ndarray
    mean: np.ndarray
    aleatoric_std: np.ndarray
    epistemic_std: np.ndarray
    error: np.ndarray  # in total stds, on the scale that is learned
    ranges: np.ndarray  # (4, rows), ends of 95 % intervals of new values, and of the mean

    @property
    def name(self) -> str:
        """Name of the target."""
        return self.score.target

    @property
    def std(self) -> np.ndarray:
        """Total standard deviation."""
        return np.hypot(self.aleatoric_std, self.epistemic_std)


@dataclass(frozen=True)
class Findings:
    """A model, and its predictions of every row of a table."""

    model: TableModel
    evaluation: Evaluation
    data_name: str  # name of the table's file
    targets: tuple[TargetFindings, ...]

    @property
    def frame(self) -> pandas.DataFrame:
        """The user's table."""
        return self.evaluation.table.frame

    @property
    def row_numbers(self) -> np.ndarray:
        """Numbers of the rows in the user's file, from 1; rows without a target are not among them."""
        return self.frame.index.to_numpy() + 1

    @property
    def warning(self) -> str | None:
        """What limits all predictions: chains that disagree."""
        return UNMIXED if self.evaluation.prediction.spread == "ensemble" else None

    @property
    def of_images(self) -> bool:
        """Whether the rows are images."""
        return isinstance(self.model.encoder, ImageEncoder)

    @property
    def of_sequences(self) -> bool:
        """Whether the rows are steps of sequences."""
        return isinstance(self.model.encoder, SequenceEncoder)

    @property
    def of_rows(self) -> bool:
        """Whether every row is an example of its own, with columns."""
        return isinstance(self.model.encoder, TableEncoder)

    @property
    def identifier(self) -> str | None:
        """The first column that names a row, if the table has one."""
        return next((one for one in self.model.encoder.identifiers if one in self.frame.columns), None)


def find_out(model: TableModel, rows: pandas.DataFrame | EncodedTable, data_name: str) -> Findings:
    """Predict every row of a table and compare with its targets."""
    found = model.evaluate(rows, predict_all=True)
    prediction = found.prediction
    observed = found.table.observed
    parts = {
        "observed": observed,
        "mean": prediction.mean,
        "aleatoric_std": prediction.aleatoric_std,
        "epistemic_std": prediction.epistemic_std,
        "error": prediction.standardised_error(observed.reshape(prediction.mean.shape)),
    }
    ends = (*prediction.quantile(TAILS), *prediction.mean_interval(0.95))
    ranges = np.stack([columns_of(end) for end in ends])
    targets = tuple(
        TargetFindings(
            score=score,
            ranges=ranges[..., at],
            **{name: columns_of(part)[:, at] for name, part in parts.items()},
        )
        for at, score in enumerate(found.scores)
    )
    return Findings(model, found, data_name, targets)


def unusual_values(findings: Findings, row: int) -> list[str]:
    """Return which values of a row lie outside of the training rows."""
    reasons = []
    for column in findings.model.encoder.columns:
        value = findings.frame[column.name].iloc[row : row + 1]
        if isinstance(column, NumberColumn) and column.range_known:
            reasons += _beyond(column, to_numbers(value)[0], "below", "above")
        elif isinstance(column, DateColumn):
            reasons += _beyond(column, column.to_days(value)[0], "before", "after")
        elif isinstance(column, CategoryColumn):
            label = column.labels_of(value)[0]
            reason = column.unseen_as(label)
            if reason is not None and label != MISSING:
                reasons.append(f"{column.name} {quoted(label)} was {reason}")
    return reasons


def _beyond(column: NumberColumn | DateColumn, value: float, below: str, above: str) -> list[str]:
    if column.low <= value <= column.high or np.isnan(value):
        return []
    return [f"{column.name} is {below if value < column.low else above} the training range"]
