"""The stages of Algorithm 1 that are to come, for progress bars."""

from typing import TYPE_CHECKING

from vebnn.strategies.cooperative.fold_stopping import stopped_by_folds
from vebnn.strategies.cooperative.variance_sampling import WARM_UP
from vebnn.strategies.fit_data import FitData
from vebnn.training import PlannedStage, planned_training
from vebnn.training.batches import MANY

if TYPE_CHECKING:
    from vebnn.strategies.cooperative.algorithm import Cooperative

USUAL_ROUNDS = 3  # until the noise has settled
USUAL_OF_LARGE = 2  # that of a large table


def whole_fit(settings: "Cooperative", rows: FitData) -> list[PlannedStage]:
    """Return all stages."""
    return [*_step_1(settings, rows, attempt=0), *_rounds(settings, rows, first=1)]


def rest_of_fit(
    settings: "Cooperative", rows: FitData, number: int, *, last: bool
) -> list[PlannedStage]:
    """Return the stages after Step 2 of a round."""
    coming = _step_3(settings, rows, number, last=last)
    return coming if last else coming + _rounds(settings, rows, first=number + 1)


def _rounds(settings: "Cooperative", rows: FitData, first: int) -> list[PlannedStage]:
    """Return the rounds from one on; if their number is open, as many as usual, or one more."""
    usual = USUAL_OF_LARGE if len(rows.data.x) > MANY else USUAL_ROUNDS
    last = settings.rounds or max(first, usual)
    stages = []
    for number in range(first, last + 1):
        if number > 1 and (settings.iterate == "mean" or settings.residuals == "cross_fit"):
            stages += _step_1(settings, rows, attempt=number - 1)
        stages += _step_2(settings, rows, number)
        stages += _step_3(settings, rows, number, last=number == last)
    return stages


def _step_1(settings: "Cooperative", rows: FitData, attempt: int) -> list[PlannedStage]:
    name = "Step 1" if attempt == 0 else f"Round {attempt + 1} · Step 1"
    training, stages = settings.mean_training, []
    if settings.learning_rates:
        count = len(settings.learning_rates)
        stages += planned_training(f"{name} · learning rates", training, count, refit=False)
    refit = settings.refit and rows.held_out is None
    return stages + planned_training(name, training, rows.num_folds + 1, refit=refit)


def _step_2(settings: "Cooperative", rows: FitData, number: int) -> list[PlannedStage]:
    name, engine = f"Round {number} · Step 2", settings.variance_engine
    if engine is not None:
        stages, warm_up = engine.plan(name, refit=False), settings.variance_warm_up
        if number == 1 and warm_up is not None:
            before = f"{name} · {WARM_UP}"
            stages = planned_training(before, warm_up, engine.num_starts, refit=False) + stages
        return stages
    training = settings.variance_training
    whole = planned_training(name, training, refit=False)
    if not stopped_by_folds(rows):
        return whole
    return planned_training(f"{name} · folds", training, rows.num_folds, refit=False) + whole


def _step_3(settings: "Cooperative", rows: FitData, number: int, *, last: bool) -> list[PlannedStage]:
    if settings.iterate == "mean" and not last:
        return []
    pilot = settings.pilot if settings.residuals == "posterior" and not last else None
    engine = pilot or settings.engine
    return engine.plan(f"Round {number} · Step 3", refit=rows.held_out is None)
