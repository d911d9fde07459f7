"""A model of a table: how its columns become numbers, the estimator, and its training."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas

from vebnn.prediction import Prediction
from vebnn.tabular.encoded import EncodedTable, Encoder
from vebnn.tabular.encoder import TableEncoder
from vebnn.tabular.errors import TableError
from vebnn.tabular.known_rows import KnownRows
from vebnn.tabular.plan import TrainingPlan
from vebnn.tabular.row_facts import read_y_std
from vebnn.tabular.scores import DEFAULT_LEVEL, TargetScore, score_targets
from vebnn.tabular.target_kinds import require_possible
from vebnn.tabular.typical import typical_row

if TYPE_CHECKING:
    from vebnn.estimators import Explanation, Relevance
    from vebnn.tabular.additions.history import History

UNMIXED = (
    "The chains of the model disagree (R-hat above 1.2): take the epistemic std for the spread of an "
    "ensemble, which may be too small. Fit again with --effort thorough or a --time-budget."
)


class TargetFacts(NamedTuple):
    """A target in the training rows."""

    name: str
    low: float
    high: float
    mean: float
    std: float


@dataclass(frozen=True)
class TrainingFacts:
    """Facts about the training, for reports."""

    source: str  # name of the file
    num_rows: int  # 0 if the model keeps no record of them
    num_trained: int
    num_held_out: int
    seed: int
    targets: tuple[TargetFacts, ...]
    notices: tuple[str, ...]
    scores: tuple[TargetScore, ...]  # of the held-out rows; empty if there are none
    calibration: str | None = None  # the method
    num_calibrated: int = 0  # rows for the calibration alone
    group: str | None = None  # the column that names groups of rows
    num_groups: int = 0  # of rows that stay together; 0 if the model is older than groups
    time: str | None = None  # the column by which the latest rows were held out
    y_std: tuple[str, ...] = ()  # columns of known measurement errors, one for each target or none
    weight: str | None = None  # the column that says how much each row counted


class TablePrediction(NamedTuple):
    """A prediction, and notices about the rows."""

    prediction: Prediction
    notices: tuple[str, ...]


@dataclass(frozen=True)
class Evaluation:
    """Predictions of rows whose targets are known, and their scores."""

    table: EncodedTable
    trained: np.ndarray  # (rows,), whether the model was trained or calibrated on the row
    related: np.ndarray  # (rows,), whether it has the inputs or the group of such a row
    scored: np.ndarray  # (rows,), whether the row counts: not trained on, or all if there are no others
    prediction: Prediction  # of the scored rows, or of all
    scores: tuple[TargetScore, ...]

    known: bool = True  # whether the model knows which rows it was trained on

    @property
    def fresh(self) -> bool:
        """Whether the scores are of rows the model was not trained on, as far as it knows."""
        return not self.trained.all()


@dataclass(frozen=True)
class TableModel:
    """A fitted estimator that takes tables.

    Example:
      >>> plan = plan_table(read_table("rows.csv"), ["strength"])
      >>> model = TableModel.fit(VeBNNRegressor(random_state=0), plan)
      >>> model.predict(read_table("new.csv")).prediction.to_frame()
    """

    encoder: Encoder
    estimator: Any
    facts: TrainingFacts
    known_rows: KnownRows = field(repr=False)
    sample: np.ndarray = field(repr=False)  # some training rows, encoded
    sample_observed: np.ndarray = field(repr=False)  # their targets, (rows, targets)
    history: "History | None" = field(repr=False, default=None)  # if it keeps its rows

    @classmethod
    def fit(cls, estimator: Any, plan: TrainingPlan, *, keep_rows: bool = True) -> "TableModel":
        """Fit an estimator, calibrate it if that is planned, and score it on the held-out rows.

        With ``keep_rows`` the model of a table keeps all of its rows, so that more can be added.
        """
        from vebnn.tabular.additions.history import History
        from vebnn.tabular.additions.kept_rows import KeptRows

        inputs_of, observed = plan.table.take, plan.table.observed
        trained, calibrated, held_out = plan.trained, plan.calibrated, plan.held_out
        names = plan.encoder.targets
        if plan.calibrate is not None:
            estimator.check_calibration("calibrate", plan.calibrate)
        groups = None if plan.groups.column is None else plan.groups.of_rows[trained]
        by_rows = plan.encoder.by_rows(estimator)
        by_rows.fit(
            inputs_of(trained),
            as_target(observed[trained], names),
            groups=groups,
            **plan.row_facts.arguments_of(trained),
        )
        if plan.calibrate is not None:
            targets, y_std = (
                as_target(observed[calibrated], names),
                plan.row_facts.y_std_of(calibrated),
            )
            by_rows.calibrate(inputs_of(calibrated), targets, plan.calibrate, y_std=y_std)
        facts = target_facts(names, observed[trained])
        scores: tuple[TargetScore, ...] = ()
        if len(held_out):
            y_std = plan.row_facts.y_std_of(held_out)
            prediction = by_rows.predict_distribution(inputs_of(held_out), y_std=y_std)
            means = tuple(one.mean for one in facts)
            num_sequences = plan.table.count_sequences(held_out)
            scores = score_targets(
                prediction, observed[held_out], names, means, num_sequences=num_sequences
            )
        some = trained[sample_places(len(trained), plan.encoder.sample_rows)]
        return cls(
            encoder=plan.encoder,
            estimator=estimator,
            facts=TrainingFacts(
                source=plan.source,
                num_rows=len(plan.table),
                num_trained=len(trained),
                num_held_out=len(held_out),
                seed=plan.seed,
                targets=facts,
                notices=plan.notices,
                scores=scores,
                calibration=plan.calibrate,
                num_calibrated=len(calibrated),
                group=plan.groups.column,
                num_groups=plan.groups.count,
                time=None if plan.time is None else plan.time.column,
                y_std=plan.row_facts.y_std_columns,
                weight=plan.row_facts.weight_column,
            ),
            known_rows=KnownRows.of(plan.table, plan.division, plan.groups),
            sample=np.asarray(inputs_of(some)),
            sample_observed=observed[some],
            history=History(KeptRows.of_plan(plan))
            if keep_rows and isinstance(plan.encoder, TableEncoder)
            else None,
        )

    @property
    def targets(self) -> tuple[str, ...]:
        """Names of the columns it predicts."""
        return self.encoder.targets

    @property
    def table_encoder(self) -> TableEncoder:
        """The encoder, where only single rows of columns make sense."""
        if not isinstance(self.encoder, TableEncoder):
            raise TableError(f"This needs a model of a table. Got one of {self.encoder.what}.")
        return self.encoder

    @property
    def _by_rows(self) -> Any:
        return self.encoder.by_rows(self.estimator)

    @property
    def inputs_of_columns(self) -> dict[str, list[int]]:
        """The numbers of the network's inputs that each column has become."""
        return _inputs_of(self.table_encoder.columns)

    @cached_property
    def typical_row(self) -> dict[str, Any]:
        """A training row in the middle of the others."""
        return typical_row(self.table_encoder, self.sample)

    @cached_property
    def relevance(self) -> "Relevance | None":
        """How much each column matters, its encoded columns together; None if that is not learned."""
        of_inputs: Relevance | None = getattr(self.estimator, "relevance_", None)
        if of_inputs is None:
            return None
        return of_inputs.combined(_inputs_of(self.encoder.columns))

    @property
    def settings(self) -> dict[str, Any]:
        """The estimator's arguments, without those that only concern a run."""
        settings = self.estimator.get_params(deep=False)
        return {
            name: settings[name] for name in settings if name not in ("checkpoint", "n_jobs", "verbose")
        }

    def encode(self, rows: pandas.DataFrame | EncodedTable) -> EncodedTable:
        """Return encoded rows; those that are encoded already stay as they are."""
        return rows if isinstance(rows, EncodedTable) else self.encoder.encode(rows)

    def predict(
        self, rows: pandas.DataFrame | EncodedTable, *, y_std: Sequence[str] = ()
    ) -> TablePrediction:
        """Return the predictive distribution of some rows.

        The ``y_std`` are columns of known measurement errors, one for each target, which add to the
        noise.
        """
        table = self.encode(rows)
        known = read_y_std(table.frame, y_std, self.targets) if y_std else None
        prediction = self._by_rows.predict_distribution(table.matrix, y_std=known)
        unmixed = (UNMIXED,) if prediction.spread == "ensemble" else ()
        return TablePrediction(prediction, (*table.notices, *unmixed))

    def explain(
        self,
        rows: pandas.DataFrame | EncodedTable,
        background: pandas.DataFrame | EncodedTable | None = None,
    ) -> "Explanation":
        """Return what each column adds to mean, noise and ignorance of the predictions of some rows.

        See :meth:`vebnn.VeBNNRegressor.explain`. The background are 64 training rows by default.
        """
        others = None if background is None else self.encode(background).matrix
        found = self.estimator.explain(self.encode(rows).matrix, others, groups=self.inputs_of_columns)
        return replace(found, target_names=self.targets)

    def prediction_table(
        self, frame: pandas.DataFrame, prediction: Prediction, level: float = DEFAULT_LEVEL
    ) -> pandas.DataFrame:
        """Return predictions as a table: row number from 1, identifiers, then all of each target.

        An identifier with the name of a predicted column is prefixed with ``identifier_``.
        """
        kept = [name for name in self.encoder.identifiers if name in frame.columns]
        predicted = prediction.to_frame(level).reset_index(drop=True)
        first = frame[kept].reset_index(drop=True)
        if "row" not in kept:
            first.insert(0, "row", np.arange(1, len(frame) + 1))
        first = first.rename(columns={name: f"identifier_{name}" for name in predicted.columns})
        return pandas.concat([first, predicted], axis=1)

    def was_trained_on(self, rows: pandas.DataFrame | EncodedTable) -> np.ndarray:
        """Return for each row, with its targets, whether the model was trained or calibrated on it."""
        return self.known_rows.was_trained_on(self.encode(rows))

    def evaluate(
        self,
        rows: pandas.DataFrame | EncodedTable,
        level: float = DEFAULT_LEVEL,
        *,
        predict_all: bool = False,
        y_std: Sequence[str] = (),
    ) -> Evaluation:
        """Score the model on the rows it was not trained on; on all rows if there are no others.

        Rows without targets are left out. The level is that of the intervals whose coverage is
        computed. With ``predict_all`` the other rows are predicted, too. The ``y_std`` are columns of
        known measurement errors, by default those of the training if the table has them.
        """
        table = self.encode(rows).with_targets()
        kinds = [kind.name for kind in self.estimator.target_kinds_]
        require_possible(table.observed, self.targets, kinds, table.frame.index)
        there = all(name in table.frame.columns for name in self.facts.y_std)
        y_std = y_std or (self.facts.y_std if there else ())
        known = read_y_std(table.frame, y_std, self.targets) if y_std else None
        trained = self.was_trained_on(table)
        related = self.known_rows.is_related(table, self.facts.group)
        scored = np.ones_like(trained) if trained.all() else ~trained
        predicted = np.ones_like(trained) if predict_all else scored
        prediction = self._by_rows.predict_distribution(
            table.take(predicted), y_std=None if known is None else known[predicted]
        )
        observed, means = table.observed[predicted], tuple(one.mean for one in self.facts.targets)
        num_sequences = table.count_sequences(scored)
        scores = score_targets(
            prediction, observed, self.targets, means, level, scored[predicted], num_sequences
        )
        known_rows = len(self.known_rows.trained_rows) > 0
        return Evaluation(table, trained, related, scored, prediction, scores, known_rows)

    def add(
        self, rows: pandas.DataFrame | EncodedTable, *, source: str = "", repeats: bool = False
    ) -> "TableModel":
        """Return a model that has learned new rows, too; this one, if it knows all of them.

        See :func:`vebnn.tabular.additions.adding.add_rows`.
        """
        from vebnn.tabular.additions.adding import add_rows, find_new_rows

        new = find_new_rows(self, rows, repeats=repeats)
        return add_rows(self, new, source=source) if len(new.rows) else self

    def save(self, folder: str | Path) -> None:
        """Save to a folder; see :mod:`vebnn.tabular.saving`."""
        from vebnn.tabular.saving import save_table_model

        save_table_model(self, folder)

    @classmethod
    def load(cls, folder: str | Path) -> "TableModel":
        """Load a saved model; nothing in its files is executed."""
        from vebnn.tabular.saving import open_saved

        return open_saved(folder, history=True).load()


def _inputs_of(columns: Sequence[Any]) -> dict[str, list[int]]:
    numbers = count()
    return {one.name: [next(numbers) for _ in one.encoded_names] for one in columns}


def target_facts(names: tuple[str, ...], observed: np.ndarray) -> tuple[TargetFacts, ...]:
    """Return facts about the targets ``(rows, targets)`` of training rows."""
    return tuple(
        TargetFacts(name, *(float(f(values)) for f in (np.min, np.max, np.mean, np.std)))
        for name, values in zip(names, observed.T, strict=True)
    )


def sample_places(num_rows: int, most: int) -> np.ndarray:
    """Return the positions of at most so many rows, spread evenly."""
    return np.unique(np.linspace(0, num_rows - 1, most).round().astype(int))


def as_target(observed: np.ndarray, targets: tuple[str, ...]) -> Any:
    """Return targets ``(rows, targets)`` as an estimator takes them."""
    return observed[:, 0] if len(targets) == 1 else pandas.DataFrame(observed, columns=list(targets))
