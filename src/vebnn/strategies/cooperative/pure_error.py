"""Repeated measurements: their scatter shows the noise, whatever the mean."""

import numpy as np

from vebnn.core.groups import number_groups
from vebnn.core.types import Dataset, ResidualDataset

SMALLEST_SCATTER = 1e-12  # of standardised targets: below, repeats are copies


def with_pure_error(residuals: ResidualDataset, data: Dataset) -> ResidualDataset:
    """Replace the residuals of rows with identical inputs by those from their own average.

    With n repeats, Σ (y − ȳ)² has n − 1 degrees of freedom: each squared residual is multiplied by
    n/(n − 1), and counts as (n − 1)/n of an observation. Repeats without any scatter are taken for
    copies of one measurement, and keep their residuals.
    """
    place = number_groups(data.x)
    if place.max() + 1 == len(place):
        return residuals
    weight, target = np.asarray(data.weight), np.asarray(data.target)

    def per_row(values: np.ndarray) -> np.ndarray:
        """Return the sum over all rows with the same inputs."""
        total = np.zeros((place.max() + 1, *values.shape[1:]))
        np.add.at(total, place, values)
        return total[place]

    count = per_row(weight)
    average = per_row(weight * target) / np.maximum(count, 1e-30)
    deviation = (target - average) ** 2
    repeated = (count > 1) & (per_row(weight * deviation) > SMALLEST_SCATTER * count)
    freedom = np.where(repeated, 1 - 1 / np.maximum(count, 1), 1)
    squared = np.where(repeated, deviation / freedom, np.asarray(residuals.squared))
    offset = np.where(repeated, np.asarray(data.known_variance), np.asarray(residuals.offset))
    return ResidualDataset(
        data.x, np.float32(squared), np.float32(weight * freedom), np.float32(offset)
    )
