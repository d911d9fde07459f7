"""Adapters for other networks: Equinox, Flax (NNX and Linen) and plain ``(init, apply)`` pairs.

All become recipes. An initialised network (an Equinox or NNX module) is a sample of its own
initialisation: each further copy gets the same values, permuted within every array. Constant arrays
(zero biases, unit gains) do not change.
"""

import inspect
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp

from vebnn.core.types import Array, Key, Module, Params, Recipe


def as_recipe(network: Any) -> Recipe:
    """Return a recipe for a network of the user's.

    Raises:
      TypeError: if it is none of the kinds this module knows.
    """
    if hasattr(network, "build"):
        return network
    if isinstance(network, eqx.Module):
        return FromEquinox(network)
    if isinstance(network, tuple | list) and len(network) == 2 and all(map(callable, network)):
        return FromPair(*network)
    # A Flax module implies that Flax is imported already; otherwise it is not needed.
    if (linen := sys.modules.get("flax.linen")) and isinstance(network, linen.Module):
        return FromLinen(network)
    if (nnx := sys.modules.get("flax.nnx")) and isinstance(network, nnx.Module):
        return FromNNX(network)
    raise TypeError(
        f"The `network` must be a recipe such as MLP((50,)), an Equinox module, a Flax module or an "
        f"(init, apply) pair. Got {type(network).__name__}."
    )


class FromEquinox(eqx.Module):
    """An Equinox module that acts on one example, with or without a ``key`` argument."""

    module: Any

    def build(self, in_shape: tuple[int, ...], out_size: int, *, key: Key) -> Module:
        """Return the module with its weights permuted."""
        params, rest = eqx.partition(self.module, eqx.is_inexact_array)
        return _Keyed(eqx.combine(_permuted(params, key), rest), _takes_key(self.module))


class _Keyed(eqx.Module):
    """A module with an optional ``key``, also if its own call has none."""

    module: Callable
    takes_key: bool = eqx.field(static=True)

    def __call__(self, x: Array, *, key: Key | None = None) -> Array:
        if not self.takes_key:
            return self.module(x)
        module = eqx.nn.inference_mode(self.module) if key is None else self.module
        return module(x, key=key)

    @property
    def head(self) -> Callable:
        """The module's head, if it has one."""
        return self.module.head  # type: ignore[attr-defined]

    def features(self, x: Array) -> Array:
        """Map one example to what the head sees."""
        return self.module.features(x)  # type: ignore[attr-defined]


@dataclass(frozen=True)
class FromPair:
    """``init(key, x) -> params`` and ``apply(params, x) -> y`` on one example ``x``."""

    init: Callable[[Key, Array], Params]
    apply: Callable[..., Array]

    def build(self, in_shape: tuple[int, ...], out_size: int, *, key: Key) -> Module:
        """Return the pair as a module."""
        params = self.init(key, jnp.zeros(in_shape))
        return _Pair(params, self.apply, _takes_key(self.apply))


class _Pair(eqx.Module):
    params: Params
    apply: Callable = eqx.field(static=True)
    takes_key: bool = eqx.field(static=True)

    def __call__(self, x: Array, *, key: Key | None = None) -> Array:
        extra = {"key": key} if self.takes_key else {}
        return self.apply(self.params, x, **extra)


@dataclass(frozen=True)
class FromLinen:
    """A Flax Linen module that acts on one example; a key is its ``dropout`` stream."""

    module: Any

    def build(self, in_shape: tuple[int, ...], out_size: int, *, key: Key) -> Module:
        """Return the module with fresh parameters."""
        variables = self.module.init(key, jnp.zeros(in_shape))
        _refuse_state(set(variables) - {"params"})
        return _Linen(variables["params"], self.module)


class _Linen(eqx.Module):
    params: Params
    module: Any = eqx.field(static=True)

    def __call__(self, x: Array, *, key: Key | None = None) -> Array:
        rngs = None if key is None else {"dropout": key}
        return self.module.apply({"params": self.params}, x, rngs=rngs)


class FromNNX(eqx.Module):
    """A Flax NNX module that acts on one example; dropout is on only while training."""

    params: Params
    streams: Any
    graph: Any = eqx.field(static=True)

    def __init__(self, module: Any) -> None:
        from flax import nnx

        parts: Any = nnx.split(module, nnx.Param, nnx.RngState, ...)
        self.graph, params, streams, rest = parts
        _refuse_state(set(rest))
        self.params, self.streams = nnx.to_pure_dict(params), nnx.to_pure_dict(streams)

    def build(self, in_shape: tuple[int, ...], out_size: int, *, key: Key) -> Module:
        """Return the module with its weights permuted."""
        return _NNX(_permuted(self.params, key), self.streams, self.graph)


class _NNX(eqx.Module):
    params: Params
    streams: Any
    graph: Any = eqx.field(static=True)

    def __call__(self, x: Array, *, key: Key | None = None) -> Array:
        from flax import nnx

        model = nnx.merge(self.graph, nnx.State(self.params), nnx.State(self.streams))
        if key is None:
            model.eval()
        else:
            model.train()
            key_default, key_dropout = jax.random.split(key)
            nnx.reseed(model, default=key_default, dropout=key_dropout)
        return model(x)


def _permuted(params: Params, key: Key) -> Params:
    leaves, structure = jax.tree.flatten(params)
    keys = jax.random.split(key, max(len(leaves), 1))
    shuffled = [
        jax.random.permutation(key_leaf, leaf.ravel()).reshape(leaf.shape)
        for key_leaf, leaf in zip(keys, leaves, strict=False)
    ]
    return jax.tree.unflatten(structure, shuffled)


def _takes_key(function: Callable) -> bool:
    return "key" in inspect.signature(function).parameters


def _refuse_state(kinds: set[str]) -> None:
    if kinds:
        raise ValueError(
            f"The `network` must hold nothing but weights: {sorted(kinds)} ties examples together "
            f"(batch normalisation?). Use layer or group normalisation instead."
        )
