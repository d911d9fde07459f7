"""Steps of sequences as rows say the same as the sequences do."""

import numpy as np
import pytest

from vebnn.prediction import Components, Prediction, in_user_units, steps_as_rows
from vebnn.prediction.targets import TARGETS

PLACES = np.array([1, 0, 1]), np.array([0, 3, 2])


def sequences(kinds: tuple[str, ...]) -> Prediction:
    rng = np.random.default_rng(0)
    draws = rng.normal(size=(5, 2, 4, len(kinds)))
    noise = np.full(draws.shape[1:], 0.3)
    raw = Prediction(
        draws.mean(0), noise, draws.var(0), lambda: Components.of_draws(draws, noise[None] + 0 * draws)
    )
    return in_user_units(raw, tuple(TARGETS[kind] for kind in kinds))


@pytest.mark.parametrize("kinds", [("real",), ("positive",), ("real", "positive")])
def test_steps_as_rows(kinds: tuple[str, ...]) -> None:
    whole = sequences(kinds)
    rows = steps_as_rows(whole, PLACES, kinds)

    def of(values: np.ndarray) -> np.ndarray:
        found = values[..., PLACES[0], PLACES[1], :]
        return found[..., 0] if len(kinds) == 1 else found

    y = np.abs(np.random.default_rng(1).normal(1, 0.2, whole.mean.shape))
    for name in ("mean", "aleatoric_variance", "epistemic_variance", "draws"):
        np.testing.assert_allclose(getattr(rows, name), of(getattr(whole, name)))
    for ask in (
        lambda one, y: one.interval(0.9)[1],
        lambda one, y: one.mean_interval(0.9)[0],
        lambda one, y: one.quantile(np.array([0.1, 0.7])),
        lambda one, y: one.log_prob(y),
        lambda one, y: one.log_prob(y, "mixture"),
        lambda one, y: one.cdf(y),
    ):
        np.testing.assert_allclose(ask(rows, of(y)), of(ask(whole, y)))
    several = len(kinds) > 1
    assert rows.to_frame().columns[0] == ("real_mean" if several else "mean")
