"""Settings: the defaults, and those of the paper's experiments."""

from dataclasses import replace
from typing import Any

from vebnn.arguments import require_one_of
from vebnn.inference import PSGLD, Engine, MCDropout
from vebnn.networks import GRU, MLP
from vebnn.training import Training

LEARNING_RATES = (1e-4, 3e-4, 7e-4, 1e-3, 3e-3)  # the paper's grid on UCI data
DEFAULT_NETWORK = MLP((50, 50), activation="silu")
DEFAULT_VARIANCE_NETWORK = MLP((5,), activation="relu")
DEFAULT_VARIANCE_GRU = GRU((8, 8))  # the paper's


def default_network(engine: Engine) -> MLP:
    """Return the mean network unless told otherwise; MC dropout gets the paper's dropout rate."""
    return replace(DEFAULT_NETWORK, dropout_rate=0.1 if isinstance(engine, MCDropout) else 0.0)


def default_variance_network(network: Any) -> MLP | GRU:
    """Return the network of the noise unless told otherwise: of the same kind as that of the mean."""
    return DEFAULT_VARIANCE_GRU if isinstance(network, GRU) else DEFAULT_VARIANCE_NETWORK


def default_mean_training(num_rows: int) -> Training:
    """Step 1 unless told otherwise."""
    return Training.of_steps(6_000, num_rows, patience=1_000, learning_rate=3e-3)


def default_variance_training(num_rows: int) -> Training:
    """Step 2 unless told otherwise."""
    return Training.of_steps(4_000, num_rows, patience=500, learning_rate=1e-2)


# What the paper and its published code do in every experiment: in-sample residuals as they are, two
# rounds, the round chosen by training likelihood, the mean refitted on all rows.
_ALWAYS: dict[str, Any] = {
    "rounds": 2,
    "choose_round": "marginal_likelihood",
    "residuals": "in_sample",
    "rescale_residuals": False,
    "variance_loss": "gamma_rate",
    "refit": True,
}


def paper(experiment: str = "uci") -> dict[str, Any]:
    """Return the paper's settings (Appendix D), for ``VeBNNRegressor(**paper("uci"))``.

    Args:
      experiment: ``"toy"`` (illustrative data), ``"uci"`` or ``"plasticity"``.
    """
    require_one_of("experiment", experiment, ("toy", "uci", "plasticity"))
    if experiment == "toy":
        return _ALWAYS | {
            "network": MLP((256, 256), "tanh"),
            "variance_network": MLP((5,), "tanh"),
            "inference": PSGLD(num_samples=100, burn_in=10_000, thinning=100),
            "mean_training": Training(20_000),
            "variance_training": Training(5_000, patience=100, tolerance=1e-4),
            "validation_fraction": 0.3,
        }
    if experiment == "plasticity":
        # Full batches, up to its 1000 sequences.
        return _ALWAYS | {
            "network": GRU((128, 128)),
            "variance_network": GRU((8, 8)),
            "inference": PSGLD(num_samples=150, burn_in=500, thinning=10, batch_size=1_000),
            "mean_training": Training(2_000, batch_size=1_000),
            "variance_training": Training(4_000, patience=50, tolerance=1e-4, batch_size=1_000),
            "validation_fraction": 0.1,
        }
    return _ALWAYS | {
        "network": MLP((50,), "relu"),
        "variance_network": MLP((5,), "relu"),
        "inference": PSGLD(num_samples=150, burn_in=5_000, thinning=100),
        "mean_training": Training(20_000),
        "learning_rates": LEARNING_RATES,
        "variance_training": Training(10_000, patience=100, tolerance=1e-4),
        "validation_fraction": 0.2,
    }
