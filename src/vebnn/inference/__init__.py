"""Inference engines: each turns a log-likelihood, a log-prior and data into draws of a network.

Every engine is one file with one frozen dataclass, whose fields are its settings. The contract is in
:mod:`vebnn.inference.engine`.
"""

from vebnn.inference.bbb import BayesByBackprop
from vebnn.inference.engine import Engine, Posterior, Problem
from vebnn.inference.ensemble import Ensemble
from vebnn.inference.laplace import Laplace
from vebnn.inference.last_layer import LastLayer
from vebnn.inference.map import MAP
from vebnn.inference.mc_dropout import MCDropout
from vebnn.inference.mclmc import MCLMC
from vebnn.inference.nuts import NUTS
from vebnn.inference.psghmc import PSGHMC
from vebnn.inference.psgld import PSGLD
from vebnn.inference.sghmc import SGHMC
from vebnn.inference.sgld import SGLD

# In the order of tables.
ENGINES: dict[str, type[Engine]] = {
    "ensemble": Ensemble,
    "mc_dropout": MCDropout,
    "bbb": BayesByBackprop,
    "sgld": SGLD,
    "sghmc": SGHMC,
    "psgld": PSGLD,
    "psghmc": PSGHMC,
    "mclmc": MCLMC,
    "nuts": NUTS,
    "laplace": Laplace,
    "map": MAP,
}

__all__ = [
    "ENGINES",
    "MAP",
    "MCLMC",
    "NUTS",
    "PSGHMC",
    "PSGLD",
    "SGHMC",
    "SGLD",
    "BayesByBackprop",
    "Engine",
    "Ensemble",
    "Laplace",
    "LastLayer",
    "MCDropout",
    "Posterior",
    "Problem",
]
