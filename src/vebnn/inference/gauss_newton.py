"""The generalised Gauss-Newton matrix of a network, and the Gaussian it stands for.

With J the Jacobian of the outputs in some parameters and H the negative Hessian of the log-likelihood
in the outputs, G = Σ Jᵀ H J over the rows. For Gaussian noise that is given, H = 1/variance.
"""

import math
from collections.abc import Iterator
from typing import Any, NamedTuple, Protocol

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import scipy.linalg
import scipy.optimize

from vebnn.core.types import AnyDataset, Array, Key, LogLikelihood
from vebnn.training.batches import NO_ROW, all_rows, batch_shape, take, with_spare_rows

MOST_ENTRIES = 2**24  # of a block of Jacobians: bounds the memory
SMALLEST_SHARE = 1e-12  # of the largest eigenvalue; what is below is rounding


class Changed(Protocol):
    """A network with some parameters that may change: their values, and outputs for others."""

    def values(self) -> Array:
        """Return the parameters as one flat vector."""

    def outputs(self, values: Array, x: Array) -> Array:
        """Map one example to its outputs, with other values of the parameters."""


class GaussNewton(NamedTuple):
    """Eigenvalues of G that are not zero, and their eigenvectors, in double precision."""

    eigenvalues: np.ndarray  # (rank,)
    vectors: np.ndarray  # (parameters, rank)

    @classmethod
    def of_rows(
        cls, log_likelihood: LogLikelihood, network: Changed, data: AnyDataset
    ) -> "GaussNewton":
        """Return the decomposition for all rows.

        G is AᵀA for a matrix A with a row per output of a row of data. With fewer of them than
        parameters, AAᵀ is decomposed, which has the same eigenvalues.
        """
        num_parameters = network.values().size
        num_outputs = math.prod(jax.eval_shape(network.outputs, network.values(), data.x[0]).shape)
        factors = _factors(log_likelihood, network, data, num_outputs)
        if len(data.x) * num_outputs <= num_parameters:
            whole = np.concatenate(list(factors))
            values, left = scipy.linalg.eigh(whole @ whole.T)
            seen = values > SMALLEST_SHARE * values[-1]
            return cls(values[seen], whole.T @ (left[:, seen] / np.sqrt(values[seen])))
        matrix = np.zeros((num_parameters, num_parameters))
        for block in factors:
            matrix += block.T @ block
        values, vectors = scipy.linalg.eigh(matrix, overwrite_a=True)
        seen = values > SMALLEST_SHARE * values[-1]
        return cls(values[seen], vectors[:, seen])

    def effective_parameters(self, precision: float) -> float:
        """Return γ = Σ λ/(λ + κ): how many parameters the data determine (MacKay 1992)."""
        return float(np.sum(self.eigenvalues / (self.eigenvalues + precision)))

    def log_evidence(self, values: np.ndarray, precision: float) -> float:
        """Return log p(D | κ) − log p(D | θ) in Laplace's approximation, for the prior N(0, 1/κ).

        −(κ |θ|² + Σ log(1 + λ/κ)) / 2: the log prior at the mode and the log determinant of G + κ,
        where the parameters that the data do not determine cancel.
        """
        squared = float(np.sum(np.square(values, dtype=float)))
        return -0.5 * (precision * squared + float(np.sum(np.log1p(self.eigenvalues / precision))))

    def best_precision(self, values: np.ndarray) -> float:
        """Return the κ of largest evidence at fixed θ.

        Its derivative is zero where κ |θ|² = γ(κ): the left side rises with κ, the right side falls, so
        there is one solution.
        """
        squared = max(float(np.sum(np.square(values, dtype=float))), 1e-30)
        most = len(self.eigenvalues) / squared

        def excess(log_precision: float) -> float:
            precision = math.exp(log_precision)
            return precision * squared - self.effective_parameters(precision)

        return math.exp(scipy.optimize.brentq(excess, math.log(most) - 60, math.log(most)))

    def draw(self, key: Key, num_samples: int, precision: float) -> np.ndarray:
        """Return draws ``(samples, parameters)`` from N(0, (G + κ)⁻¹)."""
        shape = (num_samples, len(self.vectors))
        normal = np.asarray(jax.random.normal(key, shape), float)
        prior_std = 1 / math.sqrt(precision)
        narrower = 1 / np.sqrt(self.eigenvalues + precision) - prior_std
        draws = prior_std * normal + ((normal @ self.vectors) * narrower) @ self.vectors.T
        return draws.astype(np.float32)


def _factors(
    log_likelihood: LogLikelihood, network: Changed, data: AnyDataset, num_outputs: int
) -> Iterator[np.ndarray]:
    """Yield blocks of rows of A, where AᵀA = G; rows added for a round number are zero."""
    rows = np.asarray(all_rows(len(data.x))[0])
    most = max(1, MOST_ENTRIES // (num_outputs * network.values().size))
    num_blocks, size = batch_shape(len(rows), most)
    rows = np.pad(rows, (0, num_blocks * size - len(rows)), constant_values=NO_ROW)
    data = with_spare_rows(data)
    for block in rows.reshape(num_blocks, size):
        factor = _factor(log_likelihood, network, take(data, block))
        yield np.asarray(factor, float)


@eqx.filter_jit
def _factor(log_likelihood: LogLikelihood, network: Any, block: AnyDataset) -> Array:
    values = network.values()
    outputs = jax.vmap(lambda x: network.outputs(values, x))(block.x)
    jacobian = jax.vmap(lambda x: jax.jacrev(network.outputs)(values, x))(block.x)
    root = _root_of_curvature(log_likelihood, outputs, block)
    return jnp.einsum("...ij,...ip->...jp", root, jacobian).reshape(-1, values.size)


def _root_of_curvature(log_likelihood: LogLikelihood, outputs: Array, block: AnyDataset) -> Array:
    """Return C of H = C Cᵀ, ``(rows, ..., outputs, outputs)``.

    Rows and steps do not share a likelihood, so H has a block for each. Where noise is learned, a block
    can have negative eigenvalues; they count as zero, so that G has none.
    """
    slope = jax.grad(lambda raw: log_likelihood(_identity, block._replace(x=raw), None))

    def column(direction: Array) -> Array:
        return -jax.jvp(slope, (outputs,), (jnp.broadcast_to(direction, outputs.shape),))[1]

    hessian = jax.vmap(column, out_axes=-1)(jnp.eye(outputs.shape[-1], dtype=outputs.dtype))
    values, vectors = jnp.linalg.eigh(hessian)
    return vectors * jnp.sqrt(jnp.maximum(values, 0))[..., None, :]


def _identity(outputs: Array, *, key: Key | None = None) -> Array:
    """Stand for a network whose outputs are known."""
    return outputs
