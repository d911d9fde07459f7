"""Averages over a Gaussian."""

from collections.abc import Callable

import numpy as np

NUM_NODES = 40


def gaussian_moments(
    function: Callable[[np.ndarray], np.ndarray], mean: np.ndarray, std: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return mean and variance of a function of z ~ N(mean, std²), by Gauss–Hermite quadrature."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(NUM_NODES)
    # Of differences from a value near the mean, no digits cancel.
    near = function(mean)
    total = squares = np.zeros_like(near)
    for node, weight in zip(nodes, weights / weights.sum(), strict=True):
        difference = function(mean + node * std) - near
        total, squares = total + weight * difference, squares + weight * difference**2
    return near + total, np.maximum(squares - total**2, 0)
