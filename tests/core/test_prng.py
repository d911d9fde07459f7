import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.random import threefry_2x32
from scipy import stats

from vebnn.core.prng import split, standard_normal, threefry, uniform

normal = jax.jit(standard_normal, static_argnums=1)


def test_equals_the_threefry_of_jax(rng: np.random.Generator) -> None:
    for seed in range(3):
        key_data = jax.random.key_data(jax.random.key(seed * 12_345_678_901 % 2**32))
        counters = rng.integers(0, 2**32, (2, 100), dtype=np.uint32)
        ours = threefry(key_data, (jnp.asarray(counters[0]), jnp.asarray(counters[1])))
        # JAX takes both halves as one array.
        theirs = threefry_2x32(key_data, jnp.asarray(counters.ravel()))
        np.testing.assert_array_equal(np.concatenate(ours), theirs)


def test_is_standard_normal(key: jax.Array) -> None:
    size = 200_000
    sample = np.asarray(normal(key, size), float)
    assert np.isfinite(sample).all()
    assert stats.kstest(sample, "norm").pvalue > 1e-3
    # Four standard errors of each moment.
    assert abs(sample.mean()) < 4 / np.sqrt(size)
    assert abs(sample.var() - 1) < 4 * np.sqrt(2 / size)
    assert abs((sample**3).mean()) < 4 * np.sqrt(15 / size)
    assert abs((sample**4).mean() - 3) < 4 * np.sqrt(96 / size)


def test_neighbours_are_independent(key: jax.Array) -> None:
    sample = np.asarray(normal(key, 100_000))
    for lag in (1, 2, 1_000):
        assert abs(np.corrcoef(sample[:-lag], sample[lag:])[0, 1]) < 4 / np.sqrt(100_000)


def test_keys_are_independent(key: jax.Array) -> None:
    samples = [np.asarray(normal(one, 50_000)) for one in jax.random.split(key, 3)]
    correlations = np.corrcoef(samples)[np.triu_indices(3, 1)]
    assert (np.abs(correlations) < 4 / np.sqrt(50_000)).all()


def test_across_keys_each_place_is_normal(key: jax.Array) -> None:
    # A sampler takes a few numbers from each of very many keys.
    by_key = jax.jit(jax.vmap(lambda one: standard_normal(one, 3)))(jax.random.split(key, 50_000))
    for place in range(3):
        assert stats.kstest(np.asarray(by_key[:, place], float), "norm").pvalue > 1e-3
    correlations = np.corrcoef(np.asarray(by_key).T)[np.triu_indices(3, 1)]
    assert (np.abs(correlations) < 4 / np.sqrt(50_000)).all()


def test_same_key_same_numbers(key: jax.Array) -> None:
    np.testing.assert_array_equal(normal(key, 10), normal(key, 10))
    np.testing.assert_array_equal(normal(key, 10), normal(key, 20)[:10])
    # One piece, two and three: the numbers depend on their place alone.
    np.testing.assert_array_equal(normal(key, 900), normal(key, 5_001)[:900])
    np.testing.assert_array_equal(normal(key, 5_001), normal(key, 9_000)[:5_001])


def test_uniform_numbers_of_every_key_and_stream(key: jax.Array) -> None:
    def streams(one: jax.Array) -> jax.Array:
        return jnp.stack([uniform(one, 4, stream) for stream in (0, 1)])

    sample = np.asarray(jax.jit(jax.vmap(streams))(split(key, 20_000)), float).reshape(-1, 8)
    assert 0 <= sample.min() < 1e-4
    assert 1 - 1e-4 < sample.max() < 1
    for place in sample.T:
        assert stats.kstest(place, "uniform").pvalue > 1e-3
    correlations = np.corrcoef(sample.T)[np.triu_indices(8, 1)]
    assert (np.abs(correlations) < 4 / np.sqrt(20_000)).all()


def test_split_keys_are_new_and_differ(key: jax.Array) -> None:
    keys = np.asarray(jax.random.key_data(split(key, 1_000)))
    assert len(np.unique(np.vstack([keys, jax.random.key_data(key)[None]]), axis=0)) == 1_001
    np.testing.assert_array_equal(keys[:10], jax.random.key_data(split(key, 10)))
