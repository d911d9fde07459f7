"""Runs where BoTorch is installed: it is no part of the test extra, being large."""

import warnings

import numpy as np
import pytest

from tests.support.settings import quick
from vebnn.datasets.toy import load_toy
from vebnn.estimators import VeBNNRegressor

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # warnings of other libraries on import
    torch = pytest.importorskip("torch")
    pytest.importorskip("botorch")
    from botorch.acquisition import UpperConfidenceBound, qLogExpectedImprovement
    from botorch.optim import optimize_acqf

    from vebnn.acquisition.botorch import BoTorchModel

from vebnn.acquisition import confidence_bound, expected_improvement

# The chains are short.
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.fixture(scope="module")
def model() -> VeBNNRegressor:
    data = load_toy(60)
    return quick().fit(data.X, data.y)


@pytest.fixture(scope="module")
def adapted(model: VeBNNRegressor) -> BoTorchModel:
    return BoTorchModel(model)


def candidates(*x: float) -> "torch.Tensor":
    return torch.tensor(x, dtype=torch.float64)[:, None, None]  # batch × one row × one feature


def test_posterior_is_the_epistemic_part_in_the_users_units(model, adapted) -> None:
    X = np.linspace(-2, 12, 6).reshape(2, 3, 1)
    posterior = adapted.posterior(torch.from_numpy(X))
    expected = model.predict_distribution(X.reshape(-1, 1))
    draws = np.moveaxis(expected.draws.reshape(-1, 2, 3, 1), 0, 1)
    np.testing.assert_allclose(posterior.values.numpy(), draws, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(posterior.mean.numpy().ravel(), expected.mean, rtol=1e-4, atol=1e-4)
    # BoTorch divides by one draw less.
    unbiased = expected.epistemic_variance * len(expected.draws) / (len(expected.draws) - 1)
    np.testing.assert_allclose(posterior.variance.numpy().ravel(), unbiased, rtol=1e-3)


def test_gradients_against_differences(adapted) -> None:
    X = candidates(1.0, 5.0, 9.0).requires_grad_()
    adapted.posterior(X).mean.sum().backward()
    step = 1e-2
    with torch.no_grad():
        ends = [adapted.posterior(X + shift).mean for shift in (step, -step)]
    np.testing.assert_allclose(X.grad, (ends[0] - ends[1]) / (2 * step), rtol=1e-2, atol=1e-3)


def test_acquisition_functions_agree_with_ours(model, adapted) -> None:
    x = np.linspace(-2, 12, 8)
    prediction = model.predict_distribution(x[:, None])
    factor = len(prediction.draws) / (len(prediction.draws) - 1)
    theirs = UpperConfidenceBound(adapted, beta=4.0 / factor)(candidates(*x))
    np.testing.assert_allclose(theirs, confidence_bound(prediction, goal="maximise"), rtol=1e-3)


def test_a_maximum_is_found_by_gradients(model, adapted) -> None:
    best = float(model.predict(np.linspace(0, 6, 50)[:, None]).max())
    acquisition = qLogExpectedImprovement(adapted, best_f=best)
    bounds = torch.tensor([[0.0], [10.0]], dtype=torch.float64)
    torch.manual_seed(0)
    found, _ = optimize_acqf(acquisition, bounds, q=1, num_restarts=2, raw_samples=32)
    grid = np.linspace(0, 10, 1001)
    by_draws = expected_improvement(
        model.predict_distribution(grid[:, None]), best=best, goal="maximise", kind="draws"
    )
    at_found = expected_improvement(
        model.predict_distribution(found.numpy()), best=best, goal="maximise", kind="draws"
    )
    assert at_found >= 0.98 * by_draws.max()


def test_several_outputs() -> None:
    data = load_toy(40)
    two = quick().fit(data.X, np.column_stack([data.y, -100 * data.y]))
    adapted = BoTorchModel(two)
    posterior = adapted.posterior(candidates(2.0, 4.0))
    assert adapted.num_outputs == 2
    expected = two.predict(np.array([[2.0], [4.0]]))
    np.testing.assert_allclose(posterior.mean[:, 0].numpy(), expected, rtol=1e-3, atol=1e-2)


def test_models_of_sequences_are_refused(model) -> None:
    from copy import copy

    other = copy(model)
    other.in_shape_ = (7, 1)
    with pytest.raises(ValueError, match=r"rows of features. Got .* shape \(7, 1\)"):
        BoTorchModel(other)
