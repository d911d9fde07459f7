"""Whether networks are those of an earlier fit, by the sizes of their layers."""

import jax
import numpy as np

from vebnn.networks import Network


def require_sizes(name: str, now: Network, then: Network) -> None:
    """Refuse to go on with networks of other sizes; both are stacked along one axis."""
    if _sizes(now) != _sizes(then):
        raise ValueError(
            f"The `{name}` must be that of the fit to go on from it. Got layers of other sizes; call "
            f"fit with all rows."
        )


def _sizes(stacked: Network) -> list[tuple[int, ...]]:
    return [np.shape(leaf)[1:] for leaf in jax.tree.leaves(stacked)]
