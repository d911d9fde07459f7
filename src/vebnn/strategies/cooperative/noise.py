"""What Step 2 has learned: the noise of every input."""

from dataclasses import replace
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from vebnn.core.blocks import by_blocks
from vebnn.core.types import Array
from vebnn.inference.evaluation import in_pieces, map_draws
from vebnn.likelihoods.student import variance_of
from vebnn.likelihoods.variance_heads import VARIANCE_HEADS, VarianceLoss
from vebnn.networks import Network
from vebnn.strategies.cooperative.tails import Tails


class Noise(eqx.Module):
    """Draws of the variance network; training it, as in the paper, gives a single one."""

    draws: Network  # stacked
    scale: np.ndarray  # (outputs,): factor on the networks' variance
    num_epochs: np.ndarray
    history: np.ndarray
    loss: VarianceLoss = eqx.field(static=True)
    freedom: np.ndarray | None = None  # (outputs,): of Student-t noise; None: Gaussian
    correlation: np.ndarray | None = None  # (outputs, outputs); None: every output by itself

    @classmethod
    def like(
        cls,
        network: Network,
        loss: VarianceLoss,
        *,
        heavy_tails: bool = False,
        correlated: bool = False,
    ) -> "Noise":
        """Return a noise of the right structure, to be filled with saved arrays."""
        nothing = np.zeros(0)
        freedom, correlation = (nothing if used else None for used in (heavy_tails, correlated))
        return cls(network, nothing, nothing, nothing, loss, freedom, correlation)

    @classmethod
    def constant(cls, network: Network, loss: VarianceLoss, variance: np.ndarray) -> "Noise":
        """Return the same noise for all rows: that of a variance network whose weights are all zero.

        Args:
          network: of the right structure, stacked.
          loss: that of the network.
          variance: ``(outputs,)``.
        """
        head, silent = VARIANCE_HEADS[loss], jax.tree.map(np.zeros_like, network)
        unit = np.asarray(head.variance(np.zeros(head.parts, np.float32)))
        return cls(silent, variance / unit, np.zeros((), np.int32), np.zeros((0, 2)), loss)

    def with_tails(self, tails: Tails) -> "Noise":
        """Return Student-t noise, whose squared scale was that of this noise times a factor."""
        scale = variance_of(self.scale * tails.factor, tails.freedom)
        return replace(self, scale=scale, freedom=tails.freedom)

    def with_correlation(self, correlation: np.ndarray) -> "Noise":
        """Return noise that is correlated between outputs."""
        return replace(self, correlation=correlation)

    def ends(self, num_chains: int) -> Network:
        """Return the last draw of each chain, or draws spread evenly if there were other chains."""
        number = jax.tree.leaves(self.draws)[0].shape[0]
        places = np.arange(1, num_chains + 1) * number // num_chains - 1
        return jax.tree.map(lambda leaf: leaf[np.maximum(places, 0)], self.draws)

    def __call__(self, x: Array) -> Array:
        """Map one example to its aleatoric variance, ``(..., outputs)``."""
        head = VARIANCE_HEADS[self.loss]
        variances = jax.vmap(lambda network: head.variance(network(x)))(self.draws)
        variance = jnp.sqrt(variances).mean(0) ** 2
        return variance * self.scale.reshape((1,) * (variance.ndim - 1) + self.scale.shape)

    def variance(self, x: np.ndarray) -> np.ndarray:
        """Return the aleatoric variance of all rows, ``(rows, ..., outputs)`` (eq. 8).

        It is E[σ]²: the noise std is the mean of the draws' stds. The posterior of σ² has a long right
        tail, and E[σ²] is too large.
        """
        return self.averages(x).variance * self.scale

    def inverse_precision(self, x: np.ndarray) -> np.ndarray:
        """Return 1/E[1/σ²] of all rows: the noise that Step 3 takes as given.

        The log-likelihood of the mean is linear in 1/σ², so its average over draws has this noise.
        """
        return self.scale / self.averages(x).precision

    def averages(self, x: np.ndarray) -> "Averages":
        """Return the averages over draws for all rows, in units of the scale."""
        return in_pieces(lambda rows: _averages(self, rows), x)


class Averages(NamedTuple):
    """Averages over draws, ``(rows, ..., outputs)``."""

    std: Array
    precision: Array  # one over the variance

    @property
    def variance(self) -> Array:
        """The aleatoric variance, E[σ]²."""
        return self.std**2


@eqx.filter_jit
def _averages(noise: Noise, x: Array) -> Averages:
    # Both in one program: either alone would have to be compiled, and evaluate the networks, again.
    head = VARIANCE_HEADS[noise.loss]

    def block(rows: Array) -> Averages:
        each = map_draws(lambda network: head.variance(jax.vmap(network)(rows)), noise.draws)
        return Averages(jnp.sqrt(each).mean(0), (1 / each).mean(0))

    return by_blocks(block, x)
