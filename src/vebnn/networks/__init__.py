"""What is a function: networks that act on one example, and recipes that build them."""

from vebnn.networks.adapters import as_recipe
from vebnn.networks.mlp import MLP

__all__ = ["MLP", "as_recipe"]
