"""Simulation-based calibration (Talts et al. 2018): ranks of the truth among draws are uniform.

Weights are drawn from the prior, data from the likelihood, and the posterior is sampled. If the sampler
is right, the truth is one more draw: its rank among L nearly independent draws is uniform on 0 … L.
"""

from typing import NamedTuple

import jax
import numpy as np
from scipy.stats import chisquare

from trust.simulated import Model
from vebnn.inference import Engine
from vebnn.inference.evaluation import evaluate_draws, pool_chains
from vebnn.training import SILENT


class Ranks(NamedTuple):
    """Ranks of true quantities among draws, over simulated data sets."""

    ranks: np.ndarray  # (data sets, quantities)
    num_draws: int
    correlation: float  # of one draw and the next, largest over quantities

    def histograms(self, num_bins: int) -> np.ndarray:
        """Return counts, ``(quantities, bins)``."""
        bins = self.ranks * num_bins // (self.num_draws + 1)
        return np.stack([np.bincount(column, minlength=num_bins) for column in bins.T])

    def p_value(self, num_bins: int) -> float:
        """Return the smallest p of chi-square tests of the histograms, times their number.

        Quantities of one fit are correlated; Bonferroni's correction holds whatever their correlation.
        """
        counts = self.histograms(num_bins)
        return float(min(1, len(counts) * chisquare(counts, axis=1).pvalue.min()))


def rank_truths(engine: Engine, model: Model, seed: int, num_data_sets: int) -> Ranks:
    """Return the ranks of the truth in simulated data sets; all reuse one compiled program."""
    ranks, draws, products = [], 0, []
    for key in jax.random.split(jax.random.key(seed), num_data_sets):
        key_truth, key_starts, key_run = jax.random.split(key, 3)
        truth, data = model.simulate(key_truth)
        problem = model.problem(key_starts, data, max(1, engine.num_starts), hasattr(engine, "burn_in"))
        posterior = engine.run(key_run, problem, SILENT)
        outputs = evaluate_draws(pool_chains(posterior.draws), np.concatenate([model.x, model.places]))
        drawn = model.quantities(outputs[..., 0], data)
        ranks.append((drawn < model.quantities(truth, data)).sum(0))
        draws = len(drawn)
        if posterior.markov:
            standard = (drawn - drawn.mean(0)) / drawn.std(0)
            products.append((standard[1:] * standard[:-1]).mean(0))
    correlation = float(np.mean(products, 0).max()) if products else 0.0
    return Ranks(np.array(ranks), draws, correlation)
