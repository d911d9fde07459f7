"""Scores and seconds of every step inside one fit of Algorithm 1."""

import time
from collections.abc import Callable
from typing import Any

from vebnn.bench.results import Row
from vebnn.prediction import Prediction
from vebnn.training import Observer, followed_by


class StepRecord(Observer):
    """Keeps the fit after every step, and the seconds since the step before, compilation included."""

    def __init__(self) -> None:
        self._found: list[tuple[str, float, Any]] = []
        self._last = time.perf_counter()

    def finish(self, step: str, so_far: Callable[[], Any]) -> None:
        """Keep the fit as it is; the time this takes does not count."""
        seconds = time.perf_counter() - self._last
        self._found.append((step, seconds, so_far()))
        self._last = time.perf_counter()

    def scores(self, model: Any, score: Callable[[Callable[..., Prediction]], Row]) -> list[Row]:
        """Return a row per step: its name, its seconds, and the scores of its predictions."""
        return [
            {
                "step": step,
                "seconds": round(seconds, 2),
                **score(model.with_fitted(fitted).predict_distribution),
            }
            for step, seconds, fitted in self._found
        ]


def fit_by_steps(
    model: Any, score: Callable[[Callable[..., Prediction]], Row], *rows: Any, **more: Any
) -> list[Row]:
    """Fit a model; return a row per step, none for a joint method.

    Args:
      model: an estimator, which is fitted to ``rows`` and ``more``, the arguments of its ``fit``.
      score: returns scores of a function that predicts, as ``predict_distribution`` does.
    """
    record = StepRecord()
    with followed_by(record):
        model.fit(*rows, **more)
    return record.scores(model, score)


def round_and_step(name: str) -> tuple[int, int]:
    """Return the numbers in the name of a step: ``"Round 2 · Step 3"`` is (2, 3), Step 1 is (0, 1)."""
    *before, step = name.split(" · ")
    return int(before[0].split()[1]) if before else 0, int(step.split()[1])
