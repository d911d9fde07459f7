import sys

import jax
import numpy as np
import pytest

from tests.support.linear import assert_predictions, flatten
from tests.support.resuming import assert_resumes
from tests.support.settings import quick
from vebnn.inference import NUTS
from vebnn.strategies.cooperative.mean import MeanStep
from vebnn.training import SILENT

SHORT = NUTS(num_samples=3, burn_in=25, thinning=2, num_chains=2)


def test_posterior_of_conjugate_linear_regression(linear, key: jax.Array) -> None:
    """There is no step size to be biased by: only Monte Carlo error is allowed."""
    sampler = NUTS(num_samples=2_000, burn_in=300)
    posterior = sampler.run(key, linear.problem, SILENT)
    assert_predictions(flatten(posterior.draws), linear.mean, linear.covariance)
    assert posterior.markov
    info = posterior.info
    assert (info["divergences"] == 0).all()
    # Dual averaging finds the acceptance it was asked for, up to the noise of its last 50 steps.
    np.testing.assert_allclose(info["acceptance"], 0.8, atol=0.15)
    assert (info["gradients_per_transition"] >= 1).all()
    assert (info["step_size"] > 0.1).all()  # the mass matrix has taken the scale out


def test_trace_is_the_objective_per_row(linear, key: jax.Array) -> None:
    posterior = SHORT.run(key, linear.problem, SILENT)
    assert posterior.trace.shape == (2, 31)
    for chain in range(2):
        for draw in range(3):
            params = jax.tree.map(lambda leaf, c=chain, d=draw: leaf[c, d], posterior.draws)
            value = linear.objective(params, linear.data, 1) / 61
            # Draws are those of transitions 27, 29 and 31.
            np.testing.assert_allclose(posterior.trace[chain, 26 + 2 * draw], value, rtol=1e-4)


def test_interrupted_chains_are_resumed_from_their_checkpoint(linear, key, tmp_path) -> None:
    assert_resumes(lambda stage: SHORT.run(key, linear.problem, stage), tmp_path)


def test_without_blackjax_there_is_one_sentence_before_training(monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "blackjax", None)
    X = np.linspace(-1, 1, 20)[:, None]
    trained = []
    monkeypatch.setattr(MeanStep, "train", lambda *_, **__: trained.append(1))
    with pytest.raises(ImportError, match=r"NUTS needs BlackJAX: pip install 'vebnn\[nuts\]'"):
        quick(inference="nuts").fit(X, X[:, 0])
    assert not trained


@pytest.mark.parametrize("setting", ["num_samples", "burn_in", "max_tree_depth"])
def test_wrong_settings_get_a_sentence(setting: str) -> None:
    with pytest.raises(ValueError, match=f"`{setting}` must be a whole number of at least 1"):
        NUTS(**{setting: 0})
