"""Joint networks without a shared trunk: a second network, or constants, for the noise."""

import equinox as eqx
import jax
import jax.numpy as jnp

from vebnn.core.types import Array, Key, Module, Recipe
from vebnn.networks.adapters import as_recipe

# These recipes are modules: a network of the user's own holds arrays, which are inputs of a compiled
# program.


class Separate(eqx.Module):
    """Recipe of two networks side by side: one for the mean, one for the rest."""

    mean: Recipe = eqx.field(converter=as_recipe)  # for the first of the parts
    rest: Recipe = eqx.field(converter=as_recipe)  # for the others
    parts: int  # how many numbers describe one target

    def build(self, in_shape: tuple[int, ...], out_size: int, *, key: Key) -> Module:
        """Return both networks as one."""
        key_mean, key_rest = jax.random.split(key)
        first = out_size // self.parts
        return _SideBySide(
            self.mean.build(in_shape, first, key=key_mean),
            self.rest.build(in_shape, out_size - first, key=key_rest),
        )


class ConstantRest(eqx.Module):
    """Recipe of a network for the mean, with one constant for each of the other parts."""

    mean: Recipe = eqx.field(converter=as_recipe)  # for the first of the parts
    parts: int  # how many numbers describe one target

    def build(self, in_shape: tuple[int, ...], out_size: int, *, key: Key) -> Module:
        """Return the network and its constants, which start at zero."""
        first = out_size // self.parts
        network = self.mean.build(in_shape, first, key=key)
        return _SideBySide(network, _Constant(jnp.zeros(out_size - first)))


class _Constant(eqx.Module):
    value: Array

    def __call__(self, x: Array, *, key: Key | None = None) -> Array:
        return self.value


class _SideBySide(eqx.Module):
    mean: Module
    rest: Module

    def __call__(self, x: Array, *, key: Key | None = None) -> Array:
        """Map one example to the outputs of both, along the last axis."""
        key_mean, key_rest = (None, None) if key is None else jax.random.split(key)
        mean, rest = self.mean(x, key=key_mean), self.rest(x, key=key_rest)
        # A constant has no time axis: it is repeated along that of the mean.
        rest = jnp.broadcast_to(rest, (*mean.shape[:-1], rest.shape[-1]))
        return jnp.concatenate([mean, rest], axis=-1)
