"""The functions behind the problems with known mean and noise; inputs are in [−1, 1]ᵈ."""

from collections.abc import Callable, Sequence

import numpy as np

Function = Callable[[np.ndarray], np.ndarray]

NUM_FEATURES = 2_000
MATERN_DEGREES = 5  # 2ν for Matérn-5/2


def constant(value: float) -> Function:
    """Return a function that has one value everywhere."""
    return lambda X: np.full(len(X), value)


def additive_mean(X: np.ndarray) -> np.ndarray:
    """Return a sum of five curves, each of one input."""
    a, b, c, d, e = X[:, :5].T
    return np.sin(3 * a) + 1.5 * b**2 + np.exp(-8 * c**2) + d + 0.5 * np.abs(e)


def steps(X: np.ndarray) -> np.ndarray:
    """Return plateaus: three levels along the first input, two along the second, and a square."""
    along = np.digitize(X[:, 0], [-0.4, 0.3]) * 0.8
    across = np.where(X[:, 1] > 0.1, 0.9, -0.3)
    square = np.where(np.abs(X - np.array([0.6, -0.5])).max(axis=1) < 0.3, 1.5, 0.0)
    return along + across + square


def sparse_mean(X: np.ndarray) -> np.ndarray:
    """Return a function of the inputs 3, 11 and 20."""
    return np.sin(2.5 * X[:, 3]) + 1.2 * X[:, 11] * X[:, 20] + 0.6 * X[:, 20]


def linear(X: np.ndarray) -> np.ndarray:
    """Return a linear function of five inputs, with a constant."""
    return 2.0 + X @ np.array([1.0, -0.8, 0.6, 0.3, 0.0])


def large_mean(X: np.ndarray) -> np.ndarray:
    """Return waves, a product and a bend in eight inputs, the last of which is useless."""
    waves = np.sin(3 * X[:, 0] + 2 * X[:, 1]) + 0.6 * np.cos(4 * X[:, 2])
    bend = np.maximum(X[:, 5] + 0.5 * X[:, 6], 0)
    return 100 + 20 * (waves + X[:, 3] * X[:, 4] + bend)


def process_draw(rng: np.random.Generator, length_scales: Sequence[float], smooth: bool) -> Function:
    """Draw a function of a Gaussian process with variance 1, a length scale per input.

    √(2/M) Σ wₘ cos(ωₘᵀx + bₘ) with M random features and Gaussian weights (Rahimi and Recht 2007).
    The frequencies are Gaussian for the squared exponential kernel (``smooth``), and Student t for
    Matérn-5/2.
    """
    frequencies = rng.standard_normal((NUM_FEATURES, len(length_scales))) / np.asarray(length_scales)
    if not smooth:
        frequencies *= np.sqrt(MATERN_DEGREES / rng.chisquare(MATERN_DEGREES, (NUM_FEATURES, 1)))
    phases = rng.uniform(0, 2 * np.pi, NUM_FEATURES)
    weights = np.sqrt(2 / NUM_FEATURES) * rng.standard_normal(NUM_FEATURES)
    return lambda X: np.cos(X @ frequencies.T + phases) @ weights


def teacher(rng: np.random.Generator, num_inputs: int, width: int = 16) -> Function:
    """Draw a network with two hidden layers, scaled to mean 0 and variance 1 in the box."""
    first = rng.normal(0, 1.5, (num_inputs, width)), rng.normal(0, 0.5, width)
    second = rng.normal(0, 1.5 / np.sqrt(width), (width, width)), rng.normal(0, 0.5, width)
    last = rng.standard_normal(width)

    def network(X: np.ndarray) -> np.ndarray:
        hidden = X
        for weights, biases in (first, second):
            hidden = np.tanh(hidden @ weights + biases)
        return hidden @ last

    some = network(rng.uniform(-1, 1, (4_000, num_inputs)))
    mean, std = some.mean(), some.std()
    return lambda X: (network(X) - mean) / std


def log_normal_std(function: Function, median: float, spread: float) -> Function:
    """Return a positive function: its log has this spread around the log of the median."""
    return lambda X: median * np.exp(spread * function(X))
