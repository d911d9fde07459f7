"""The metrics of a row that methods are compared by, and which values are better."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Metric:
    """A number of a row."""

    field: str  # its name in a row
    name: str  # the short name in tables; the paper's, where it has one
    words: str  # its definition
    goal: str  # ``"larger"``, ``"smaller"`` or ``"target"``: which values are better
    target: float | None = None  # the best value, if the goal is a target
    in_units: bool = False  # whether it has the units of the targets: data sets then differ in scale
    # Like the paper, not for TC and TIL: the coverage of a split may be too high or too low, and a
    # short interval is not better if it covers less.
    tested: bool = True
    decimals: int = 2  # the fewest that are shown

    def loss(self, value: float) -> float:
        """Return a number that is smaller for better values."""
        if self.goal == "target":
            return abs(value - self.target) if self.target is not None else 0.0
        return -value if self.goal == "larger" else value

    @property
    def arrow(self) -> str:
        """Return the goal as a sign: ↑, ↓ or → and the target."""
        return {"larger": "↑", "smaller": "↓"}.get(self.goal, f"→ {self.target}")


def _larger(field: str, name: str, words: str) -> Metric:
    return Metric(field, name, words, "larger")


def _smaller(field: str, name: str, words: str, tested: bool = True, decimals: int = 2) -> Metric:
    return Metric(field, name, words, "smaller", None, True, tested, decimals)


def _standardised(field: str, name: str, words: str, decimals: int, tested: bool = True) -> Metric:
    return Metric(field, name, words, "smaller", None, False, tested, decimals)


def _target(field: str, name: str, words: str, target: float, decimals: int) -> Metric:
    return Metric(field, name, words, "target", target, tested=False, decimals=decimals)


def _all() -> list[Metric]:
    return [
        _larger("tll", "TLL", "test log-likelihood"),
        _smaller("rmse", "RMSE", "root mean squared error"),
        _target("coverage", "TC", "test coverage of 95 % intervals", 0.95, decimals=4),
        _smaller("interval_length", "TIL", "length of 95 % intervals", tested=False),
        _smaller("crps", "CRPS", "continuous ranked probability score"),
        _standardised("ece", "ECE", "expected calibration error", 3),
        _smaller("winkler", "Winkler", "interval score of 95 % intervals"),
        _smaller("seconds", "seconds", "time of one fit", tested=False),
        # With a known truth.
        _smaller("rmse_percent", "RMSE %", "error of the mean in percent"),
        _smaller("wasserstein", "WA", "Wasserstein distance from true mean and noise", decimals=4),
        _target("noise_ratio", "noise ratio", "predicted over true rms std of the noise", 1.0, 2),
        _larger("epistemic_log_likelihood", "epistemic TLL", "log-likelihood of the truth"),
        _target(
            "epistemic_coverage", "epistemic TC", "coverage of the truth by 95 % intervals", 0.95, 3
        ),
        _standardised("epistemic_interval_length", "epistemic TIL", "their length", 3, tested=False),
        _standardised("epistemic_calibration_error", "epistemic ECE", "their calibration error", 4),
    ]


METRICS = {metric.field: metric for metric in _all()}
# The defaults, by experiment: those of the paper, and the noise ratio.
USUAL = {
    "uci": ("tll", "rmse", "coverage", "interval_length"),
    "plasticity": (
        *("rmse_percent", "wasserstein", "noise_ratio", "epistemic_log_likelihood"),
        *("epistemic_coverage", "epistemic_interval_length", "epistemic_calibration_error"),
    ),
}


def usual_metrics(experiment: str) -> list[Metric]:
    """Return the default metrics of an experiment; those of UCI data for an unknown one."""
    return find_metrics(USUAL.get(experiment.partition(" ")[0], USUAL["uci"]))


def find_metrics(fields: Sequence[str]) -> list[Metric]:
    """Return metrics by the names of their fields.

    Raises:
      ValueError: if there is no such metric, or if no field is given.
    """
    if not fields:
        raise ValueError(f"The tables need at least one metric of: {', '.join(METRICS)}. Got none.")
    for field in fields:
        if field not in METRICS:
            raise ValueError(f"There is no metric {field!r}. The metrics are: {', '.join(METRICS)}.")
    return [METRICS[field] for field in dict.fromkeys(fields)]
