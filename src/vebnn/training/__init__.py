"""Training: one compiled mini-batch loop for many runs at once, with progress and checkpoints."""

from vebnn.training.batches import (
    all_rows,
    epoch_rows_of,
    epochs_of_steps,
    pad_rows,
    rows_of_epoch,
    scale_of_rows,
)
from vebnn.training.fleet import gather, map_runs, replicate
from vebnn.training.lengths import stretched
from vebnn.training.loop import Trained, Training, TrainingDiverged, train
from vebnn.training.objective import NegativeLogLikelihood, Objective
from vebnn.training.refit import planned_training, train_to_best_epoch
from vebnn.training.splits import Split, split_rows
from vebnn.training.stage import SILENT, Observer, PlannedStage, Stage, followed_by, followers

__all__ = [
    "SILENT",
    "NegativeLogLikelihood",
    "Objective",
    "Observer",
    "PlannedStage",
    "Split",
    "Stage",
    "Trained",
    "Training",
    "TrainingDiverged",
    "all_rows",
    "epoch_rows_of",
    "epochs_of_steps",
    "followed_by",
    "followers",
    "gather",
    "map_runs",
    "pad_rows",
    "planned_training",
    "replicate",
    "rows_of_epoch",
    "scale_of_rows",
    "split_rows",
    "stretched",
    "train",
    "train_to_best_epoch",
]
