"""Estimators that were saved from Python, as models of tables: report, service and scores take them."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import pandas

from vebnn.serialization.folders import MODEL, SavedFolder
from vebnn.tabular.columns import Encoded, NumberColumn
from vebnn.tabular.encoded import Encoder
from vebnn.tabular.encoder import TableEncoder
from vebnn.tabular.known_rows import KnownRows
from vebnn.tabular.model import TableModel, TargetFacts, TrainingFacts
from vebnn.tabular.saving import ESTIMATORS
from vebnn.tabular.sequences.encoder import SequenceColumns, SequenceEncoder
from vebnn.tabular.values import refuse_new_gaps, to_numbers

# Columns of a long table whose rows are steps, which an array of three axes has no names for.
SEQUENCE, STEP = "sequence", "step"
NOTICE = (
    "The model was saved from Python and keeps no record of its training rows: the scores are honest "
    "only if these rows were not among them."
)


@dataclass(frozen=True)
class PlainColumn(NumberColumn):
    """One input of an array: a number, as it is. Its range is a guess from mean and std."""

    range_known: ClassVar[bool] = False
    knows_gaps: bool = False  # whether the estimator has learned what a gap means

    @classmethod
    def around(cls, name: str, centre: float, scale: float, knows_gaps: bool) -> "PlainColumn":
        """Return a column from the mean and std of its training values."""
        return cls(name, centre - 2 * scale, centre + 2 * scale, centre, False, 0, knows_gaps)

    @property
    def summary(self) -> str:
        """What is known of the training values."""
        return f"{self.median:g} ± {(self.high - self.low) / 4:g} (std)"

    def decode(self, values: np.ndarray) -> float | None:
        """Return the value of one row, None where it was missing."""
        return None if np.isnan(values[0]) else float(values[0])

    def encode(self, series: pandas.Series) -> Encoded:
        """Return the numbers; the estimator fills gaps itself."""
        numbers = to_numbers(series)
        if not self.knows_gaps:
            refuse_new_gaps(series, np.isnan(numbers))
        return numbers[:, None], []


@dataclass(frozen=True)
class SavedEstimator:
    """An estimator's folder, with the questions that commands ask of a model of a table."""

    folder: SavedFolder

    @cached_property
    def estimator(self) -> Any:
        """The estimator; inputs without names are called x0, x1, …"""
        from vebnn import estimators

        body, _ = MODEL.read(self.folder)
        if (kind := body.get("estimator")) not in ESTIMATORS:
            raise ValueError(
                f"The model in {self.folder.path} is a {kind}, which has no table. Commands take "
                f"models of vebnn fit, and a saved {' or '.join(ESTIMATORS)}."
            )
        found = getattr(estimators, kind).load(self.folder)
        if len(found.in_shape_) > 2:
            raise ValueError(
                f"The model in {self.folder.path} takes inputs of shape {found.in_shape_}, which are "
                f"no rows of a table. Use predict_distribution in Python."
            )
        if len(found.in_shape_) == 1 and not hasattr(found, "feature_names_in_"):
            # The rows that commands read have names, which scikit-learn compares.
            found.feature_names_in_ = np.array(_numbered("x", found.in_shape_[0]), object)
        return found

    @cached_property
    def encoder(self) -> Encoder:
        """The encoder of a table whose columns are the inputs."""
        model = self.estimator
        units, num_inputs = model.x_units_, model.in_shape_[-1]
        names = getattr(model, "feature_names_in_", _numbered("x", num_inputs))
        marked = () if model.gaps_ is None else model.gaps_.marked
        columns = tuple(
            PlainColumn.around(
                str(names[at]), float(units.centre[at]), float(units.scale[at]), at in marked
            )
            for at in range(num_inputs)
        )
        if len(model.in_shape_) == 1:
            return TableEncoder(columns, self._targets, (), ())
        by = SequenceColumns(SEQUENCE, STEP)
        steps = units.restore(np.asarray(model.fitted_.probe_x[0], float))
        example = pandas.DataFrame(steps, columns=[column.name for column in columns])
        example.insert(0, STEP, np.arange(len(steps)))
        example.insert(0, SEQUENCE, 1)
        written = example.round(6).to_csv(index=False)
        return SequenceEncoder(columns, self._targets, (SEQUENCE, STEP), (), by, written)

    @property
    def _targets(self) -> tuple[str, ...]:
        model = self.estimator
        number = len(model.y_units_.scale)
        return model.target_names_ or tuple(["y"] if number == 1 else _numbered("y", number))

    @property
    def label_names(self) -> list[str]:
        """Names of the columns whose values must be read as they are written."""
        return self.encoder.label_names

    def with_names(self, frame: pandas.DataFrame) -> pandas.DataFrame:
        """Return a table with the model's names for the columns of an .npz file of X and y."""
        targets = self.encoder.targets
        inputs = [column.name for column in self.encoder.columns]
        known = dict(zip(_numbered("X_", len(inputs)), inputs, strict=True))
        known |= dict(zip(_numbered("y_", len(targets)), targets, strict=True))
        if len(targets) == 1:
            known["y"] = targets[0]
        if len(inputs) == 1:
            known["X"] = inputs[0]
        return frame.rename(columns={old: new for old, new in known.items() if new not in frame})

    def load(self) -> TableModel:
        """Return the estimator with this encoder."""
        model, encoder = self.estimator, self.encoder
        nothing = np.zeros(0, np.uint64)
        facts = TrainingFacts(
            source="",
            num_rows=0,
            num_trained=0,
            num_held_out=0,
            seed=0,
            targets=_target_facts(model, self._targets),
            notices=(NOTICE,),
            scores=(),
        )
        kept = np.zeros((0, len(encoder.columns)))
        if len(model.in_shape_) == 1:
            kept = _kept_rows(model)
        unknown = np.full((len(kept), len(self._targets)), np.nan)
        return TableModel(encoder, model, facts, KnownRows(nothing), kept, unknown)


def _kept_rows(model: Any) -> np.ndarray:
    """Return the training rows that every estimator keeps, in their units and with their gaps."""
    inputs = model.x_units_.restore(np.asarray(model.fitted_.probe_x, float))
    rows: np.ndarray = inputs[:, : model.in_shape_[0]].copy()
    for feature in () if model.gaps_ is None else model.gaps_.marked:
        _, mark = model.gaps_.inputs_of(feature)
        rows[inputs[:, mark] > 0.5, feature] = np.nan
    return rows


def _numbered(name: str, number: int) -> list[str]:
    return [f"{name}{at}" for at in range(number)]


def _target_facts(model: Any, names: Sequence[str]) -> tuple[TargetFacts, ...]:
    """Return mean and std of the training targets, as their units tell; the ends are a guess."""
    facts = []
    for name, kind, centre, scale in zip(names, model.target_kinds_, *model.y_units_, strict=True):
        mean, variance, _ = kind.moments(*(np.array([one]) for one in (centre, scale**2, 0.0)))
        ends = kind.inverse(np.array([centre - 2 * scale, centre + 2 * scale]))
        facts.append(TargetFacts(name, *map(float, (*ends, mean[0], np.sqrt(variance[0])))))
    return tuple(facts)
