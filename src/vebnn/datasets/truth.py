"""Regression problems with known mean and noise, from 20 to 5,000 rows and from 1 to 30 inputs.

Inputs are uniform in the box [−1, 1]ᵈ. A problem that is a random draw has a new one for every seed.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from vebnn.datasets import truth_functions as functions

SHELL = 1.25  # inputs outside the data are in the box of this half width, but not in the box of data

Function = Callable[[np.ndarray], np.ndarray]  # inputs (n, inputs) → values (n,)


class Truth(NamedTuple):
    """Mean and noise of one problem; the noise is Gaussian."""

    mean: Function
    noise_std: Function

    def observe(self, X: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Return one noisy observation of each row."""
        return self.mean(X) + self.noise_std(X) * rng.standard_normal(len(X))


class Problem(NamedTuple):
    """A problem: its size and its truth."""

    num_rows: int
    num_inputs: int
    words: str  # describes mean and noise
    draw: Callable[[np.random.Generator], Truth]  # the same for every generator, unless it is random

    def inside(self, num_rows: int, rng: np.random.Generator) -> np.ndarray:
        """Draw inputs in the box of the training data."""
        return rng.uniform(-1, 1, (num_rows, self.num_inputs))

    def outside(self, num_rows: int, rng: np.random.Generator) -> np.ndarray:
        """Draw inputs in the shell between that box and one of 1.25 times its width."""
        drawn = np.empty((0, self.num_inputs))
        while len(drawn) < num_rows:
            more = rng.uniform(-SHELL, SHELL, (2 * num_rows, self.num_inputs))
            drawn = np.concatenate([drawn, more[np.abs(more).max(axis=1) > 1]])
        return drawn[:num_rows]


class TruthData(NamedTuple):
    """Training data of one seed, fresh data and the truth."""

    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray  # inside the box
    y_test: np.ndarray
    X_outside: np.ndarray
    truth: Truth


def load_truth(
    name: str,
    num_test: int = 2_000,
    num_outside: int = 1_000,
    *,
    num_rows: int | None = None,
    random_state: int = 0,
) -> TruthData:
    """Draw one seed of a problem, a key of ``PROBLEMS``; ``num_rows`` replaces its number of rows."""
    problem = PROBLEMS[name]
    # One stream each: more test rows do not change the training data.
    streams = np.random.default_rng([random_state, *name.encode()]).spawn(4)
    truth = problem.draw(streams[0])
    X = problem.inside(num_rows or problem.num_rows, streams[1])
    y = truth.observe(X, streams[1])
    X_test = problem.inside(num_test, streams[2])
    y_test = truth.observe(X_test, streams[2])
    return TruthData(X, y, X_test, y_test, problem.outside(num_outside, streams[3]), truth)


def _fixed(mean: Function, noise_std: Function) -> Callable[[np.random.Generator], Truth]:
    return lambda rng: Truth(mean, noise_std)


PROBLEMS: dict[str, Problem] = {
    "additive": Problem(
        500,
        10,
        "a sum of five curves, one per input; the other five inputs are useless; the noise std grows "
        "from 0.2 to 0.6 with the first input",
        _fixed(functions.additive_mean, lambda X: 0.4 + 0.2 * X[:, 0]),
    ),
    "gp-smooth": Problem(
        300,
        2,
        "a draw of a Gaussian process with a squared exponential kernel; the log of the noise std is "
        "another draw",
        lambda rng: Truth(
            functions.process_draw(rng, (0.5, 0.8), smooth=True),
            functions.log_normal_std(functions.process_draw(rng, (1.2, 1.2), smooth=True), 0.25, 0.5),
        ),
    ),
    "gp-rough": Problem(
        600,
        4,
        "a draw of a Gaussian process with a Matérn-5/2 kernel and four length scales; noise std 0.2",
        lambda rng: Truth(
            functions.process_draw(rng, (0.6, 1.0, 2.0, 4.0), smooth=False), functions.constant(0.2)
        ),
    ),
    "steps": Problem(
        400,
        2,
        "plateaus with sharp edges; noise std 0.3",
        _fixed(functions.steps, functions.constant(0.3)),
    ),
    "teacher": Problem(
        800,
        6,
        "a random tanh network; the log of the noise std is another one",
        lambda rng: Truth(
            functions.teacher(rng, 6), functions.log_normal_std(functions.teacher(rng, 6), 0.3, 0.3)
        ),
    ),
    "sparse": Problem(
        400,
        30,
        "three of thirty inputs matter, two of them together; noise std 0.3",
        _fixed(functions.sparse_mean, functions.constant(0.3)),
    ),
    "tiny-linear": Problem(
        60, 5, "a linear function; noise std 0.5", _fixed(functions.linear, functions.constant(0.5))
    ),
    "tiny-cubic": Problem(
        20,
        1,
        "a cubic; noise std 0.2",
        _fixed(lambda X: 2 * X[:, 0] ** 3 - 0.5 * X[:, 0], functions.constant(0.2)),
    ),
    "large": Problem(
        5_000,
        8,
        "waves, a product and a bend in eight inputs, in units of 20 around 100; the noise std grows "
        "from 3 to 12 with the distance from the centre in two of them",
        _fixed(functions.large_mean, lambda X: 3 + 9 * (X[:, 0] ** 2 + X[:, 4] ** 2) / 2),
    ),
    "heteroscedastic": Problem(
        200,
        1,
        "a wave that becomes faster; the noise std falls from 0.5 to 0.1",
        _fixed(
            lambda X: np.sin(4 * X[:, 0] + 2 * X[:, 0] ** 2), lambda X: 0.3 - 0.2 * np.tanh(2 * X[:, 0])
        ),
    ),
    "homoscedastic": Problem(
        250,
        3,
        "a saddle and a wave in three inputs; noise std 0.25",
        _fixed(lambda X: X[:, 0] * X[:, 1] + np.sin(2.5 * X[:, 2] + X[:, 0]), functions.constant(0.25)),
    ),
}
