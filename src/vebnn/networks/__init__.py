"""What is a function: networks that act on one example, and recipes that build them."""

from vebnn.networks.adapters import as_recipe
from vebnn.networks.gru import GRU
from vebnn.networks.mlp import MLP

__all__ = ["GRU", "MLP", "as_recipe"]
