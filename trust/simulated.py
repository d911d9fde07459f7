"""Models whose parameters and data are simulated: a linear one, and a network of two layers."""

from collections.abc import Callable
from typing import NamedTuple

import jax
import numpy as np

from vebnn.core.types import Array, Key, NoisyDataset
from vebnn.inference import Problem
from vebnn.likelihoods.log_likelihoods import GaussianNoiseGiven, IsotropicPrior
from vebnn.networks import MLP, Network, build_networks
from vebnn.training import Objective

OBJECTIVE = Objective(GaussianNoiseGiven(), IsotropicPrior(np.float32(1)))


class Model(NamedTuple):
    """Fixed inputs, known noise, and a prior N(0, 1) on every weight."""

    recipe: MLP
    x: np.ndarray  # (rows, inputs)
    noise_std: float
    places: np.ndarray  # (places, inputs): where predictions are compared
    combine: Callable[[np.ndarray], np.ndarray]  # (..., places) → (..., quantities)

    def initialise(self, keys: Key) -> Network:
        """Return fresh networks, one per key."""
        return build_networks(self.recipe, self.x.shape[1:], 1, keys)

    def draw_prior(self, key: Key, num: int) -> Network:
        """Return networks with weights from the prior, stacked."""
        shapes = self.initialise(jax.random.split(jax.random.key(0), num))
        leaves, tree = jax.tree.flatten(shapes)
        keys = jax.random.split(key, len(leaves))
        drawn = [jax.random.normal(one, leaf.shape) for one, leaf in zip(keys, leaves, strict=True)]
        return jax.tree.unflatten(tree, drawn)

    def outputs(self, network: Network) -> Array:
        """Return the outputs of one network at the rows, then at the places."""
        return jax.vmap(network)(np.concatenate([self.x, self.places]))[:, 0]

    def data(self, target: Array) -> NoisyDataset:
        """Return the rows with these targets."""
        ones = np.ones((len(self.x), 1), np.float32)
        return NoisyDataset(self.x, target[:, None], ones, self.noise_std**2 * ones)

    def simulate(self, key: Key) -> tuple[np.ndarray, NoisyDataset]:
        """Draw weights from the prior, and data from them; return the true outputs, and the data."""
        key_weights, key_noise = jax.random.split(key)
        truth = jax.tree.map(lambda leaf: leaf[0], self.draw_prior(key_weights, 1))
        outputs = np.asarray(self.outputs(truth))
        noise = self.noise_std * jax.random.normal(key_noise, (len(self.x),))
        return outputs, self.data(outputs[: len(self.x)] + np.asarray(noise))

    def problem(self, key: Key, data: NoisyDataset, num_starts: int, prior: bool = True) -> Problem:
        """Return the posterior to explore; chains start at draws from the prior, or fresh networks."""
        if prior:
            starts = self.draw_prior(key, num_starts)
        else:
            starts = self.initialise(jax.random.split(key, num_starts))
        validation_rows = np.arange(0, len(self.x), 5)
        return Problem(OBJECTIVE, data, self.initialise, starts, validation_rows)

    def quantities(self, outputs: np.ndarray, data: NoisyDataset) -> np.ndarray:
        """Return the quantities to rank, ``(..., quantities)``; the last is the log-likelihood.

        Weights of a network are not among them: units can be exchanged, and signs.
        """
        here, there = np.split(outputs.astype(float), [len(self.x)], axis=-1)
        misfit = ((here - data.target[:, 0]) ** 2).sum(-1, keepdims=True)
        return np.concatenate([self.combine(there), -misfit / 2 / self.noise_std**2], -1)


def _weights_and_predictions(outputs: np.ndarray) -> np.ndarray:
    """Return intercept, slopes and predictions from the outputs at 0, the unit vectors and others."""
    slopes = outputs[..., 1:3] - outputs[..., :1]
    return np.concatenate([outputs[..., :1], slopes, outputs[..., 3:]], -1)


def _inputs(num_rows: int, num_inputs: int) -> np.ndarray:
    return np.random.default_rng(0).standard_normal((num_rows, num_inputs)).astype(np.float32)


LINEAR = Model(
    recipe=MLP(()),
    x=_inputs(20, 2),
    noise_std=0.5,
    places=np.array([[0, 0], [1, 0], [0, 1], [2, -2], [1, 3]], np.float32),
    combine=_weights_and_predictions,
)
NETWORK = Model(
    recipe=MLP((5,), "tanh"),  # 21 weights
    x=_inputs(15, 2),
    noise_std=1.0,
    places=np.array([[0, 0], [1, -1], [-1, -1], [3, 3]], np.float32),
    combine=lambda outputs: outputs,
)
MODELS = {"linear": LINEAR, "network": NETWORK}
