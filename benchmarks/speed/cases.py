"""The problems that are timed: sizes only, with generated data."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Case:
    """A network and as much data as it would be trained on.

    Args:
      name: in tables.
      shape: of one example.
      outputs: targets of one example (and time step).
      widths: units of the hidden layers of the mean network; of a ResNet, the channels of its first
        stage and the hidden layers of its head.
      variance_widths: those of the variance network.
      rows: examples.
      batch: the most examples in a mini-batch.
      activation: of a perceptron; empty for a GRU.
      steps: gradient steps of one timing of vebnn; slow programs take fewer.
      experiment: the one of the paper whose settings a whole fit has.
      dropout: rate of a perceptron's dropout.
      depth: of a ResNet; 0 for other networks.
    """

    name: str
    shape: tuple[int, ...]
    outputs: int
    widths: tuple[int, ...]
    variance_widths: tuple[int, ...]
    rows: int
    batch: int
    activation: str
    steps: int
    experiment: str = "uci"
    dropout: float = 0.0
    depth: int = 0

    @property
    def recurrent(self) -> bool:
        """Whether examples are sequences."""
        return not self.activation

    @property
    def num_batches(self) -> int:
        """Steps per epoch."""
        return -(-self.rows // self.batch)

    def data(self) -> tuple[np.ndarray, np.ndarray]:
        """Return inputs and targets, in single precision."""
        rng = np.random.default_rng(0)
        x = rng.normal(size=(self.rows, *self.shape)).astype(np.float32)
        signal = x[:, 0, 0] if self.depth else x
        noise = 0.1 * rng.normal(size=(*signal.shape[:-1], self.outputs)).astype(np.float32)
        return x, np.sin(signal[..., : self.outputs]) + noise


def _gru(rows: int, steps: int) -> Case:
    sizes = (100, 3), 3, (128, 128), (8, 8), rows, rows
    return Case(f"GRU, batch {rows}", *sizes, "", steps, "plasticity")


def _resnet(side: int, channels: int, width: int) -> Case:
    sizes = (side, side, channels), 1, (width, 512), (), 128, 32
    return Case(f"ResNet-10 of width {width}, {side}×{side}×{channels}", *sizes, "relu", 4, depth=10)


CONCRETE = Case("Concrete", (8,), 1, (50,), (5,), 1024, 256, "relu", 4_000)
ENERGY = Case("Energy", (8,), 1, (50,), (5,), 768, 256, "relu", 4_000)
TOY = Case("toy", (1,), 1, (256, 256), (5,), 200, 256, "tanh", 600, "toy")
IMAGES = (_resnet(64, 1, 16), _resnet(32, 3, 16), _resnet(32, 3, 32))
SMALL_IMAGES = _resnet(16, 1, 16)
CASES = (CONCRETE, ENERGY, TOY, _gru(50, 12), _gru(200, 4))
STEPS = (1, 2, 3)
