"""Settings under which samplers have almost no bias, so that their update equations are what is tested.

Stochastic gradient samplers are exact in the limit of small steps alone. Here steps are short enough
that their bias is below the Monte Carlo error, draws are thinned until they are nearly independent, and
each epoch has two mini-batches, whose scaling is tested with the rest.
"""

from typing import Any

from vebnn.inference import (
    MCLMC,
    NUTS,
    PSGHMC,
    PSGLD,
    SGHMC,
    SGLD,
    BayesByBackprop,
    Engine,
    Ensemble,
    Laplace,
    MCDropout,
)
from vebnn.networks import MLP
from vebnn.training import Training

NUM_DRAWS = 31  # 32 ranks
DROPOUT = MLP((5,), "tanh", dropout_rate=0.1)
_TRAINING = Training(num_epochs=2_000, learning_rate=1e-2, patience=200)


def samplers(model: str) -> dict[str, Engine]:
    """Return the engines that claim to sample a posterior, for the linear model or the network."""
    linear = model == "linear"
    batches = {"batch_size": 10 if linear else 8}

    def lengths(burn_in: int, thinning: int) -> dict[str, Any]:
        return {"num_samples": NUM_DRAWS, "num_chains": 1, "burn_in": burn_in, "thinning": thinning}

    return {
        "psgld": long_memory(**lengths(15_000, 600 if linear else 1_200), **batches),
        "sgld": SGLD(
            **lengths(*((2_000, 700) if linear else (5_000, 800))),
            step_size=2e-4 if linear else 2e-3,
            **batches,
        ),
        "sghmc": SGHMC(
            **lengths(2_000, 400 if linear else 800), step_size=1e-5 if linear else 5e-5, **batches
        ),
        "psghmc": PSGHMC(
            **lengths(10_000, 500 if linear else 400), step_size=0.02, friction=1.0, **batches
        ),
        "mclmc": MCLMC(
            **lengths(2_000, 20 if linear else 100), decoherence_length=1.0 if linear else 3.0
        ),
        "nuts": NUTS(**lengths(300, 3)),
    }


def long_memory(**settings: Any) -> PSGLD:
    """Return pSGLD with an almost constant preconditioner: the term Γ that it drops is then zero."""
    return PSGLD(step_size=3e-3, decay=1.0, smoothing=0.9999, **settings)


def approximations(model: str) -> dict[str, Engine]:
    """Return engines that are approximate by construction: their ranks are shown, not promised."""
    short_memory = PSGLD(
        NUM_DRAWS, burn_in=10_000, thinning=600, num_chains=1, step_size=3e-3, decay=1.0, batch_size=10
    )
    engines: dict[str, Engine] = {
        "psgld, memory of 100 steps": short_memory,
        "laplace": Laplace(NUM_DRAWS, prior_precision=1.0, training=_TRAINING),
        "bbb": BayesByBackprop(NUM_DRAWS, training=Training(num_epochs=3_000, learning_rate=1e-2)),
        "ensemble": Ensemble(15, training=_TRAINING),
    }
    # A linear model has no units to drop.
    return engines | ({} if model == "linear" else {"mc_dropout": MCDropout(NUM_DRAWS, _TRAINING)})
