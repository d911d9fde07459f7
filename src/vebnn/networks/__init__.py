"""Networks: recipes, adapters for other libraries' modules, and the one pytree they become."""

from vebnn.networks.gru import GRU
from vebnn.networks.mlp import MLP
from vebnn.networks.network import Network, build_networks

__all__ = ["GRU", "MLP", "Network", "build_networks"]
