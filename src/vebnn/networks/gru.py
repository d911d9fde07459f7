"""Gated recurrent units, for sequences: an output at every step, from all steps up to it."""

import math
from dataclasses import dataclass
from itertools import accumulate
from typing import ClassVar, Literal

import equinox as eqx
import jax
import jax.numpy as jnp

from vebnn.core.arguments import require_number, require_one_of, require_widths
from vebnn.core.types import Array, Key
from vebnn.networks.scales import PRIORS, GRUScales


@dataclass(frozen=True)
class GRU:
    """Recipe of a stack of gated recurrent units (Cho et al. 2014), sequence to sequence.

    Every step of every layer goes by, with σ the logistic function,

        r = σ(W_r x + b_r + U_r h),   z = σ(W_z x + b_z + U_z h),
        n = tanh(W_n x + b_n + r (U_n h + c_n)),   h ← (1 − z) n + z h,

    from h = 0; a linear layer turns the last h of the stack into outputs. The reset gate r acts after
    the product with U_n, as in PyTorch and cuDNN, which the paper's experiments use.

    An output depends on no later step, so that padding at the end of a sequence changes nothing.

    Args:
      widths: number of units of each layer.
      dropout_rate: dropout between the last layer and the outputs, as in the paper. One mask serves
        all steps of a sequence (Gal and Ghahramani 2016b), so that a draw of MC dropout is as smooth
        as the network.
      prior: ``"unit"`` (paper) is N(0, 1) on every weight. ``"learned"`` learns the scales of each
        input, of each gate's weights, and of each layer's biases with them; see
        :mod:`vebnn.networks.scales`.
      linear: add a linear function of the step's inputs to the outputs. Without it, the gates delay
        the answer to every input, and the first outputs of a sequence are hardly free to move.

    Weights and biases start uniform in ±1/√units, as in PyTorch, with either prior.

    Example:
      >>> VeBNNRegressor(network=GRU((128, 128)), variance_network=GRU((8, 8)))
    """

    widths: tuple[int, ...] = (64, 64)
    dropout_rate: float = 0.0
    prior: Literal["unit", "learned"] = "unit"
    linear: bool = False

    any_length: ClassVar[bool] = True  # new sequences may have another length

    def __post_init__(self) -> None:
        # A tuple, because a recipe is part of the key of a compiled program.
        object.__setattr__(self, "widths", require_widths("GRU", self.widths, 1))
        require_number("dropout_rate", self.dropout_rate, 0, 1, "[)")
        require_one_of("prior", self.prior, PRIORS)

    def build(self, in_shape: tuple[int, ...], out_size: int, *, key: Key) -> "RecurrentNetwork":
        """Return a network from ``(time, features)`` to ``(time, out_size)``.

        Raises:
          ValueError: if one example is no sequence.
        """
        if len(in_shape) != 2:
            raise ValueError(
                f"A GRU takes sequences: X of shape (rows, time, features). Got examples of shape "
                f"{in_shape}; for a table use MLP((50,)), for one feature over time X[..., None]."
            )
        sizes = (in_shape[-1], *self.widths)
        shapes: list[tuple[int, ...]] = []
        for fan_in, width in zip(sizes, self.widths, strict=False):
            shapes += [(fan_in, 3 * width), (width, 3 * width), (3 * width,), (width,)]
        shapes += [(self.widths[-1], out_size), (out_size,)]
        units = [width for width in self.widths for _ in range(4)] + [self.widths[-1]] * 2
        # One call for all random numbers: one per array would dominate compilation.
        counts = [math.prod(shape) for shape in shapes]
        numbers = jax.random.uniform(key, (sum(counts),), minval=-1.0, maxval=1.0)
        arrays = [
            numbers[end - math.prod(shape) : end].reshape(shape) / math.sqrt(width)
            for shape, width, end in zip(shapes, units, accumulate(counts), strict=True)
        ]
        scales = None
        if self.prior == "learned":
            # Learned scales have the factor 1/√fan_in in them.
            arrays = [array * math.sqrt(len(array)) if array.ndim == 2 else array for array in arrays]
            scales = GRUScales.start(in_shape[-1], len(self.widths), linear=self.linear)
        layers = [Layer(*arrays[4 * n : 4 * n + 4]) for n in range(len(self.widths))]
        output_weight, output_bias = arrays[-2:]
        dropout = eqx.nn.Dropout(float(self.dropout_rate))
        linear = jnp.zeros((in_shape[-1], out_size)) if self.linear else None
        return RecurrentNetwork(layers, output_weight, output_bias, linear, scales, dropout)


class Layer(eqx.Module):
    """One layer: W, U and b of the three gates r, z and n side by side, and c_n."""

    input_weight: Array  # (features, 3 · units)
    hidden_weight: Array  # (units, 3 · units)
    bias: Array  # (3 · units,)
    candidate_bias: Array  # (units,)

    def __call__(self, x: Array, state: Array) -> Array:
        """Return the next state from one step's features and the state before."""
        reset, update, candidate = jnp.split(x @ self.input_weight + self.bias, 3)
        to_reset, to_update, to_candidate = jnp.split(state @ self.hidden_weight, 3)
        reset = jax.nn.sigmoid(reset + to_reset)
        update = jax.nn.sigmoid(update + to_update)
        candidate = jnp.tanh(candidate + reset * (to_candidate + self.candidate_bias))
        return candidate + update * (state - candidate)


class RecurrentNetwork(eqx.Module):
    """The network a :class:`GRU` recipe builds; it acts on one sequence."""

    layers: list[Layer]
    output_weight: Array  # (units, outputs)
    output_bias: Array
    linear: Array | None  # (features, outputs)
    scales: GRUScales | None
    dropout: eqx.nn.Dropout

    def __call__(self, x: Array, *, key: Key | None = None) -> Array:
        """Map ``(time, features)`` to ``(time, outputs)``; without a key, dropout is switched off."""
        layers, linear = self.layers, self.linear
        weight, bias = self.output_weight, self.output_bias
        if self.scales is not None:
            # Before the loop over time: once for a network.
            layers = [
                Layer(*self.scales.of_layer(n, *jax.tree.leaves(layer)))
                for n, layer in enumerate(layers)
            ]
            weight, bias = self.scales.of_outputs(weight, bias)
            linear = self.scales.of_linear(linear)
        states = _last_states(layers, x)
        if key is not None:
            states = states * self.dropout(jnp.ones_like(states[:1]), key=key)
        outputs = states @ weight + bias[None]
        return outputs if linear is None else outputs + x @ linear


def _last_states(layers: list[Layer], x: Array) -> Array:
    """Return the states of the last layer, ``(time, units)``.

    All layers advance in time together. One product with all inputs before the loop would be
    slower: its result does not fit into a CPU's cache.
    """

    def step(states: list[Array], below: Array) -> tuple[list[Array], Array]:
        new = []
        for layer, state in zip(layers, states, strict=True):
            below = layer(below, state)
            new.append(below)
        return new, below

    start = [jnp.zeros_like(layer.candidate_bias) for layer in layers]
    return jax.lax.scan(step, start, x)[1]
