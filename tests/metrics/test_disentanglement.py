import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst
from sklearn.metrics import roc_auc_score

from vebnn.metrics import out_of_distribution_auroc, uncertainty_correlation

# Few distinct values, so that there are ties.
VALUES = st.lists(st.integers(0, 6), min_size=1, max_size=20).map(
    lambda numbers: np.array(numbers, float)
)


def test_correlation_by_hand():
    # Without ties Spearman's coefficient is 1 − 6 Σ d² / (n (n² − 1)); here d = (1, −1, 0, 0).
    found = uncertainty_correlation(np.array([1.0, 2.0, 30.0, 400.0]), np.array([0.2, 0.1, 0.3, 0.4]))
    assert found == pytest.approx(1 - 6 * 2 / (4 * 15))


def test_correlation_is_per_output_and_sees_ranks_alone(rng):
    aleatoric = rng.uniform(1, 2, (40, 2))
    epistemic = np.column_stack([aleatoric[:, 0] ** 5, 1 / aleatoric[:, 1]])
    assert uncertainty_correlation(aleatoric[:, 0], epistemic[:, 0]) == pytest.approx(1)
    assert uncertainty_correlation(aleatoric, epistemic) == pytest.approx((1 - 1) / 2, abs=1e-12)


@given(npst.arrays(float, (2, 12), elements=st.floats(0, 100)))
def test_stds_and_variances_correlate_alike(stds):
    # Squares of tiny numbers are all zero, so their ranks are lost.
    stds = 1 + np.round(stds, 3)
    found = uncertainty_correlation(*stds)
    np.testing.assert_allclose(uncertainty_correlation(*stds**2), found, atol=1e-12)
    np.testing.assert_allclose(uncertainty_correlation(*stds[::-1]), found, atol=1e-12)


def test_correlation_with_a_constant_is_not_a_number(rng):
    assert np.isnan(uncertainty_correlation(np.ones(5), rng.uniform(size=5)))
    assert np.isnan(uncertainty_correlation(rng.uniform(size=(5, 2)), np.ones((5, 2))))


def test_auroc_by_hand():
    # Of the six pairs (outside, inside) four are won, one is tied and one is lost.
    assert out_of_distribution_auroc(np.array([1.0, 2.0, 5.0]), np.array([2.0, 6.0])) == pytest.approx(
        4.5 / 6
    )


@given(VALUES, VALUES)
def test_auroc_is_that_of_scikit_learn(inside, outside):
    label = np.repeat([0, 1], [len(inside), len(outside)])
    expected = roc_auc_score(label, np.concatenate([inside, outside]))
    assert out_of_distribution_auroc(inside, outside) == pytest.approx(expected)


@given(VALUES, VALUES)
def test_auroc_is_symmetric(inside, outside):
    there, back = (out_of_distribution_auroc(*pair) for pair in ((inside, outside), (outside, inside)))
    assert there + back == pytest.approx(1)
    assert 0 <= there <= 1


def test_auroc_is_averaged_over_outputs():
    inside, outside = np.array([[1.0, 9.0], [2.0, 9.0]]), np.array([[3.0, 8.0], [4.0, 8.0], [5.0, 8.0]])
    assert out_of_distribution_auroc(inside, outside) == 0.5
    assert out_of_distribution_auroc(inside[:, 0], outside[:, 0]) == 1


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (
            lambda: uncertainty_correlation(np.zeros(3), np.zeros((3, 1))),
            "`epistemic` must have the shape",
        ),
        (
            lambda: uncertainty_correlation(np.zeros(2), np.array([1, np.nan])),
            "`epistemic` must not hold NaN",
        ),
        (lambda: out_of_distribution_auroc(np.zeros((3, 2)), np.zeros((4, 1))), r"Got \(4, 1\)"),
        (
            lambda: out_of_distribution_auroc(np.zeros(3), np.zeros(0)),
            "`outside` must have at least one row",
        ),
    ],
)
def test_wrong_arrays_get_a_sentence(call, sentence):
    with pytest.raises(ValueError, match=sentence):
        call()
