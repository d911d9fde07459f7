"""Linear functions of a target."""

import numpy as np

from vebnn import Prediction
from vebnn.prediction import Components, rescaled


def test_outputs_and_modes_have_their_own_scale() -> None:
    rng = np.random.default_rng(0)
    mean, weight = rng.normal(size=(5, 2, 3, 2)), rng.dirichlet((1, 1), (5, 3, 2))
    parts = Components(mean, rng.uniform(1, 2, mean.shape), np.moveaxis(weight, -1, 1))
    p = Prediction(np.ones((3, 2)), np.full((3, 2), 4.0), np.full((3, 2), 9.0), lambda: parts)
    factor, shift = np.array([2.0, -10.0]), np.array([100.0, 0.0])
    found = rescaled(p, factor, shift)
    np.testing.assert_array_equal(found.mean, [[102, -10]] * 3)
    np.testing.assert_array_equal(found.aleatoric_std, [[4, 20]] * 3)
    np.testing.assert_array_equal(found.epistemic_std, [[6, 30]] * 3)
    np.testing.assert_allclose(found.modes.mean, p.modes.mean * factor + shift)
    np.testing.assert_allclose(found.modes.aleatoric_std, p.modes.aleatoric_std * np.abs(factor))
    np.testing.assert_array_equal(found.modes.weight, p.modes.weight)
    # Of a falling function, the upper quantile is that of the lower.
    np.testing.assert_allclose(
        found.quantile(0.9, "mixture")[:, 1], -10 * p.quantile(0.1, "mixture")[:, 1], rtol=1e-6
    )
    y = rng.normal(size=(3, 2))
    density = p.log_prob(y, "mixture") - np.log([2, 10])
    np.testing.assert_allclose(found.log_prob(factor * y + shift, "mixture"), density)
