"""Words every room shares."""

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import jax

Array = Any  # a JAX or a NumPy array: compiled functions take either
Key = jax.Array
Params = Any  # a pytree of floating-point arrays
Module = Any  # a callable pytree: module(x, key=None) -> y on ONE example


class Dataset(NamedTuple):
    """Rows in standardised units; every leaf has the rows as its first axis."""

    x: Array
    target: Array  # (rows, ..., outputs): observations in Steps 1 and 3, squared residuals in Step 2
    weight: Array  # like target: 0 leaves an entry out, 2 counts it twice
    variance: Array  # like target: the part of the target's variance that is already known


class Recipe(Protocol):
    """How to make a network, before the sizes of the data are known."""

    def build(self, in_shape: tuple[int, ...], out_size: int, *, key: Key) -> Module:
        """Return a freshly initialised network that maps one example to ``(..., out_size)``."""
        ...


LogLikelihood = Callable[[Params, Dataset, Key | None], Array]
"""``log_likelihood(params, batch, key)``: the SUM over the batch. Engines scale it, see Objective."""

LogPrior = Callable[[Params], Array]
"""``log_prior(params)``: counted once, whatever the batch."""
