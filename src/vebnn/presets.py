"""Settings: the defaults, and those of the paper's experiments."""

from dataclasses import replace
from typing import Any, NamedTuple

from vebnn.core.arguments import require_one_of
from vebnn.inference import ENGINES, PSGHMC, Engine
from vebnn.inference.engine import Budget
from vebnn.networks import GRU, MLP, ResNet
from vebnn.training import Training, epoch_rows_of, stretched

__all__ = ["LEARNING_RATES", "paper", "paper_joint", "stretched"]

LEARNING_RATES = (1e-4, 3e-4, 7e-4, 1e-3, 3e-3)  # the paper's grid on UCI data
DEFAULT_NETWORK = MLP((50, 50), activation="silu")
DEFAULT_VARIANCE_NETWORK = MLP((5,), activation="relu")
DEFAULT_VARIANCE_GRU = GRU((8, 8))  # the paper's
# Of engines that learn scales.
# Sines of the inputs are the features of a Gaussian process with a length scale per input (Rahimi and
# Recht 2007): outside the data they return to the prior. The tanh units make edges and plateaus. The
# first layer is connected to the outputs: smooth functions do not need the second one.
SCALED_NETWORK = MLP(
    (50, 50),
    activation=("sin+tanh", "tanh"),
    prior="learned",
    linear=True,
    skip=True,
    input_spread=2.0,
    shared_input_spread=2.0,
)
# Few rows do not show how the noise depends on the inputs: constant noise is more probable a priori.
SCALED_VARIANCE_NETWORK = MLP((16,), activation="tanh", prior="learned", output_scale=0.4)
SCALED_VARIANCE_GRU = GRU((8,), prior="learned")


def default_network(engine: Engine, *, scaled: bool = False) -> MLP:
    """Return the default mean network, with the paper's dropout rate if the engine needs dropout.

    Args:
      scaled: learn the scales of its prior, if the engine can.
    """
    if scaled and engine.learns_scales:
        return SCALED_NETWORK
    return replace(DEFAULT_NETWORK, dropout_rate=0.1 if engine.needs_dropout else 0.0)


