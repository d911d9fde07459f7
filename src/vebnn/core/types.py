"""Types that every room shares."""

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol, TypeVar

import jax

Array = Any  # a JAX or a NumPy array: compiled functions take either
Key = jax.Array
Params = Any  # a pytree of arrays; for most engines a vebnn.networks.Network
Module = Any  # a callable pytree: module(x, key=None) -> y on ONE example


class Dataset(NamedTuple):
    """AnyDataset in standardised units; every leaf has the rows as its first axis."""

    x: Array
    target: Array  # (rows, ..., outputs)
    weight: Array  # like target: 0 leaves an entry out, 2 counts it twice
    known_variance: Array  # like target: squared measurement error, which no network has to learn


class NoisyDataset(NamedTuple):
    """AnyDataset whose noise is given: Steps 1 and 3. Fields as in :class:`Dataset`."""

    x: Array
    target: Array
    weight: Array
    noise_variance: Array  # like target, or (rows, ..., outputs, modes); in Step 1 up to a factor


class ResidualDataset(NamedTuple):
    """Squared residuals to learn the noise from: Step 2. Fields as in :class:`Dataset`."""

    x: Array
    squared: Array  # (rows, ..., outputs): squared residuals
    weight: Array
    offset: Array  # like squared: the part of its mean that is not noise


AnyDataset = Dataset | NoisyDataset | ResidualDataset
SomeDataset = TypeVar("SomeDataset", bound=AnyDataset)


class Recipe(Protocol):
    """How to make a network, before the sizes of the data are known."""

    def build(self, in_shape: tuple[int, ...], out_size: int, *, key: Key) -> Module:
        """Return a freshly initialised network that maps one example to ``(..., out_size)``."""
        ...


LogLikelihood = Callable[[Params, Any, Key | None], Array]
"""``log_likelihood(params, batch, key)``: the SUM over the batch. Engines scale it, see Objective."""

LogPrior = Callable[[Params], Array]
"""``log_prior(params)``: counted once, whatever the batch."""
