"""A residual network in plain PyTorch, as vebnn's ResNet(10)."""

import math

import torch
from torch import Tensor, nn


class Block(nn.Module):
    """Two convolutions, and what comes in added to them."""

    def __init__(self, channels: int, wider: int) -> None:
        super().__init__()
        stride = 1 if wider == channels else 2
        first, second = _convolution(channels, wider, 3, stride), _convolution(wider, wider, 3, 1)
        self.change = nn.Sequential(first, nn.ReLU(), second)
        self.shortcut = nn.Identity() if stride == 1 else _convolution(channels, wider, 1, stride)

    def forward(self, x: Tensor) -> Tensor:
        """Map images to the next."""
        return torch.relu(self.change(x) + self.shortcut(x))


class ChannelsFirst(nn.Module):
    """Images with channels last, seen with channels first; in memory they stay last."""

    def forward(self, x: Tensor) -> Tensor:
        """Move the channels."""
        return x.permute(0, 3, 1, 2)


def residual_network(channels: int, widths: tuple[int, ...], outputs: int) -> nn.Module:
    """Return four stages of one block each, and a head."""
    width, *head = widths
    layers: list[nn.Module] = [ChannelsFirst(), _convolution(channels, width, 3, 1), nn.ReLU()]
    layers += [Block(max(width, width * 2**stage // 2), width * 2**stage) for stage in range(4)]
    layers += [nn.AdaptiveAvgPool2d(1), nn.Flatten()]
    for fan_in, fan_out in zip((8 * width, *head), head, strict=False):
        layers += [nn.Linear(fan_in, fan_out), nn.ReLU()]
    layers.append(nn.Linear(head[-1], outputs))
    # Channels last in memory is the faster of PyTorch's two layouts here.
    return nn.Sequential(*layers).to(memory_format=torch.channels_last)


def _convolution(channels: int, wider: int, size: int, stride: int) -> nn.Sequential:
    convolution = nn.Conv2d(channels, wider, size, stride, size // 2, bias=False)
    return nn.Sequential(convolution, nn.GroupNorm(wider // math.gcd(wider, 16), wider))
