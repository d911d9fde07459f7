"""A model of a table: how its columns become numbers, the estimator, and what it was trained on."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas

from vebnn.prediction import Prediction
from vebnn.tabular.encoder import TableEncoder
from vebnn.tabular.fingerprints import row_fingerprints
from vebnn.tabular.plan import Plan
from vebnn.tabular.scores import LEVEL, TargetScore, score_targets

SAMPLE_ROWS = 1_000


class TargetFacts(NamedTuple):
    """A target in the training rows."""

    name: str
    low: float
    high: float
    mean: float
    std: float


@dataclass(frozen=True)
class TrainingFacts:
    """What is known of the training, for reports."""

    source: str  # name of the file
    num_rows: int
    num_trained: int
    num_held_out: int
    seed: int
    targets: tuple[TargetFacts, ...]
    notices: tuple[str, ...]
    scores: tuple[TargetScore, ...]  # of the rows held out; empty if none were
    calibration: str | None = None  # the method
    num_calibrated: int = 0  # rows for it alone


class TablePrediction(NamedTuple):
    """A prediction, and what the user should hear about the rows."""

    prediction: Prediction
    notices: tuple[str, ...]


@dataclass(frozen=True)
class TableModel:
    """A fitted estimator that takes tables.

    Args:
      encoder: how columns become numbers.
      estimator: the fitted estimator.
      facts: on the training.
      trained_rows: fingerprints of the rows it was trained or calibrated on, sorted; see
        :meth:`was_trained_on`.
      sample: some training rows as the network sees them.
      sample_observed: their targets, ``(rows, targets)``.

    Example:
      >>> plan = plan_table(read_table("rows.csv"), ["strength"])
      >>> model = TableModel.fit(VeBNNRegressor(random_state=0), plan)
      >>> model.predict(read_table("new.csv")).prediction.to_frame()
    """

    encoder: TableEncoder
    estimator: Any
    facts: TrainingFacts
    trained_rows: np.ndarray = field(repr=False)
    sample: np.ndarray = field(repr=False)
    sample_observed: np.ndarray = field(repr=False)

    @classmethod
    def fit(cls, estimator: Any, plan: Plan) -> "TableModel":
        """Fit an estimator, calibrate it if that was planned, and score it on the rows held out."""
        trained, held_out, encoder = plan.trained, plan.held_out, plan.encoder
        observed = plan.observed[trained]
        estimator.fit(plan.matrix.iloc[trained], _as_target(observed, encoder.targets))
        kept = plan.calibrated
        if plan.calibrate is not None:
            targets = _as_target(plan.observed[kept], encoder.targets)
            estimator.calibrate(plan.matrix.iloc[kept], targets, plan.calibrate)
        facts = tuple(
            TargetFacts(name, *(float(f(values)) for f in (np.min, np.max, np.mean, np.std)))
            for name, values in zip(encoder.targets, observed.T, strict=True)
        )
        scores: tuple[TargetScore, ...] = ()
        if len(held_out):
            prediction = estimator.predict_distribution(plan.matrix.iloc[held_out])
            means = tuple(one.mean for one in facts)
            scores = score_targets(prediction, plan.observed[held_out], encoder.targets, means)
        some = np.unique(np.linspace(0, len(trained) - 1, SAMPLE_ROWS).round().astype(int))
        matrix, learned_from = plan.matrix.to_numpy(), np.concatenate([trained, kept])
        fingerprints = row_fingerprints(matrix[learned_from], plan.observed[learned_from])
        return cls(
            encoder=encoder,
            estimator=estimator,
            facts=TrainingFacts(
                source=plan.source,
                num_rows=len(plan.matrix),
                num_trained=len(trained),
                num_held_out=len(held_out),
                seed=plan.seed,
                targets=facts,
                notices=plan.notices,
                scores=scores,
                calibration=plan.calibrate,
                num_calibrated=len(kept),
            ),
            trained_rows=np.sort(fingerprints),
            sample=matrix[trained[some]],
            sample_observed=observed[some],
        )

    @property
    def targets(self) -> tuple[str, ...]:
        """Names of the columns it predicts."""
        return self.encoder.targets

    def predict(self, frame: pandas.DataFrame) -> TablePrediction:
        """Return the predictive distribution of some rows."""
        matrix, notices = self.encoder.encode(frame.reset_index(drop=True))
        return TablePrediction(self.estimator.predict_distribution(matrix), notices)

    def prediction_table(
        self, frame: pandas.DataFrame, prediction: Prediction, level: float = LEVEL
    ) -> pandas.DataFrame:
        """Return predictions as a table: row number from 1, identifiers, then all of each target."""
        table = prediction.to_frame(level).reset_index(drop=True)
        kept = [name for name in self.encoder.identifiers if name in frame.columns]
        first = frame[kept].reset_index(drop=True)
        if "row" not in kept:
            first.insert(0, "row", np.arange(1, len(frame) + 1))
        return pandas.concat([first, table], axis=1)

    def was_trained_on(self, frame: pandas.DataFrame) -> np.ndarray:
        """Say of each row, with its targets, whether the model was trained or calibrated on it."""
        frame = frame.reset_index(drop=True)
        matrix = self.encoder.encode(frame).matrix.to_numpy()
        return np.isin(row_fingerprints(matrix, self.encoder.target_values(frame)), self.trained_rows)

    def score(
        self, frame: pandas.DataFrame, prediction: Prediction, level: float = LEVEL
    ) -> tuple[TargetScore, ...]:
        """Compare a prediction of some rows with their targets."""
        means = tuple(one.mean for one in self.facts.targets)
        observed = self.encoder.target_values(frame.reset_index(drop=True))
        return score_targets(prediction, observed, self.targets, means, level)

    def save(self, folder: str | Path) -> None:
        """Save to a folder; see :mod:`vebnn.tabular.saving`."""
        from vebnn.tabular.saving import save_table_model

        save_table_model(self, folder)

    @classmethod
    def load(cls, folder: str | Path) -> "TableModel":
        """Load a saved model; nothing in its files is executed."""
        from vebnn.tabular.saving import SavedTableModel

        return SavedTableModel.open(folder).load()


def _as_target(observed: np.ndarray, targets: tuple[str, ...]) -> Any:
    return observed[:, 0] if len(targets) == 1 else pandas.DataFrame(observed, columns=list(targets))
