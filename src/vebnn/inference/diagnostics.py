"""Convergence of chains, measured on predictions.

Two networks with exchanged hidden units are the same function with other weights, so R-hat and
effective sample size are computed for the predicted means at some inputs.
"""

from typing import NamedTuple

import numpy as np

# R-hat² is about the variance of all chains over that within a chain. Posteriors of networks have many
# modes, and pooled chains cover several; above 1.5 a chain covers less than half of the variance.
POOR_R_HAT = 1.5
MIXED_R_HAT = 1.2  # above, the spread of the draws is rather that of an ensemble of chains
POOR_EFFECTIVE_SIZE = 10
NUM_INPUTS = 64
MOST_ENTRIES = 512  # of sequences, which have many per input; enough for a median
FEWEST_DRAWS = 8  # per chain, so that each half of a chain has a variance


class ChainDiagnostics(NamedTuple):
    """Convergence of the predicted means; an entry is a step and output of an input."""

    r_hat: np.ndarray
    effective_size: np.ndarray
    num_chains: int
    num_draws: int

    @property
    def typical_r_hat(self) -> float:
        """Median over inputs."""
        return float(np.median(self.r_hat))

    @property
    def typical_effective_size(self) -> float:
        """Median over inputs."""
        return float(np.median(self.effective_size))

    @property
    def mixed(self) -> bool:
        """Tell whether the chains agree, so that their draws are those of one posterior."""
        return self.typical_r_hat <= MIXED_R_HAT

    def complaint(self) -> str | None:
        """Return a sentence on poor convergence and what to try, or None."""
        r_hat, size = self.typical_r_hat, self.typical_effective_size
        if r_hat <= POOR_R_HAT and size >= POOR_EFFECTIVE_SIZE:
            return None
        return (
            f"The chains have not mixed well: R-hat of the predictions is {r_hat:.2f} (1 is best) "
            f"and {self.num_chains * self.num_draws} draws count as {size:.0f} independent ones. "
            f"The epistemic uncertainty may be too small; try more `burn_in`, a larger `thinning` "
            f"or more `num_chains`, as in vebnn.presets.stretched(PSGHMC.for_rows(len(X)), 4)."
        )


def diagnose_chains(outputs: np.ndarray) -> ChainDiagnostics:
    """Compute rank-normalised split R-hat and bulk effective size (Vehtari et al. 2021).

    Args:
      outputs: ``(chains, draws, rows, ..., outputs)``, at least four draws per chain; NaN, as
        in the padding of sequences, is left out, and of very many entries some are taken.
    """
    from arviz_stats.base import array_stats  # takes longer to import than all of vebnn

    chains, draws = outputs.shape[:2]
    flat = outputs.reshape(chains, draws, -1).astype(float)
    entries = np.flatnonzero(~np.isnan(flat).any((0, 1)))
    some = np.unique(np.linspace(0, len(entries) - 1, MOST_ENTRIES).round().astype(int))
    flat = flat[:, :, entries[some]]
    if chains == 1:
        # One chain is compared with itself: its first half with its second.
        half = draws // 2
        flat = np.stack([flat[0, :half], flat[0, -half:]])
    r_hat = array_stats.rhat(flat, chain_axis=0, draw_axis=1)
    size = array_stats.ess(flat, chain_axis=0, draw_axis=1)
    return ChainDiagnostics(np.asarray(r_hat), np.asarray(size), chains, draws)
