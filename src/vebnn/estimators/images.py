"""Defaults for images: lengths that follow the cost of the network."""

from typing import Any, NamedTuple

from vebnn.inference import Engine
from vebnn.inference.engine import Budget
from vebnn.networks.cost import forward_operations
from vebnn.training import Training

OPERATIONS = 4e12  # of Step 1, forwards, for one network; about ten minutes of one core
FEWEST_EPOCHS, MOST_EPOCHS = 20, 100
BATCH_SIZE = 32  # the paper's
LEARNING_RATE = 1e-3  # the paper's
NUM_FOLDS = 3  # each is a network to train
NUM_CHAINS = NUM_FOLDS + 1  # one from each network of Step 1
NUM_SAMPLES = 10  # of each chain; the paper's


class ImageLengths(NamedTuple):
    """How long to train and to sample."""

    mean_training: Training
    variance_training: Training
    chains: dict[str, int]

    @classmethod
    def of_epochs(cls, num_epochs: int) -> "ImageLengths":
        """Return lengths in the proportions of the paper: 75, 20 and 40 epochs."""
        fewer = max(num_epochs // 4, 1)
        common = {"batch_size": BATCH_SIZE, "learning_rate": LEARNING_RATE}
        thinning = max(num_epochs // 40, 1)
        return cls(
            mean_training=Training(num_epochs, patience=fewer, **common),  # type: ignore[arg-type]
            variance_training=Training(fewer, **common),  # type: ignore[arg-type]
            chains={
                "num_samples": NUM_SAMPLES,
                "burn_in": fewer,
                "thinning": thinning,
                "num_chains": NUM_CHAINS,
                "batch_size": BATCH_SIZE,
            },
        )

    @classmethod
    def of(cls, network: Any, in_shape: tuple[int, ...], num_rows: int) -> "ImageLengths":
        """Return lengths for a network and a number of images: as long as is affordable.

        A network that is too costly for the fewest epochs gets these all the same.
        """
        cost = forward_operations(network, in_shape, 1) * num_rows
        return cls.of_epochs(min(max(round(OPERATIONS / cost), FEWEST_EPOCHS), MOST_EPOCHS))

    def engine(self, kind: type[Engine]) -> Engine:
        """Return an engine with these lengths."""
        return kind.for_budget(Budget(self.mean_training, self.chains, self.mean_training))

    def training(self, name: str) -> Training:
        """Return the training that is an argument of this name."""
        return self.variance_training if name == "variance_training" else self.mean_training
