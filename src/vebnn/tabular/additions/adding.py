"""Add new rows to a model of a table: score them, learn them, and note what has changed."""

import time
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pandas
from sklearn.base import clone

from vebnn.estimators.rows import snapshot
from vebnn.tabular.additions.history import NO_ROWS, Addition, History
from vebnn.tabular.additions.kept_rows import HELD_OUT, TRAINED, KeptRows
from vebnn.tabular.additions.points import Points, ignorance_at, points_of
from vebnn.tabular.division import check_group_column, fewest_calibrated
from vebnn.tabular.encoded import EncodedTable
from vebnn.tabular.errors import TableError, counted
from vebnn.tabular.model import (
    TableModel,
    TrainingFacts,
    as_target,
    sample_places,
    target_facts,
)
from vebnn.tabular.row_facts import RowFacts
from vebnn.tabular.scores import TargetScore, score_targets
from vebnn.tabular.space.space import Space
from vebnn.tabular.target_kinds import require_possible

AND_ADDED = " and added files"


@dataclass(frozen=True)
class NewRows:
    """Rows to add, checked."""

    rows: KeptRows  # those that the model has not seen
    num_known: int  # left out: it has seen rows with the same inputs and targets
    notices: tuple[str, ...]


def history_of(model: TableModel) -> History:
    """Return the history of a model, which it needs to learn more rows."""
    if model.history is None:
        raise TableError(NO_ROWS)
    return model.history


def find_new_rows(
    model: TableModel, rows: pandas.DataFrame | EncodedTable, *, repeats: bool = False
) -> NewRows:
    """Check rows to add, and leave out those the model has seen, unless they are ``repeats``.

    Raises:
      TableError: about everything that keeps the rows from being used.
    """
    history_of(model)
    facts, table = model.facts, model.encode(rows).with_targets()
    kinds = [kind.name for kind in model.estimator.target_kinds_]
    require_possible(table.observed, model.targets, kinds, table.frame.index)
    if facts.group is not None:
        if facts.group not in table.frame.columns:
            raise TableError(f"The table lacks {facts.group!r}, the --group of the model.", facts.group)
        check_group_column(table.frame, facts.group)
    of_rows = RowFacts.read(table.frame, model.targets, facts.y_std, facts.weight)
    every = KeptRows.of_table(table, np.full(len(table), TRAINED, np.uint8), facts.group, of_rows)
    seen = np.zeros(len(table), bool) if repeats else model.known_rows.has_seen(table)
    fresh = KeptRows(**{n: a[~seen] if len(a) == len(seen) else a for n, a in every.arrays().items()})
    notices = list(table.notices)
    if seen.any() and not seen.all():
        notices.append(
            f"{counted(int(seen.sum()), 'row')} left out: the model knows rows with these values. If "
            f"they are new measurements, add --repeats."
        )
    return NewRows(fresh, int(seen.sum()), tuple(notices))


