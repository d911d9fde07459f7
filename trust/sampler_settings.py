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
    chain: dict[str, Any] = {"num_samples": NUM_DRAWS, "num_chains": 1}
    full = dict(chain)
    if model == "linear":
        chain["batch_size"] = 10
        return {
            "psgld": long_memory(burn_in=15_000, thinning=600, **chain),
            "sgld": SGLD(burn_in=2_000, thinning=700, step_size=2e-4, **chain),
            "sghmc": SGHMC(burn_in=2_000, thinning=400, step_size=1e-5, **chain),
            "psghmc": PSGHMC(burn_in=10_000, thinning=500, step_size=0.02, friction=1.0, **chain),
            "mclmc": MCLMC(burn_in=2_000, thinning=20, decoherence_length=1.0, **full),
            "nuts": NUTS(burn_in=300, thinning=3, **full),
        }
    chain["batch_size"] = 8
    return {
        "psgld": long_memory(burn_in=15_000, thinning=1_200, **chain),
        "sgld": SGLD(burn_in=5_000, thinning=800, step_size=2e-3, **chain),
        "sghmc": SGHMC(burn_in=2_000, thinning=800, step_size=5e-5, **chain),
        "psghmc": PSGHMC(burn_in=10_000, thinning=400, step_size=0.02, friction=1.0, **chain),
        "mclmc": MCLMC(burn_in=2_000, thinning=100, decoherence_length=3.0, **full),
        "nuts": NUTS(burn_in=300, thinning=3, **full),
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
