"""The multi-layer perceptron."""

import math
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Any, Literal

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from vebnn.core import prng
from vebnn.core.arguments import require_number, require_one_of, require_widths
from vebnn.core.types import Array, Key
from vebnn.networks.activations import ACTIVATIONS, activate, names_in
from vebnn.networks.scales import INPUT_SPREAD, PRIORS, MLPScales, Weights


@dataclass(frozen=True)
class MLP:
    """Recipe of a multi-layer perceptron.

    Args:
      widths: number of units of each hidden layer; empty for a linear model.
      activation: one of ``relu``, ``tanh``, ``silu``, ``gelu``, ``elu``, ``softplus``, ``sin``, or a
        mixture such as ``sin+tanh`` with half of the units each; for all hidden layers, or one each.
      dropout_rate: dropout after each hidden layer; one rate, or one per hidden layer.
      prior: ``"unit"`` (paper) is N(0, 1) on every weight. ``"learned"`` learns the scale of each
        input, and of the weights and biases of each layer, with them; see :mod:`vebnn.networks.scales`.
      linear: add a linear function of the inputs to the outputs.
      skip: connect every hidden layer to the outputs, not only the last.
      output_scale: with learned scales, the median of the prior scale of weights to the outputs. A
        small one prefers outputs that hardly depend on the inputs, unless the rows show it.
      input_spread: with learned scales, the std of the prior of an input's own part of its log-scale.
        A large one lets the scales of useless inputs become smaller.
      shared_input_spread: with learned scales, the std of the prior of the part of the log-scale that
        all inputs share; 0 for none. With it, an input needs less evidence to be useless if most are.

    With the unit prior, weights and biases start uniform in ±1/√fan_in, as in PyTorch's linear layer,
    which the paper's experiments use. With learned scales, so do the weights; biases start in ±1.

    Example:
      >>> VeBNNRegressor(network=MLP((50, 50), activation="tanh"))
    """

    widths: tuple[int, ...] = (50,)
    activation: str | tuple[str, ...] = "relu"
    dropout_rate: float | tuple[float, ...] = 0.0
    prior: Literal["unit", "learned"] = "unit"
    linear: bool = False
    skip: bool = False
    output_scale: float = 1.0
    input_spread: float = INPUT_SPREAD
    shared_input_spread: float = 0.0

    def __post_init__(self) -> None:
        # Tuples, because a recipe is part of the key of a compiled program.
        object.__setattr__(self, "widths", require_widths("MLP", self.widths, 0))
        require_one_of("prior", self.prior, PRIORS)
        require_number("output_scale", self.output_scale, 0, np.inf)
        require_number("input_spread", self.input_spread, 0, np.inf)
        require_number("shared_input_spread", self.shared_input_spread, 0, np.inf, "[)")
        for name in ("activation", "dropout_rate"):
            value = getattr(self, name)
            if isinstance(value, list):
                object.__setattr__(self, name, tuple(value))
            if len(self._by_layer(name)) != len(self.widths):
                raise ValueError(
                    f"The `{name}` of MLP must be one value or one per hidden layer "
                    f"({len(self.widths)}). Got {value!r}."
                )
        for activation in self._by_layer("activation"):
            for name in names_in(activation):
                require_one_of("activation", name, tuple(ACTIVATIONS))
        for rate in self._by_layer("dropout_rate"):
            require_number("dropout_rate", rate, 0, 1, "[)")

    def build(self, in_shape: tuple[int, ...], out_size: int, *, key: Key) -> "Perceptron":
        """Return a perceptron for inputs of ``in_shape`` (flattened) and ``out_size`` outputs."""
        num_inputs, learned = math.prod(in_shape), self.prior == "learned"
        sizes = (num_inputs, *self.widths, out_size)
        shapes = [(fan_out, fan_in) for fan_in, fan_out in pairwise(sizes)]
        # One call for all random numbers: one per array would dominate compilation.
        counts = [fan_out * (fan_in + 1) for fan_out, fan_in in shapes]
        numbers = jax.random.uniform(key, (sum(counts),), minval=-1.0, maxval=1.0)
        weights, biases = [], []
        for (fan_out, fan_in), end in zip(shapes, accumulate(counts), strict=True):
            # Learned scales have the factor 1/√fan_in in them.
            here = numbers[end - fan_out * (fan_in + 1) : end] / (1 if learned else math.sqrt(fan_in))
            weights.append(here[: fan_out * fan_in].reshape(fan_out, fan_in))
            biases.append(here[fan_out * fan_in :])
        rates = tuple(float(rate) for rate in self._by_layer("dropout_rate"))
        skips = [jnp.zeros((out_size, width)) for width in self.widths[:-1] if self.skip]
        others = self.linear + len(skips)
        spreads = float(self.input_spread), float(self.shared_input_spread)
        return Perceptron(
            weights,
            biases,
            jnp.zeros((out_size, num_inputs)) if self.linear else None,
            skips,
            MLPScales.start(num_inputs, len(shapes), others, *spreads) if learned else None,
            rates,
            self._by_layer("activation"),
            float(self.output_scale),
        )

    def _by_layer(self, name: str) -> tuple[Any, ...]:
        """Return a setting of each hidden layer."""
        value = getattr(self, name)
        return value if isinstance(value, tuple) else (value,) * len(self.widths)


class Perceptron(eqx.Module):
    """The network an :class:`MLP` recipe builds; it acts on one example."""

    weights: list[Array]  # (fan out, fan in) each
    biases: list[Array]
    linear: Array | None  # (outputs, inputs)
    skips: list[Array]  # (outputs, units) of each hidden layer but the last, or none
    scales: MLPScales | None
    dropout_rates: tuple[float, ...] = eqx.field(static=True)
    activations: tuple[str, ...] = eqx.field(static=True)
    output_scale: float = eqx.field(static=True)

    @property
    def input_scales(self) -> Array | None:
        """Learned scale of each input; None with fixed scales."""
        return None if self.scales is None else self.scales.of_inputs

    def __call__(self, x: Array, *, key: Key | None = None) -> Array:
        """Map one example to its outputs; without a key, dropout is switched off."""
        weights = Weights(self.weights, self.biases, self.linear, self.skips)
        if self.scales is not None:
            weights = self.scales.apply(weights, self.output_scale)
        *hidden, last = zip(weights.layers, weights.biases, strict=True)
        h = x = jnp.ravel(x)
        shortcut: Array | float = 0.0 if weights.linear is None else weights.linear @ x
        for index, (weight, bias) in enumerate(hidden):
            h = activate(self.activations[index], weight @ h + bias)
            rate = self.dropout_rates[index]
            if key is not None and rate:
                kept = prng.uniform(key, h.size, stream=index) >= rate
                h = jnp.where(kept, h / (1 - rate), 0.0)
            if index < len(weights.skips):
                shortcut = shortcut + weights.skips[index] @ h
        weight, bias = last
        return weight @ h + bias + shortcut
