"""The β-NLL of Seitzer et al. 2022 (paper, eq. 29): Gaussian NLL with rows weighted by their noise."""

import jax

from vebnn.core.types import Array
from vebnn.likelihoods import gaussian


def weighted_log_prob(target: Array, mean: Array, variance: Array, beta: Array | float) -> Array:
    """Return ⌊variance^β⌋ · log N(target | mean, variance), elementwise; ⌊·⌋ stops gradients.

    β = 0 is the Gaussian log-likelihood, β = 1 moves the mean as squared error does. For β > 0 it is
    no log-density: its value is not the integral of its gradient.
    """
    return jax.lax.stop_gradient(variance**beta) * gaussian.log_prob(target, mean, variance)
