"""Convolutions and their derivatives, against XLA's own."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from vebnn.networks import convolution
from vebnn.networks.convolution import convolve

# Size of the kernel, stride, height, width, channels in and out.
SHAPES = [
    (3, 1, 8, 6, 9, 5),  # two pixels are channels of one result
    (3, 1, 5, 8, 3, 5),  # four pixels
    (3, 1, 6, 7, 9, 5),  # pixels that cannot be put together
    (3, 1, 4, 6, 9, 32),  # many channels
    (3, 2, 8, 6, 9, 5),
    (3, 2, 7, 9, 9, 5),  # odd sides
    (3, 2, 1, 1, 9, 5),  # smaller than the kernel
    (7, 2, 11, 14, 1, 5),
    (1, 2, 5, 4, 9, 5),
]


@pytest.fixture(params=SHAPES, ids=str)
def case(request: pytest.FixtureRequest, rng: np.random.Generator):
    size, stride, *image, channels, channels_out = request.param
    x = jnp.asarray(rng.normal(size=(4, *image, channels)), jnp.float32)
    weight = jnp.asarray(rng.normal(size=(size, size, channels, channels_out)), jnp.float32)

    def own(x, weight):
        return jax.vmap(lambda image: convolve(image, weight, stride))(x)

    def of_xla(x, weight):
        padding, axes = [(size // 2,) * 2] * 2, ("NHWC", "HWIO", "NHWC")
        return jax.lax.conv_general_dilated(
            x, weight, (stride, stride), padding, dimension_numbers=axes, precision="highest"
        )

    return own, of_xla, x, weight


def close(mine, theirs) -> None:
    for one, other in zip(jax.tree.leaves(mine), jax.tree.leaves(theirs), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-4)


def test_values_and_gradients(case, rng: np.random.Generator) -> None:
    own, of_xla, x, weight = case
    shape = jax.eval_shape(of_xla, x, weight).shape
    cotangent = rng.normal(size=shape).astype(np.float32)

    def both(convolution):
        value, pull_back = jax.vjp(convolution, x, weight)
        return value, pull_back(cotangent)

    close(jax.jit(both, static_argnums=0)(own), jax.jit(both, static_argnums=0)(of_xla))


def test_directional_derivatives(case, rng: np.random.Generator) -> None:
    own, of_xla, x, weight = case
    tangents = tuple(rng.normal(size=each.shape).astype(np.float32) for each in (x, weight))
    derivative = jax.jit(lambda some: jax.jvp(some, (x, weight), tangents), static_argnums=0)
    close(derivative(own), derivative(of_xla))


def test_gradients_of_each_image_and_of_each_network(case) -> None:
    own, of_xla, x, weight = case
    weights = jnp.stack([weight, -2 * weight])

    def of_all(convolution):
        square = lambda weight, x: jnp.sum(convolution(x[None], weight) ** 2) / 100  # noqa: E731
        of_images = jax.vmap(jax.grad(square), (None, 0))
        return jax.vmap(of_images, (0, None))(weights, x)

    of_all = jax.jit(of_all, static_argnums=0)
    close(of_all(own), of_all(of_xla))


def test_second_derivatives(case, rng: np.random.Generator) -> None:
    own, of_xla, x, weight = case
    tangents = tuple(rng.normal(size=each.shape).astype(np.float32) for each in (x, weight))

    def along(convolution):
        square = lambda x, weight: jnp.sum(convolution(x, weight) ** 2) / 100  # noqa: E731
        return jax.jvp(jax.grad(square, (0, 1)), (x, weight), tangents)

    close(jax.jit(along, static_argnums=0)(own), jax.jit(along, static_argnums=0)(of_xla))


def of_batch(num_images: int, rng: np.random.Generator):
    x = rng.normal(size=(num_images, 8, 8, 9)).astype(np.float32)
    weight = rng.normal(size=(3, 3, 9, 5)).astype(np.float32)

    def loss(weight):
        return jnp.sum(jax.vmap(lambda image: convolve(image, weight, 1))(x) ** 2)

    return jax.grad(loss), weight


def products_in(jaxpr) -> list:
    found = [one for one in jaxpr.eqns if one.primitive.name == "dot_general"]
    for one in jaxpr.eqns:
        if one.primitive.name in ("scan", "jit", "pjit"):
            found += products_in(one.params["jaxpr"].jaxpr)
    return found


@pytest.mark.parametrize("in_cache", [1, 4 * 64 * 81, 10**9])
def test_groups_of_images(
    in_cache: int, monkeypatch: pytest.MonkeyPatch, rng: np.random.Generator
) -> None:
    # 10 images: one by one; two groups of four and a rest; all at once.
    gradient, weight = of_batch(10, rng)
    expected = gradient(weight)
    monkeypatch.setattr(convolution, "IN_CACHE", in_cache)
    close(gradient(weight), expected)


def test_the_gradient_of_a_batch_has_no_axis_of_images(
    monkeypatch: pytest.MonkeyPatch, rng: np.random.Generator
) -> None:
    # One gradient for each image, added up, would be a batch of small products; the pixels around the
    # results of all images would not fit in the cache.
    monkeypatch.setattr(convolution, "IN_CACHE", 3 * 64 * 81)
    gradient, weight = of_batch(6, rng)
    products = products_in(jax.make_jaxpr(gradient)(weight).jaxpr)
    assert products
    for one in products:
        assert one.outvars[0].aval.shape in ((5, 81), (81, 5))
        assert max(each.aval.size for each in one.invars) <= 3 * 64 * 81
