"""Fast random numbers for every training step: Langevin noise and dropout masks.

On a CPU, JAX compiles its Threefry generator to a loop of small kernels that takes longer than the
gradient of a small network. The same generator written elementwise is fused into the update.
"""

import jax
import jax.numpy as jnp

from vebnn.core.types import Array, Key

# Threefry-2x32 with 20 rounds (Salmon et al. 2011, Table 2 and Section 4.2).
_ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
_PARITY = 0x1BD11BDA

_ONE_THREAD = 1_000  # numbers; XLA estimates 200 cycles each, and splits work above 200,000 cycles
_PIECE = 4_096


def threefry(key_data: Array, counters: tuple[Array, Array]) -> tuple[Array, Array]:
    """Encrypt two arrays of 32-bit counters with a key of two 32-bit words, elementwise."""
    words = (key_data[0], key_data[1], key_data[0] ^ key_data[1] ^ jnp.uint32(_PARITY))
    a, b = counters[0] + words[0], counters[1] + words[1]
    for group in range(5):
        for turn in _ROTATIONS[group % 2]:
            a = a + b
            b = (b << jnp.uint32(turn)) | (b >> jnp.uint32(32 - turn))
            b = a ^ b
        a = a + words[(group + 1) % 3]
        b = b + words[(group + 2) % 3] + jnp.uint32(group + 1)
    return a, b


def split(key: Key, num: int) -> Key:
    """Return ``num`` independent keys."""
    counter = jnp.arange(num, dtype=jnp.uint32)
    # The second counter is at its maximum, which no stream of `uniform` reaches.
    words = threefry(jax.random.key_data(key), (counter, jnp.full_like(counter, 2**32 - 1)))
    return jax.random.wrap_key_data(jnp.stack(words, axis=-1))


def uniform(key: Key, size: int, stream: int = 0) -> Array:
    """Return ``size`` independent numbers, uniform in [0, 1), different in every stream of a key."""
    counter = jnp.arange(size, dtype=jnp.uint32)
    bits, _ = threefry(jax.random.key_data(key), (counter, jnp.full_like(counter, stream)))
    return (bits >> jnp.uint32(8)).astype(jnp.float32) * 2.0**-24


def standard_normal(key: Key, size: int) -> Array:
    """Return ``size`` independent standard normal numbers."""
    if size <= _ONE_THREAD:
        return _normals(key, jnp.arange(size, dtype=jnp.uint32))
    # XLA would split longer work over several threads. Every core already has its own run, so threads
    # would wait for each other and double the time of a step. XLA does not split a loop.
    num_pieces = max(2, -(-size // _PIECE))
    counter = jnp.arange(num_pieces * -(-size // num_pieces), dtype=jnp.uint32)
    pieces = jax.lax.map(lambda piece: _normals(key, piece), counter.reshape(num_pieces, -1))
    return pieces.ravel()[:size]


def _normals(key: Key, counter: Array) -> Array:
    # The second word is not used: concatenating both would prevent fusion.
    bits, _ = threefry(jax.random.key_data(key), (counter, jnp.zeros_like(counter)))
    # The 23 high bits at the centres of their cells: symmetric, and never exactly ±1.
    cell = (bits >> jnp.uint32(9)).astype(jnp.float32)
    return jnp.sqrt(2.0) * jax.lax.erf_inv((cell + 0.5) * 2.0**-22 - 1.0)
