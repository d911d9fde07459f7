"""How every method is trained on the plasticity data: the paper's way, or quickly."""

import math
from dataclasses import replace
from typing import Any, NamedTuple

from vebnn.bench.methods import Method
from vebnn.core.arguments import require_one_of
from vebnn.estimators import Regressor
from vebnn.inference import MAP, PSGLD, SGHMC, SGLD, BayesByBackprop, Engine, Ensemble, MCDropout
from vebnn.networks import GRU
from vebnn.presets import paper
from vebnn.training import Training, epochs_of_steps

PRESETS = ("paper", "quick")
DROPOUT_RATE = 0.02  # the paper's, before the outputs
NUM_MEMBERS, NUM_MASKS = 5, 100


class Settings(NamedTuple):
    """What the methods of one preset share."""

    cooperative: dict[str, Any]  # arguments of VeBNNRegressor, but for the engine
    training: Training  # of the mean, and of all joint networks
    chain: PSGLD


def settings_for(preset: str, num_paths: int) -> Settings:
    """Return the settings of a preset for so many training paths."""
    require_one_of("preset", preset, PRESETS)
    if preset == "paper":
        arguments = paper("plasticity")
        chain = arguments.pop("inference")
        return Settings(arguments, arguments["mean_training"], chain)
    return _quick(num_paths)


def make_model(
    method: Method, preset: str, num_paths: int, random_state: int, **changes: Any
) -> Regressor:
    """Return a method's estimator, not fitted.

    Args:
      method: see :mod:`vebnn.bench.methods`.
      preset: ``"paper"`` or ``"quick"``.
      num_paths: how many training paths it will see.
      random_state: seed.
      changes: other arguments of the estimator, for ablations.
    """
    settings = settings_for(preset, num_paths)
    engine = _engine(method, settings)
    arguments = settings.cooperative
    if method.strategy == "joint":
        arguments = {
            "network": arguments["network"],
            "training": settings.training,
            "validation_fraction": arguments["validation_fraction"],
        }
    if isinstance(engine, MCDropout):
        network = replace(arguments["network"], dropout_rate=DROPOUT_RATE)
        arguments = {**arguments, "network": network}
    if engine is not None:
        arguments = {**arguments, "inference": engine}
    return method.make(**{**arguments, "random_state": random_state, **changes})


def _engine(method: Method, settings: Settings) -> Engine | None:
    training, chain = settings.training, settings.chain
    shared = ("num_samples", "burn_in", "thinning", "num_chains", "batch_size")
    lengths = {name: getattr(chain, name) for name in shared}
    whole = replace(training, patience=None)
    engines: dict[str | None, Engine | None] = {
        None: None,
        "MAP": MAP(whole),
        "Ensembles": Ensemble(NUM_MEMBERS, training),
        "MC-Dropout": MCDropout(NUM_MASKS, training),
        "BBB": BayesByBackprop(training=whole),
        "pSGLD": chain,
        "SGLD": SGLD(**lengths, pilot=chain.burn_in),
        "SGHMC": SGHMC(**lengths, pilot=chain.burn_in),
    }
    if method.engine not in engines:
        raise ValueError(
            f"The method {method.name!r} would take days on this data set. Choose one of the engines "
            f"{', '.join(str(name) for name in engines if name)}."
        )
    return engines[method.engine]


def _quick(num_paths: int) -> Settings:
    """Return settings of minutes: mini-batches, and no longer than the mean needs.

    Past 400 steps at 50 paths, 570 at 100 and 800 at 200 networks of this size only learn the noise by
    heart, so lengths grow with the square root of the paths. Short chains from several networks know
    more of what is not known than one long chain.
    """
    batch, more = 25, math.sqrt(num_paths / 50)

    def epochs(steps: int) -> int:
        return epochs_of_steps(round(more * steps), num_paths, batch, fewest=1)

    training = Training(epochs(400), learning_rate=3e-3, batch_size=batch, patience=epochs(100))
    num_folds = 5
    chain = PSGLD(
        num_samples=20,
        burn_in=epochs(100),
        thinning=epochs(10),
        num_chains=1 + num_folds,  # from the mean network and those of the folds
        step_size=3e-4,
        decay=1.0,
        batch_size=batch,
    )
    cooperative = {
        "network": GRU((128, 128)),
        "variance_network": GRU((8, 8)),
        # The mean of so few paths is off by more than the noise, and folds would take that for noise.
        "residuals": "posterior",
        "rounds": 2,
        "choose_round": "last",
        "num_folds": num_folds,
        "mean_training": training,
        "variance_training": Training(
            epochs(2_000), learning_rate=1e-2, batch_size=batch, patience=epochs(200)
        ),
        "validation_fraction": 0.2,
    }
    return Settings(cooperative, training, chain)
