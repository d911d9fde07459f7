"""Fixed points of the space, where the ignorance of a model is compared with that before."""

import tomllib
from typing import Any, NamedTuple

import numpy as np
import pandas

from vebnn.tabular.additions.history import History, Ignorance
from vebnn.tabular.encoder import TableEncoder
from vebnn.tabular.scores import columns_of
from vebnn.tabular.space.reading import space_of
from vebnn.tabular.space.space import Space
from vebnn.tabular.space.starting_file import starting_file

NUM_POINTS = 512
OF_TRAINING_ROWS = "the ranges of the first training rows"


class Points(NamedTuple):
    """Encoded points, and where they are."""

    inputs: np.ndarray
    name: str


def points_of(encoder: TableEncoder, history: History, space: Space | None, name: str) -> Points:
    """Return the points of a space; without one, those of the history, or of the training rows."""
    if space is None and len(history.points):
        return Points(history.points, history.points_name)
    if space is None:
        space, name = space_of(tomllib.loads(starting_file(encoder)), encoder), OF_TRAINING_ROWS
    drawn: pandas.DataFrame = space.draw(NUM_POINTS).frame
    return Points(np.asarray(encoder.encode(drawn).matrix, float), name)


def ignorance_at(
    estimator: Any, encoder: TableEncoder, points: np.ndarray, targets: tuple[str, ...]
) -> tuple[Ignorance, ...]:
    """Return the epistemic std of each target over some encoded points."""
    prediction = estimator.predict_distribution(encoder.as_inputs(points))
    stds = columns_of(prediction.epistemic_std).T
    return tuple(
        Ignorance(name, float(np.median(std)), float(np.quantile(std, 0.9)))
        for name, std in zip(targets, stds, strict=True)
    )
