"""log Γ of positive numbers.

``jax.scipy.special.gammaln`` and its derivative also cover negative numbers, with a reflection and a
series of divisions for every element: in Step 2 that takes longer than the network itself
(``python -m benchmarks.speed --only ablation``).
"""

import jax
import jax.numpy as jnp
import numpy as np

from vebnn.core.types import Array

SHIFT = 4  # from there on, a few terms of the series are exact to 1e-9
# Coefficients of 1/x², highest power first, as ``polyval`` wants them.
LOG_GAMMA_SERIES = np.array([1 / 1188, -1 / 1680, 1 / 1260, -1 / 360, 1 / 12])
DIGAMMA_SERIES = np.array([1 / 132, -1 / 240, 1 / 252, -1 / 120, 1 / 12])


@jax.custom_jvp
def log_gamma(x: Array) -> Array:
    """Return log Γ(x) for x > 0.

    Stirling's series (Abramowitz and Stegun 1964, eq. 6.1.41); where x is below ``SHIFT``, that of
    x + 4, by Γ(x + 4) = x (x + 1)(x + 2)(x + 3) Γ(x).
    """
    far, inner = _far(x), x * (x + 3)
    product = jnp.where(x < SHIFT, inner * (inner + 2), 1)
    series = jnp.polyval(LOG_GAMMA_SERIES.astype(x.dtype), far**-2) / far
    return (far - 0.5) * jnp.log(far) - far + 0.5 * np.log(2 * np.pi) + series - jnp.log(product)


@log_gamma.defjvp
def _(primals: tuple[Array], tangents: tuple[Array]) -> tuple[Array, Array]:
    return log_gamma(*primals), digamma(*primals) * tangents[0]


def digamma(x: Array) -> Array:
    """Return the derivative of log Γ(x) for x > 0 (Abramowitz and Stegun 1964, eq. 6.3.18)."""
    far, inner = _far(x), x * (x + 3)
    series = jnp.polyval(DIGAMMA_SERIES.astype(x.dtype), far**-2) * far**-2
    # The derivative of log x (x + 1)(x + 2)(x + 3).
    shifted = (2 * x + 3) * (2 * inner + 2) / (inner * (inner + 2))
    return jnp.log(far) - 0.5 / far - series - jnp.where(x < SHIFT, shifted, 0)


def _far(x: Array) -> Array:
    return jnp.where(x < SHIFT, x + SHIFT, x)
