"""The metrics of a row that methods are compared by, and which values are better."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Metric:
    """A number of a row."""

    field: str  # its name in a row
    name: str  # the short name in tables; the paper's, where it has one
    words: str  # its definition
    goal: str = "smaller"  # ``"larger"``, ``"smaller"`` or ``"target"``: which values are better
    target: float | None = None  # the best value, if the goal is a target
    in_units: bool = False  # whether it has the units of the targets: data sets then differ in scale
    # Like the paper, not for TC and TIL: the coverage of a split may be too high or too low, and a
    # short interval is not better if it covers less.
    tested: bool = True
    decimals: int = 2  # the fewest that are shown

    def loss(self, value: float) -> float:
        """Return a number that is smaller for better values."""
        if self.target is not None:
            return abs(value - self.target)
        return -value if self.goal == "larger" else value

    def gain(self, first: Any, second: Any) -> Any:
        """Return the difference of paired values; it is positive where the first is better."""
        return first - second if self.goal == "larger" else second - first

    @property
    def arrow(self) -> str:
        """Return the goal as a sign: ↑, ↓ or → and the target."""
        return {"larger": "↑", "smaller": "↓"}.get(self.goal, f"→ {self.target}")


def _in_units(field: str, name: str, words: str, tested: bool = True, decimals: int = 2) -> Metric:
    return Metric(field, name, words, in_units=True, tested=tested, decimals=decimals)


def _target(field: str, name: str, words: str, target: float, decimals: int) -> Metric:
    return Metric(field, name, words, "target", target, tested=False, decimals=decimals)


_ALL = (
    Metric("tll", "TLL", "test log-likelihood", "larger"),
    _in_units("rmse", "RMSE", "root mean squared error"),
    _target("coverage", "TC", "test coverage of 95 % intervals", 0.95, 4),
    _in_units("interval_length", "TIL", "length of 95 % intervals", tested=False),
    _in_units("crps", "CRPS", "continuous ranked probability score"),
    Metric("ece", "ECE", "expected calibration error", decimals=3),
    _in_units("winkler", "Winkler", "interval score of 95 % intervals"),
    _in_units("seconds", "seconds", "time of one fit", tested=False),
    # With a known truth.
    _in_units("rmse_percent", "RMSE %", "error of the mean in percent"),
    _in_units("wasserstein", "WA", "Wasserstein distance from true mean and noise", decimals=4),
    _in_units("wasserstein_mpa", "WA, MPa", "the same in the units of the stress", decimals=4),
    _target("noise_ratio", "noise ratio", "predicted over true rms std of the noise", 1.0, 2),
    Metric("epistemic_log_likelihood", "epistemic TLL", "log-likelihood of the truth", "larger"),
    _target("epistemic_coverage", "epistemic TC", "coverage of the truth by 95 % intervals", 0.95, 3),
    Metric("epistemic_interval_length", "epistemic TIL", "their length", tested=False, decimals=3),
    Metric("epistemic_calibration_error", "epistemic ECE", "their calibration error", decimals=4),
    Metric("noise_rank", "noise rank", "rank correlation of noise and scatter of repeats", "larger"),
    Metric("mean_error", "RMSE / noise", "error of the mean against the truth, over the rms noise std"),
    Metric("noise_error", "noise error", "mean relative error of the noise std"),
    Metric("tll_gap", "TLL − truth's", "test log-likelihood minus that of the truth", "larger"),
    _target("outside_coverage", "outside TC", "coverage of the truth outside the data", 0.95, 3),
    # Of images; unless they are raw, the variance is calibrated.
    Metric("raw_tll", "raw TLL", "test log-likelihood before calibration", "larger"),
    _target("raw_coverage", "raw TC", "test coverage before calibration", 0.95, 4),
    _in_units("raw_interval_length", "raw TIL", "length of 95 % intervals before calibration", False),
    _in_units("raw_crps", "raw CRPS", "continuous ranked probability score before calibration"),
    _target("inside_coverage", "inside TC", "test coverage inside the training range", 0.95, 3),
    Metric("epistemic_ratio", "epistemic ratio", "epistemic std outside over inside", "larger"),
    Metric("aleatoric_ratio", "aleatoric ratio", "aleatoric std outside over inside", tested=False),
    Metric("raw_noise_error", "raw noise error", "error of the noise std before calibration"),
    _target("raw_epistemic_coverage", "raw epistemic TC", "coverage before calibration", 0.95, 3),
    Metric("r_hat", "R-hat", "convergence of the chains' predictions; 1 is best", tested=False),
)
METRICS = {metric.field: metric for metric in _ALL}
# The defaults, by experiment: those of the paper, and the noise ratio.
USUAL = {
    "uci": ("tll", "rmse", "coverage", "interval_length"),
    "run": ("rmse", "tll", "crps", "coverage", "interval_length"),
    "plasticity": (
        *("rmse_percent", "wasserstein", "wasserstein_mpa", "noise_ratio"),
        *("epistemic_log_likelihood", "epistemic_coverage", "epistemic_interval_length"),
        "epistemic_calibration_error",
    ),
    "truth": (
        *("mean_error", "epistemic_coverage", "noise_error", "tll_gap", "coverage"),
        *("outside_coverage", "r_hat", "seconds"),
    ),
    "images": (
        *("tll", "rmse", "coverage", "interval_length", "crps", "raw_tll", "raw_coverage"),
        *("raw_interval_length", "raw_crps", "inside_coverage", "epistemic_ratio"),
        *("aleatoric_ratio", "raw_noise_error", "raw_epistemic_coverage", "noise_error"),
        *("wasserstein", "epistemic_coverage", "epistemic_log_likelihood"),
        *("epistemic_interval_length", "seconds"),
    ),
    "replicates": (
        *("noise_ratio", "noise_rank", "epistemic_coverage", "coverage", "tll", "rmse"),
        *("r_hat", "seconds"),
    ),
}


def usual_metrics(experiment: str) -> list[Metric]:
    """Return the default metrics of an experiment; those of UCI data for an unknown one."""
    return find_metrics(USUAL.get(experiment.partition(" ")[0], USUAL["uci"]))


def find_metrics(fields: Sequence[str]) -> list[Metric]:
    """Return metrics by the names of their fields, at least one."""
    if not fields:
        raise ValueError(f"The tables need at least one metric of: {', '.join(METRICS)}. Got none.")
    for field in fields:
        if field not in METRICS:
            raise ValueError(f"There is no metric {field!r}. The metrics are: {', '.join(METRICS)}.")
    return [METRICS[field] for field in dict.fromkeys(fields)]
