"""How every method is trained on the plasticity data.

- ``paper``: its networks and lengths. As in its code, 100 more paths stop the training early; they are
  never trained on. With all 1,000 paths there are no more: 100 of them are set aside, and then joined
  for the final training.
- ``standard``: minutes for a fit. Networks see the change of the strain since the step before beside
  it, and have a linear path to their outputs.
- ``quick``: settings of an earlier version, on the strain alone, in which the rows of some methods are.
"""

import math
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from vebnn.bench.methods import ENGINE_NAMES, Method
from vebnn.core.arguments import require_one_of
from vebnn.estimators import Regressor, with_changes
from vebnn.inference import ENGINES, MAP, NUTS, Engine
from vebnn.inference.engine import Budget
from vebnn.networks import GRU
from vebnn.presets import paper, paper_joint
from vebnn.training import Training, epochs_of_steps

PLASTICITY_PRESETS = ("paper", "standard", "quick")
RESERVED = 100  # paths that the paper sets aside for early stopping
STANDARD_WIDTHS = (64, 64)
# Chains with the steps of ``quick`` stay near their starts, and their spread is too small.
STEP_SIZES = {"standard": 2e-3, "quick": 3e-4}
QUICK_BATCH, QUICK_FOLDS, QUICK_VALIDATION = 25, 5, 0.2


class Lengths(NamedTuple):
    """How long networks are trained and chains are run."""

    training: Training  # of the mean, and of all joint networks
    variance_training: Training
    chain: dict[str, Any]  # settings of all samplers


def inputs_of(preset: str, strain: np.ndarray) -> np.ndarray:
    """Return the inputs of the networks for strain paths, which start from no strain."""
    return with_changes(strain) if preset == "standard" else strain


def num_reserved(preset: str) -> int:
    """Return how many further paths stop the training early."""
    return RESERVED if preset == "paper" else 0


def make_model(
    method: Method, preset: str, num_paths: int, random_state: int, **changes: Any
) -> Regressor:
    """Return a method's estimator, not fitted; ``changes`` override its arguments in ablations."""
    require_one_of("preset", preset, PLASTICITY_PRESETS)
    if method.engine == NUTS.title:
        others = ", ".join(name for name in ENGINE_NAMES if name != NUTS.title)
        raise ValueError(
            f"The method {method.name!r} would take days on this data set. Choose one of the engines "
            f"{others}."
        )
    short, cooperative = preset != "paper", method.strategy == "cooperative"
    engine: Any = method.arguments.get("inference")
    settings = paper("plasticity", engine) if cooperative else paper_joint("plasticity", engine)
    lengths = quick_lengths(num_paths) if short else paper_lengths()
    if short:
        settings = {"network": settings["network"]} | _short(cooperative, lengths)
    if engine is not None:
        settings["inference"] = _engine(ENGINES[engine], lengths, STEP_SIZES.get(preset))
    if preset == "standard":
        settings["network"] = replace(settings["network"], widths=STANDARD_WIDTHS, linear=True)
    elif cooperative:
        settings["noise_within"] = "independent"
    return method.make(**{**settings, "random_state": random_state, **changes})


def paper_lengths() -> Lengths:
    """Return the lengths of the paper."""
    settings = paper("plasticity")
    names = ("num_samples", "burn_in", "thinning", "num_chains", "batch_size")
    chain = {name: getattr(settings["inference"], name) for name in names}
    return Lengths(settings["mean_training"], settings["variance_training"], chain)


def quick_lengths(num_paths: int) -> Lengths:
    """Return lengths of minutes: mini-batches, and no more steps than the mean needs.

    Past 400 steps at 50 paths, 570 at 100 and 800 at 200 networks of this size only memorise the
    noise, so lengths grow with the square root of the paths. Short chains from several networks
    cover more of the posterior than one long chain.
    """
    more = math.sqrt(num_paths / 50)

    def epochs(steps: int) -> int:
        return epochs_of_steps(round(more * steps), num_paths, QUICK_BATCH, fewest=1)

    def trained(steps: int, patience: int, learning_rate: float) -> Training:
        return Training(epochs(steps), learning_rate, batch_size=QUICK_BATCH, patience=epochs(patience))

    chain = {
        "num_samples": 20,
        "burn_in": epochs(100),
        "thinning": epochs(10),
        "num_chains": 1 + QUICK_FOLDS,  # from the mean network and those of the folds
        "batch_size": QUICK_BATCH,
    }
    return Lengths(trained(400, 100, 3e-3), trained(2_000, 200, 1e-2), chain)


def _short(cooperative: bool, lengths: Lengths) -> dict[str, Any]:
    if not cooperative:
        return {"training": lengths.training, "validation_fraction": QUICK_VALIDATION}
    return {
        "variance_network": GRU((8, 8)),
        # With so few paths the error of the mean exceeds the noise, and folds would take it for noise.
        "residuals": "posterior",
        "rounds": 2,
        "choose_round": "last",
        "num_folds": QUICK_FOLDS,
        "mean_training": lengths.training,
        "variance_training": lengths.variance_training,
        "validation_fraction": QUICK_VALIDATION,
    }


def _engine(engine: type[Engine], lengths: Lengths, step_size: float | None) -> Engine:
    chains, fields = dict(lengths.chain), engine.__dataclass_fields__  # type: ignore[attr-defined]
    if "pilot" in fields:  # a pilot run chooses the step size
        chains["pilot"] = chains["burn_in"]
    elif step_size is not None:
        chains |= {"step_size": step_size, "decay": 1.0}
    elbo = replace(lengths.training, patience=None)
    return MAP(elbo) if engine is MAP else engine.for_budget(Budget(lengths.training, chains, elbo))
