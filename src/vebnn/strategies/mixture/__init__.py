"""Algorithm 1 for noise with several modes (paper, "Extension to multi-modal data noise").

The mean network becomes a mixture density network (Bishop 1994) with a mean and a coefficient for
every mode; the variance network learns one noise for every mode.
"""

from vebnn.strategies.mixture.algorithm import CooperativeMixture
from vebnn.strategies.mixture.fitted import FittedMixture, MixtureRound

__all__ = ["CooperativeMixture", "FittedMixture", "MixtureRound"]
