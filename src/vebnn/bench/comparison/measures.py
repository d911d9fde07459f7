"""The numbers of a row that methods are compared by, and what better means for each."""

from collections.abc import Sequence
from dataclasses import dataclass

TARGET_COVERAGE = 0.95


@dataclass(frozen=True)
class Metric:
    """A number of a row.

    Args:
      field: its name in a row.
      name: the short name in tables; the paper's, where it has one.
      words: what it is.
      goal: ``"larger"``, ``"smaller"`` or ``"target"``: what is better.
      target: what is best, if there is such a number.
      in_units: whether it has the units of the targets, so that data sets have scales of their own.
      tested: whether differences are tested. The paper does not for TC and TIL: coverage of
        a split may be too high or too low, and a short interval alone is no virtue.
      decimals: as many are shown, at least.
    """

    field: str
    name: str
    words: str
    goal: str
    target: float | None = None
    in_units: bool = False
    tested: bool = True
    decimals: int = 2

    def loss(self, value: float) -> float:
        """Return a number that is smaller for better values."""
        if self.goal == "target":
            return abs(value - self.target) if self.target is not None else 0.0
        return -value if self.goal == "larger" else value

    @property
    def arrow(self) -> str:
        """Return what is better, as the paper's captions say it."""
        return {"larger": "↑", "smaller": "↓"}.get(self.goal, f"→ {self.target}")


def _all() -> list[Metric]:
    return [
        Metric("tll", "TLL", "test log-likelihood", "larger"),
        Metric("rmse", "RMSE", "root mean squared error", "smaller", in_units=True),
        Metric(
            *("coverage", "TC", "test coverage of 95 % intervals", "target", TARGET_COVERAGE),
            tested=False,
            decimals=4,
        ),
        Metric(
            *("interval_length", "TIL", "length of 95 % intervals", "smaller"),
            in_units=True,
            tested=False,
        ),
        Metric("crps", "CRPS", "continuous ranked probability score", "smaller", in_units=True),
        Metric("ece", "ECE", "expected calibration error", "smaller", decimals=3),
        Metric("winkler", "Winkler", "interval score of 95 % intervals", "smaller", in_units=True),
        Metric("seconds", "seconds", "time of one fit", "smaller", in_units=True, tested=False),
        # Where the truth is known.
        Metric("rmse_percent", "RMSE %", "error of the mean in percent", "smaller", in_units=True),
        Metric(
            *("wasserstein", "WA", "Wasserstein distance of predicted from true mean and noise"),
            *("smaller",),
            in_units=True,
            decimals=4,
        ),
        Metric("epistemic_log_likelihood", "epistemic TLL", "log-likelihood of the truth", "larger"),
        Metric(
            *("epistemic_coverage", "epistemic TC", "coverage of the truth by 95 % intervals"),
            *("target", TARGET_COVERAGE),
            tested=False,
            decimals=3,
        ),
        Metric(
            *("epistemic_interval_length", "epistemic TIL", "length of these intervals", "smaller"),
            tested=False,
            decimals=3,
        ),
        Metric(
            *("epistemic_calibration_error", "epistemic ECE", "their expected calibration error"),
            *("smaller",),
            decimals=4,
        ),
    ]


METRICS = {metric.field: metric for metric in _all()}
# The paper's, by the experiment that rows come from.
PAPERS_METRICS = {
    "uci": ("tll", "rmse", "coverage", "interval_length"),
    "plasticity": (
        *("rmse_percent", "wasserstein", "epistemic_log_likelihood", "epistemic_coverage"),
        *("epistemic_interval_length", "epistemic_calibration_error"),
    ),
}


def usual_metrics(experiment: str) -> list[Metric]:
    """Return the metrics that the paper has for an experiment; those of UCI data for any other."""
    return find_metrics(PAPERS_METRICS.get(experiment.partition(" ")[0], PAPERS_METRICS["uci"]))


def find_metrics(fields: Sequence[str]) -> list[Metric]:
    """Return metrics by the names of their fields.

    Raises:
      ValueError: if there is no such metric, or none at all.
    """
    if not fields:
        raise ValueError(f"The tables need at least one metric of: {', '.join(METRICS)}. Got none.")
    for field in fields:
        if field not in METRICS:
            raise ValueError(f"There is no metric {field!r}. The metrics are: {', '.join(METRICS)}.")
    return [METRICS[field] for field in dict.fromkeys(fields)]
