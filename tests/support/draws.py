"""Leaves of stacked draws."""

from typing import Any

import jax

from vebnn.inference.evaluation import Shared


def split_leaves(draws: Any) -> tuple[list[Any], list[Any]]:
    """Return the leaves that each draw has of its own, and those that all draws share."""
    parts = jax.tree.leaves(draws, is_leaf=lambda node: isinstance(node, Shared))
    own = [part for part in parts if not isinstance(part, Shared)]
    return own, jax.tree.leaves([part for part in parts if isinstance(part, Shared)])
