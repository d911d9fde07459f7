"""scikit-learn's own contract suite, on a small and quick configuration."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from vebnn import MLP, PSGLD, Training, VeBNNRegressor

SMALL = VeBNNRegressor(
    network=MLP((8,), "tanh"),
    variance_network=MLP((3,), "tanh"),
    inference=PSGLD(num_samples=10, burn_in=150, thinning=5, num_chains=2, step_size=1e-2),
    mean_training=Training(num_epochs=400, learning_rate=1e-2),
    variance_training=Training(num_epochs=100, learning_rate=1e-2),
    num_folds=2,
    random_state=0,
)

EXPECTED_FAILURES = {
    "check_sample_weight_equivalence_on_dense_data": (
        "Repeating a row and doubling its weight give the same posterior, but rows are dealt into "
        "random folds and mini-batches, so the two fits see different random numbers."
    ),
}


@pytest.mark.usefixtures("quick_compilation")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks([SMALL], expected_failed_checks=lambda _: EXPECTED_FAILURES)
def test_scikit_learn_contract(estimator, check):
    check(estimator)
