"""The paper's theorem on finite samples: an error b of the mean is taken for noise, σ² = s² + b²."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.optimize import root

from tests.support.arrays import networks, residuals
from vebnn import MLP, Training
from vebnn.likelihoods.variance_heads import VARIANCE_HEADS
from vebnn.strategies.cooperative.residuals import unit_of
from vebnn.strategies.cooperative.variance import train_variance
from vebnn.training import SILENT

NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(60)  # of expectations over N(0, 1)
WEIGHTS = WEIGHTS / WEIGHTS.sum()


@pytest.mark.parametrize("loss", sorted(VARIANCE_HEADS))
@pytest.mark.parametrize(("noise_std", "bias"), [(0.7, 0.0), (0.7, 0.4), (0.3, 1.1)])
def test_the_expected_loss_is_least_at_the_noise_plus_the_squared_error(
    loss: str, noise_std: float, bias: float
) -> None:
    head = VARIANCE_HEADS[loss]
    squared = (bias + noise_std * NODES) ** 2

    def expected(raw: jax.Array) -> jax.Array:
        each = jax.vmap(lambda r: head.objective(raw, r[None], jnp.zeros(1)))(jnp.asarray(squared))
        return -jnp.sum(jnp.asarray(WEIGHTS) * each[:, 0])

    with jax.enable_x64(True):
        found = root(jax.grad(expected), np.full(head.parts, 0.1))
        variance = head.variance(jnp.asarray(found.x))
    assert found.success
    np.testing.assert_allclose(variance, noise_std**2 + bias**2, rtol=1e-5)


def test_step_2_finds_the_noise_plus_the_squared_error() -> None:
    rng = np.random.default_rng(2)
    x = rng.uniform(-1.7, 1.7, (2_000, 1))
    noise_std, bias = 0.3 + 0.1 * x, 0.5 * np.sin(1.5 * x)
    data = residuals(x, (bias + noise_std * rng.standard_normal(x.shape)) ** 2)
    noise = train_variance(
        jax.random.key(1),
        networks(MLP((16,), "tanh"), 1, VARIANCE_HEADS["gamma"].parts),
        "gamma",
        data,
        Training(num_epochs=250, learning_rate=1e-2),
        scale=unit_of(data, rescaled=True),
        stage=SILENT,
    )
    found = noise.variance(x.astype(np.float32))
    assert np.mean(np.abs(found - noise_std**2 - bias**2) / (noise_std**2 + bias**2)) < 0.1
    # The squared error is the larger part: it is not lost in the tolerance.
    assert np.mean(found) > 1.9 * np.mean(noise_std**2)
