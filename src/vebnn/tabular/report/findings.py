"""What a model says about rows whose targets are known: everything the report shows."""

from dataclasses import dataclass

import numpy as np
import pandas

from vebnn.tabular.columns import NumberColumn
from vebnn.tabular.errors import shown
from vebnn.tabular.model import TableModel
from vebnn.tabular.scores import TargetScore, columns_of
from vebnn.tabular.values import MISSING, labels_of, numbers_of


@dataclass(frozen=True)
class TargetFindings:
    """One target; every array has an entry per row of the user's table."""

    name: str
    observed: np.ndarray
    mean: np.ndarray
    aleatoric_std: np.ndarray
    epistemic_std: np.ndarray
    score: TargetScore  # of the rows that are judged

    @property
    def std(self) -> np.ndarray:
        """Total standard deviation."""
        return np.hypot(self.aleatoric_std, self.epistemic_std)


@dataclass(frozen=True)
class Findings:
    """A model and a table.

    Args:
      model: the model.
      frame: the user's table.
      data_name: name of its file.
      trained: whether each row was trained on.
      judged: whether each row counts for scores: those not trained on, if there are any.
      notices: what the encoder had to say.
      targets: one for each target.
    """

    model: TableModel
    frame: pandas.DataFrame
    data_name: str
    trained: np.ndarray
    judged: np.ndarray
    notices: tuple[str, ...]
    targets: tuple[TargetFindings, ...]

    @property
    def fresh(self) -> bool:
        """Whether the scores are of rows the model was not trained on."""
        return not self.trained.all()


def find_out(model: TableModel, frame: pandas.DataFrame, data_name: str) -> Findings:
    """Predict every row of a table and compare with its targets.

    Raises:
      TableError: if the table lacks columns or targets.
    """
    frame = frame.reset_index(drop=True)
    observed = model.encoder.target_values(frame)
    prediction, notices = model.predict(frame)
    trained = model.was_trained_on(frame)
    judged = np.ones_like(trained) if trained.all() else ~trained
    scores = model.score(frame[judged], model.predict(frame[judged]).prediction)
    parts = map(columns_of, (prediction.mean, prediction.aleatoric_std, prediction.epistemic_std))
    mean, aleatoric, epistemic = parts
    targets = tuple(
        TargetFindings(
            name, observed[:, at], mean[:, at], aleatoric[:, at], epistemic[:, at], scores[at]
        )
        for at, name in enumerate(model.targets)
    )
    return Findings(model, frame, data_name, trained, judged, notices, targets)


def why_unusual(findings: Findings, row: int) -> list[str]:
    """Say what of a row lies outside of what the model was trained on."""
    reasons = []
    for column in findings.model.encoder.columns:
        value = findings.frame[column.name].iloc[row : row + 1]
        if isinstance(column, NumberColumn):
            number = numbers_of(value)[0]
            if number < column.low:
                reasons.append(f"{column.name} is below the training range")
            elif number > column.high:
                reasons.append(f"{column.name} is above the training range")
        else:
            label = labels_of(value)[0]
            if label not in column.categories and label != MISSING:
                reasons.append(f"{column.name} {shown(label)} was not in the training rows")
    return reasons
