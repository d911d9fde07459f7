"""The rows of one fit: training rows, their folds, held-out rows and probes."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import jax
import numpy as np

from vebnn.core.types import Dataset, Key, SomeDataset
from vebnn.inference import Engine, Posterior
from vebnn.inference.evaluation import mask_padding, probe_rows
from vebnn.networks import Network
from vebnn.strategies.contract import Rows, Shapes
from vebnn.training import Split, split_rows
from vebnn.training.streaming import on_host


class Keys(NamedTuple):
    """A random key for every purpose and round."""

    key: Key
    purposes: tuple[str, ...]

    def __call__(self, purpose: str, number: int = 0) -> Key:
        """Return the key of a purpose in a round."""
        place = number * len(self.purposes) + self.purposes.index(purpose)
        return jax.random.fold_in(self.key, np.uint32(place))


@dataclass(frozen=True, eq=False)
class FitData:
    """Rows, and which run trains on which of them."""

    data: Dataset  # training rows
    held_out: Dataset | None  # never trained on; their numbers follow those of the training rows
    split: Split
    shapes: Shapes
    groups: np.ndarray | None = None  # of each training row; None if every row is a group

    @classmethod
    def make(cls, key: Key, settings: Any, rows: Rows, num_folds: int = 0) -> "FitData":
        """Split the rows at random, in whole groups; never into more folds than groups."""
        data, held_out, groups = rows
        num_rows = len(data.x)
        num_groups = num_rows if groups is None else int(groups.max()) + 1
        extra = None if held_out is None else num_rows + np.arange(len(held_out.x))
        rng = np.random.default_rng(np.asarray(jax.random.key_data(key)))
        # One fold would leave its network nothing to train on.
        num_folds = min(num_folds, num_groups) if min(num_folds, num_groups) > 1 else 0
        split = split_rows(rng, num_rows, num_folds, settings.validation_fraction, extra, groups)
        return cls(data, held_out, split, Shapes.of(data), groups)

    @property
    def num_folds(self) -> int:
        """Number of folds."""
        return len(self.split.train_rows) - 1

    @cached_property
    def probe_rows(self) -> np.ndarray:
        """Numbers of the training rows at which draws are evaluated for scores and diagnostics."""
        return probe_rows(self.data)

    @cached_property
    def probes(self) -> Dataset:
        """These rows."""
        return on_host(self.data, self.probe_rows)

    def check(self, engine: Engine, networks: Network) -> None:
        """Refuse, before any training, a network that the engine cannot use."""
        engine.check(first(networks), self.probes.x)

    def probe_of(self, posterior: Posterior, means: np.ndarray) -> np.ndarray:
        """Arrange the pooled draws' means at the probes by chains, with NaN in padding."""
        means = mask_padding(means, self.probes.weight)
        return means.reshape(posterior.trace.shape[0], -1, *means.shape[1:])


def appended(data: SomeDataset, held_out: SomeDataset | None) -> SomeDataset:
    """Append held-out rows, which early stopping may then watch by their numbers."""
    if held_out is None:
        return data
    return jax.tree.map(lambda *leaves: np.concatenate(leaves), data, held_out)


def first(stacked: Network) -> Network:
    """Return the first of some stacked networks."""
    return jax.tree.map(lambda leaf: leaf[0], stacked)
