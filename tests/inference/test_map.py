import jax
import numpy as np

from tests.support.linear import flatten
from vebnn.inference import MAP
from vebnn.training import SILENT, Training


def test_equals_the_closed_form_mode(linear, key: jax.Array) -> None:
    engine = MAP(Training(num_epochs=3_000, learning_rate=3e-3, batch_size=100))
    posterior = engine.run(key, linear.problem, SILENT)
    draws = flatten(posterior.draws)
    assert draws.shape == (1, 1, 3)
    assert not posterior.markov
    np.testing.assert_allclose(draws[0, 0], linear.mean, atol=1e-3)


def test_starts_from_the_first_warm_start(linear, key: jax.Array) -> None:
    engine = MAP(Training(num_epochs=1, learning_rate=1e-6, batch_size=100))
    draws = flatten(engine.run(key, linear.problem, SILENT).draws)
    np.testing.assert_allclose(draws[0, 0], flatten(linear.starts)[0], atol=1e-5)
