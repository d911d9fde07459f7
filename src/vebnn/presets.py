"""Settings of the paper's experiments, for ``VeBNNRegressor(**paper("uci"))``."""

from typing import Any

from vebnn.arguments import require_one_of
from vebnn.inference import PSGLD
from vebnn.networks import MLP
from vebnn.training import Training

# What the paper and its published code do in every experiment: in-sample residuals as they are, two
# rounds, the round chosen by training likelihood, the mean refitted on all rows.
_ALWAYS: dict[str, Any] = {
    "rounds": 2,
    "choose_round": "marginal_likelihood",
    "residuals": "in_sample",
    "rescale_residuals": False,
    "refit": True,
}


def paper(experiment: str = "uci") -> dict[str, Any]:
    """Return the arguments of VeBNNRegressor that the paper's experiment used (Appendix D).

    Args:
      experiment: ``"toy"`` (illustrative data) or ``"uci"``.
    """
    require_one_of("experiment", experiment, ("toy", "uci"))
    if experiment == "toy":
        return _ALWAYS | {
            "network": MLP((256, 256), "tanh"),
            "variance_network": MLP((5,), "tanh"),
            "inference": PSGLD(num_samples=100, burn_in=10_000, thinning=100),
            "mean_training": Training(20_000),
            "variance_training": Training(5_000, patience=100, tolerance=1e-4),
            "validation_fraction": 0.3,
        }
    return _ALWAYS | {
        "network": MLP((50,), "relu"),
        "variance_network": MLP((5,), "relu"),
        "inference": PSGLD(num_samples=150, burn_in=5_000, thinning=100),
        "mean_training": Training(20_000),
        "variance_training": Training(10_000, patience=100, tolerance=1e-4),
        "validation_fraction": 0.2,
    }
