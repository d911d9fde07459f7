"""Networks: recipes, adapters for other libraries' modules, and the one pytree they become."""

from vebnn.networks.augmentation import Augmentation
from vebnn.networks.gru import GRU
from vebnn.networks.mlp import MLP
from vebnn.networks.network import Network, build_networks
from vebnn.networks.resnet import ResNet

__all__ = ["GRU", "MLP", "Augmentation", "Network", "ResNet", "build_networks"]