def default_variance_network(network: Any, *, sampled: bool = False) -> MLP | GRU | ResNet:
    """Return the default variance network, of the same kind as the mean network."""
    if isinstance(network, ResNet):
        # As in the paper, the outputs follow the means over pixels; it need not be as wide.
        return replace(network, width=max(network.width // 2, 4), head=(), dropout_rate=0.0)
    if isinstance(network, GRU):
        return SCALED_VARIANCE_GRU if sampled else DEFAULT_VARIANCE_GRU
    return SCALED_VARIANCE_NETWORK if sampled else DEFAULT_VARIANCE_NETWORK


def pilot(num_rows: int) -> PSGHMC:
    """Return short chains, for rounds whose chains the next round continues."""
    short = stretched(PSGHMC.for_rows(num_rows), 0.25)
    if short.epoch_rows is None:
        return short
    # Draws of large tables cannot be closer than an epoch, and all rows are predicted with each.
    return replace(short, num_samples=short.num_samples // 8, thinning=2 * short.thinning)


def variance_warm_up(num_rows: int) -> Training | None:
    """Return the training of the networks that chains of the noise start from; None for fresh ones."""
    rows = epoch_rows_of(num_rows)
    return None if rows is None else Training(10, learning_rate=3e-3, epoch_rows=rows)


class Rounds(NamedTuple):
    """How Steps 2 and 3 work together: arguments of :class:`~vebnn.VeBNNRegressor` of the same name."""

    residuals: str
    rounds: int | None  # None: until the noise settles
    choose_round: str
    variance_inference: str


# Residuals of a posterior are better than those of fold networks if its draws can be relied on.
_OF_DRAWS = Rounds("posterior", None, "last", "psghmc")
_OF_FOLDS = Rounds("cross_fit", 1, "validation", "map")


def default_rounds(engine: Engine, residuals: str | None) -> Rounds:
    """Return what is best for an engine, or for the residuals if these are given."""
    if residuals is None:
        residuals = "posterior" if engine.learns_scales else "cross_fit"
    return _OF_DRAWS if residuals == "posterior" else _OF_FOLDS._replace(residuals=residuals)


def default_mean_training(num_rows: int) -> Training:
    """Return the default training of Step 1."""
    return Training.of_steps(15_000, num_rows, patience=3_000, learning_rate=3e-3)


def default_variance_training(num_rows: int) -> Training:
    """Return the default training of Step 2."""
    return Training.of_steps(4_000, num_rows, patience=500, learning_rate=1e-2)


# Trainings that estimators have as arguments, by name.
DEFAULT_TRAININGS = {
    "mean_training": default_mean_training,
    "variance_training": default_variance_training,
    "training": default_mean_training,
}

# The paper and its published code in every experiment: in-sample residuals, not rescaled, two rounds,
# the round chosen by training likelihood, the mean refitted on all rows.
_ALWAYS: dict[str, Any] = {
    "rounds": 2,
    "choose_round": "marginal_likelihood",
    "residuals": "in_sample",
    "rescale_residuals": False,
    "variance_loss": "gamma_rate",
    "refit": True,
}


def paper(experiment: str = "uci", engine: str = "psgld") -> dict[str, Any]:
    """Return the paper's settings (Appendix D), for ``VeBNNRegressor(**paper("uci"))``.

    Args:
      experiment: ``"toy"`` (illustrative data), ``"uci"``, ``"plasticity"`` or ``"images"``.
      engine: name of the inference engine.
    """
    require_one_of("experiment", experiment, tuple(_EXPERIMENTS))
    one = _EXPERIMENTS[experiment]
    return (
        _ALWAYS
        | _network_and_engine(experiment, engine)
        | {
            "variance_network": one.variance_network,
            "mean_training": one.training,
            "variance_training": one.variance_training,
            "learning_rates": one.learning_rates,
            "validation_fraction": one.validation_fraction,
        }
    )


def paper_joint(experiment: str = "uci", engine: str | None = None) -> dict[str, Any]:
    """Return the paper's settings of its joint baselines, for ``JointRegressor(**paper_joint("uci"))``.

    Args:
      experiment: as for :func:`paper`.
      engine: name of the inference engine, or ``None`` for one network.
    """
    require_one_of("experiment", experiment, tuple(_EXPERIMENTS))
    one = _EXPERIMENTS[experiment]
    return _network_and_engine(experiment, engine) | {
        "training": one.training,
        "learning_rates": one.learning_rates,
        "validation_fraction": one.validation_fraction,
    }


class _Experiment(NamedTuple):
    """The paper's settings for all methods of an experiment."""

    network: MLP | GRU | ResNet
    variance_network: MLP | GRU | ResNet
    training: Training
    variance_training: Training
    learning_rates: tuple[float, ...]
    validation_fraction: float
    chains: dict[str, int]
    elbo: Training
    dropout_rate: float = 0.1
    mean_field_network: MLP | None = None  # a smaller one, where BBB fails with the others'


_EXPERIMENTS = {
    "toy": _Experiment(
        network=MLP((256, 256), "tanh"),
        variance_network=MLP((5,), "tanh"),
        training=Training(20_000),
        variance_training=Training(5_000, patience=100, tolerance=1e-4),
        learning_rates=(),
        validation_fraction=0.3,
        chains={"num_samples": 100, "burn_in": 10_000, "thinning": 100},
        elbo=Training(10_000, learning_rate=1e-2),
        mean_field_network=MLP((50,), "tanh"),
    ),
    "uci": _Experiment(
        network=MLP((50,), "relu"),
        variance_network=MLP((5,), "relu"),
        training=Training(20_000),
        variance_training=Training(10_000, patience=100, tolerance=1e-4),
        learning_rates=LEARNING_RATES,
        validation_fraction=0.2,
        chains={"num_samples": 150, "burn_in": 5_000, "thinning": 100},
        elbo=Training(20_000, learning_rate=1e-2),
    ),
    "plasticity": _Experiment(
        network=GRU((128, 128)),
        variance_network=GRU((8, 8)),
        # Full batches, up to its 1000 sequences: the paper does not state a size, and its 82 s for
        # 2,000 epochs of Step 1 allow few batches in each.
        training=Training(2_000, batch_size=1_000),
        variance_training=Training(4_000, patience=50, tolerance=1e-4, batch_size=1_000),
        learning_rates=(),
        validation_fraction=0.1,
        chains={"num_samples": 150, "burn_in": 500, "thinning": 10, "batch_size": 1_000},
        elbo=Training(2_000, batch_size=1_000),
        dropout_rate=0.02,  # before the outputs
    ),
    "images": _Experiment(
        network=ResNet(34),
        variance_network=ResNet(34, head=()),
        training=Training(75, batch_size=32),
        variance_training=Training(20, batch_size=32),
        learning_rates=(),
        validation_fraction=0.2,
        chains={"num_samples": 10, "burn_in": 20, "thinning": 2, "batch_size": 32},
        elbo=Training(75, batch_size=32),
    ),
}


def _network_and_engine(experiment: str, engine: str | None) -> dict[str, Any]:
    one = _EXPERIMENTS[experiment]
    if engine is None:
        return {"network": one.network}
    require_one_of("engine", engine, tuple(ENGINES))
    inference = ENGINES[engine].for_budget(Budget(one.training, one.chains, one.elbo))
    network = one.network
    if inference.needs_dropout:
        network = replace(network, dropout_rate=one.dropout_rate)
    if inference.mean_field:
        network = one.mean_field_network or network
    return {"network": network, "inference": inference}