def add_rows(
    model: TableModel,
    new: NewRows,
    *,
    source: str = "",
    space: Space | None = None,
    space_name: str = "",
    verbose: int = 0,
) -> TableModel:
    """Return a model that has learned new rows, too.

    The new rows are first scored, and then all are trained on. Rows that were held out or used for the
    calibration are trained on, too, if a new row has their group or, where these were kept together,
    their inputs; the others keep their use. Chains go on from where they were; an engine without chains
    is fitted again. The encoder stays, so a category that it has not seen remains unknown.

    Args:
      model: a model that keeps its rows; it stays as it is.
      new: rows from :func:`find_new_rows`, at least one.
      source: name of their file.
      space: where the ignorance is measured from now on, and its name; unless it is given, as before.
      space_name: the name of this space.
      verbose: 1 shows progress bars.

    Raises:
      TableError: if too few rows would be left for the calibration.
    """
    started = time.perf_counter()
    history, encoder = history_of(model), model.table_encoder
    points = points_of(encoder, history, space, space_name)
    released = (history.kept.use != TRAINED) & history.kept.related_to(new.rows)
    old = replace(history.kept, use=np.where(released, np.uint8(TRAINED), history.kept.use))
    kept = old.joined(new.rows)
    held_out, calibrated, trained = kept.division
    _refuse_few_calibrated(model.facts, len(calibrated))

    estimator, continued = _learned(model, kept, verbose)
    targets = target_facts(model.targets, kept.observed[trained])
    after = _scores(model, estimator, kept, held_out)
    addition = Addition(
        source=source,
        time=datetime.now(UTC).isoformat(timespec="seconds"),
        num_added=len(new.rows),
        num_trained=len(trained),
        new=_scores(model, model.estimator, new.rows, np.arange(len(new.rows))),
        held_out_before=_scores(model, model.estimator, kept, held_out),
        held_out_after=after,
        points=points.name,
        ignorance_before=ignorance_at(model.estimator, encoder, points.inputs, model.targets),
        ignorance_after=ignorance_at(estimator, encoder, points.inputs, model.targets),
        continued=continued,
        seconds=round(time.perf_counter() - started, 1),
    )
    some = trained[sample_places(len(trained), encoder.sample_rows)]
    return replace(
        model,
        encoder=encoder.widened(kept.inputs[trained]),
        estimator=estimator,
        facts=replace(
            model.facts,
            source=model.facts.source.removesuffix(AND_ADDED) + AND_ADDED,
            num_rows=len(kept),
            num_trained=len(trained),
            num_held_out=len(held_out),
            num_calibrated=len(calibrated),
            targets=targets,
            scores=after,
        ),
        known_rows=kept.known_rows,
        sample=kept.inputs[some],
        sample_observed=kept.observed[some],
        history=_extended(history, kept, addition, points),
    )


def num_released(before: TableModel, after: TableModel) -> int:
    """Return how many rows that were held out the addition has trained on."""
    uses = (history_of(one).kept.use for one in (before, after))
    old, new = (int(np.sum(use == HELD_OUT)) for use in uses)
    return old - new


def _refuse_few_calibrated(facts: TrainingFacts, number: int) -> None:
    """Refuse rows that leave too few for the calibration."""
    method = facts.calibration
    if method is not None and number < (fewest := fewest_calibrated(method)):
        raise TableError(
            f"The calibration {method!r} needs at least {counted(fewest, 'row')} of its own. Only "
            f"{number} of its {facts.num_calibrated} would be left, because the others have the inputs "
            f"or the group of a new row. Fit again with vebnn fit, from a file of all rows."
        )


def _learned(model: TableModel, kept: KeptRows, verbose: int) -> tuple[Any, bool]:
    """Return an estimator of all rows, and whether it has gone on from the model's."""
    _, calibrated, trained = kept.division
    as_inputs, continued = model.encoder.as_inputs, bool(getattr(model.estimator, "can_update", False))
    estimator = snapshot(model.estimator) if continued else clone(model.estimator)
    estimator.set_params(verbose=verbose)
    learn = estimator.update if continued else estimator.fit
    observed = as_target(kept.observed[trained], model.targets)
    learn(as_inputs(kept.inputs[trained]), observed, **kept.arguments_of(trained))
    estimator.set_params(verbose=0)
    if model.facts.calibration is not None:
        estimator.calibrate(
            as_inputs(kept.inputs[calibrated]),
            as_target(kept.observed[calibrated], model.targets),
            model.facts.calibration,
            y_std=kept.y_std_of(calibrated),
        )
    return estimator, continued


def _scores(
    model: TableModel, estimator: Any, kept: KeptRows, rows: np.ndarray
) -> tuple[TargetScore, ...]:
    """Return scores of some rows; their baseline is the mean of the model's training rows."""
    if not len(rows):
        return ()
    inputs = model.encoder.as_inputs(kept.inputs[rows])
    prediction = estimator.predict_distribution(inputs, y_std=kept.y_std_of(rows))
    means = tuple(one.mean for one in model.facts.targets)
    return score_targets(prediction, kept.observed[rows], model.targets, means)


def _extended(history: History, kept: KeptRows, addition: Addition, points: Points) -> History:
    return History(kept, (*history.additions, addition), points.inputs, points.name)
