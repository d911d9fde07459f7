"""Prior scales that are learned with the weights.

N(0, 1) on every weight is a prior of wild functions: with d inputs and layers of h units, the sums
inside the network have standard deviations of √d and √h. Here a weight is

    w = z · exp(t) / √fan_in,   times exp(s_j + m) if it belongs to input j,

and a bias is z · exp(u), with one t and one u for each layer. All inputs of a perceptron share an m if
its recipe says so: the rows then tell whether most inputs matter or few. A layer of gated recurrent
units has six t: for each of the gates r, z and n, one for the weights from below and one for those from
its state. The result of a convolution is normalised, which takes the scale of its weights away: there
exp(t) multiplies the gain that follows.

Every z, and every s, m, t and u over its spread, is N(0, 1), as the weights of a network with fixed
scales are (paper, eq. 10), so that no engine needs to know. An input without influence gets a small
exp(s_j + m) (automatic relevance determination; MacKay 1994, Neal 1996).
"""

import math
from typing import NamedTuple

import equinox as eqx
import jax.numpy as jnp

from vebnn.core.types import Array

PRIORS = ("unit", "learned")
# Standard deviations of the log-scales; that of a perceptron's inputs is an argument of its recipe.
INPUT_SPREAD, LAYER_SPREAD, BIAS_SPREAD = 1.0, 1.0, 0.5


class Weights(NamedTuple):
    """The weights of a perceptron, ``(fan out, fan in)`` each, and its biases."""

    layers: list[Array]
    biases: list[Array]
    linear: Array | None  # from the inputs to the outputs
    skips: list[Array]  # from each hidden layer but the last to the outputs


class MLPScales(eqx.Module):
    """Log-scales of a perceptron, each over its spread, so that its prior is N(0, 1)."""

    inputs: Array  # (inputs,)
    shared: Array | None  # (), of all inputs
    layers: Array  # (layers,), then one for the linear part, then one for each skip connection
    biases: Array  # (layers,)
    input_spread: float = eqx.field(static=True)
    shared_spread: float = eqx.field(static=True)

    @classmethod
    def start(
        cls,
        num_inputs: int,
        num_layers: int,
        num_others: int,
        input_spread: float,
        shared_spread: float,
    ) -> "MLPScales":
        """Return scales of one, for ``num_others`` arrays of weights beside those of the layers.

        The spreads are those of an input's log-scale and of the one that all inputs share, 0 for none.
        """
        shared = jnp.zeros(()) if shared_spread else None
        layers, biases = jnp.zeros(num_layers + num_others), jnp.zeros(num_layers)
        return cls(jnp.zeros(num_inputs), shared, layers, biases, input_spread, shared_spread)

    @property
    def of_inputs(self) -> Array:
        """Scales of the inputs, whatever axes stand before."""
        log_scales = self.input_spread * self.inputs
        if self.shared is not None:
            log_scales = log_scales + self.shared_spread * self.shared[..., None]
        return jnp.exp(log_scales)

    def apply(self, weights: Weights, output_scale: float) -> Weights:
        """Return the scaled weights; ``output_scale`` multiplies those of hidden units to outputs."""
        layers, biases, linear, skips = weights
        of_inputs = self.of_inputs[None]
        of_layers = jnp.exp(LAYER_SPREAD * self.layers)
        of_biases = jnp.exp(BIAS_SPREAD * self.biases)
        scaled = [_over_fan_in(weight, of_layers[n]) for n, weight in enumerate(layers)]
        scaled[0] = scaled[0] * of_inputs
        scaled[-1] = scaled[-1] * output_scale
        if linear is not None:
            linear = _over_fan_in(linear, of_layers[len(layers)]) * of_inputs
        first = len(of_layers) - len(skips)
        return Weights(
            scaled,
            [bias * of_biases[n] for n, bias in enumerate(biases)],
            linear,
            [
                _over_fan_in(weight, of_layers[first + n]) * output_scale
                for n, weight in enumerate(skips)
            ],
        )


class GRUScales(eqx.Module):
    """Log-scales of a stack of gated recurrent units, each over its spread: its prior is N(0, 1)."""

    inputs: Array  # (features,)
    from_below: Array  # (layers, gates)
    from_state: Array  # (layers, gates)
    outputs: Array  # ()
    biases: Array  # (layers + 1,): of each layer, and of the outputs
    linear: Array | None  # (), of the linear part

    @classmethod
    def start(cls, num_features: int, num_layers: int, *, linear: bool) -> "GRUScales":
        """Return scales of one."""
        gates, one = jnp.zeros((num_layers, 3)), jnp.zeros(())
        biases = jnp.zeros(num_layers + 1)
        return cls(jnp.zeros(num_features), gates, gates, one, biases, one if linear else None)

    def of_layer(
        self, n: int, input_weight: Array, hidden_weight: Array, bias: Array, candidate_bias: Array
    ) -> tuple[Array, Array, Array, Array]:
        """Return the scaled arrays of layer ``n``; gates stand side by side in all but the last."""
        input_weight = _scale_gates(input_weight, self.from_below[n])
        if n == 0:
            input_weight = input_weight * jnp.exp(INPUT_SPREAD * self.inputs)[:, None]
        of_bias = jnp.exp(BIAS_SPREAD * self.biases[n])
        hidden_weight = _scale_gates(hidden_weight, self.from_state[n])
        return input_weight, hidden_weight, bias * of_bias, candidate_bias * of_bias

    def of_outputs(self, weight: Array, bias: Array) -> tuple[Array, Array]:
        """Return the scaled arrays of the outputs."""
        weight = weight * (jnp.exp(LAYER_SPREAD * self.outputs) / math.sqrt(len(weight)))
        return weight, bias * jnp.exp(BIAS_SPREAD * self.biases[-1])

    def of_linear(self, weight: Array | None) -> Array | None:
        """Return the scaled weights of the linear part, ``(features, outputs)``, if there is one."""
        if weight is None or self.linear is None:
            return None
        scale = jnp.exp(LAYER_SPREAD * self.linear) / math.sqrt(len(weight))
        return weight * jnp.exp(INPUT_SPREAD * self.inputs)[:, None] * scale


class ConvolutionScales(eqx.Module):
    """Log-scales of a normalised convolution, each over its spread, so that its prior is N(0, 1)."""

    gain: Array  # ()
    bias: Array  # ()

    @classmethod
    def start(cls) -> "ConvolutionScales":
        """Return scales of one."""
        return cls(jnp.zeros(()), jnp.zeros(()))

    def apply(self, weight: Array, gain: Array, bias: Array) -> tuple[Array, Array, Array]:
        """Return the scaled arrays; the last axis of the weight is not a part of its fan-in."""
        weight = weight / math.sqrt(math.prod(weight.shape[:-1]))
        return weight, gain * jnp.exp(LAYER_SPREAD * self.gain), bias * jnp.exp(BIAS_SPREAD * self.bias)


def _over_fan_in(weight: Array, scale: Array) -> Array:
    """Scale the weights of a layer, ``(fan out, fan in)``."""
    return weight * (scale / math.sqrt(weight.shape[1]))


def _scale_gates(weight: Array, log_scales: Array) -> Array:
    """Scale the weights of each gate, ``(fan in, gates · units)``."""
    fan_in, columns = weight.shape
    factors = jnp.exp(LAYER_SPREAD * log_scales) / math.sqrt(fan_in)
    return weight * jnp.repeat(factors, columns // 3, total_repeat_length=columns)[None]
