from itertools import product

import numpy as np
import pandas
import pytest
from scipy.stats import wilcoxon

from vebnn.bench.comparison.statistics import average_ranks, signed_rank


def by_enumeration(differences: np.ndarray) -> float:
    """Return p of the signed-rank test by trying all signs; half ranks for ties."""
    sizes = np.abs(differences)
    ranks = np.array([np.sum(sizes < size) + (np.sum(sizes == size) + 1) / 2 for size in sizes])
    seen = abs(np.sum(np.sign(differences) * ranks))
    sums = [abs(np.dot(signs, ranks)) for signs in product((-1, 1), repeat=len(ranks))]
    return float(np.mean(np.array(sums) >= seen - 1e-9))


@pytest.mark.parametrize("num_pairs", [6, 7, 9, 12])
@pytest.mark.parametrize("shift", [0.0, 0.7])
def test_p_is_that_of_all_signs_and_of_scipy(num_pairs: int, shift: float, rng) -> None:
    differences = rng.standard_normal(num_pairs) + shift
    test = signed_rank(differences)
    assert test.p_value == pytest.approx(by_enumeration(differences))
    assert test.p_value == pytest.approx(wilcoxon(differences).pvalue)
    assert test.num_pairs == num_pairs


def test_ties_in_size_share_their_rank() -> None:
    differences = np.array([1.0, 1.0, -1.0, 2.0, 2.0, 3.0, 4.0, -0.5])
    assert signed_rank(differences).p_value == pytest.approx(by_enumeration(differences))


def test_six_wins_out_of_six_by_hand() -> None:
    # All signs equal: 2 of 2⁶ ways.
    test = signed_rank([0.1, 0.2, 0.3, 0.4, 0.5, 0.6])
    assert test.p_value == pytest.approx(2 / 64)
    assert test.significant
    assert test.direction == 1
    assert signed_rank([-0.1, -0.2, -0.3, -0.4, -0.5, -0.6]).direction == -1


def test_fewer_than_six_pairs_are_not_tested() -> None:
    test = signed_rank([1, 2, 3, 4, 5])
    assert test.p_value is None
    assert not test.significant
    assert test.direction == 1


def test_pairs_without_a_difference_do_not_count() -> None:
    differences = np.array([0.0, 0.3, -0.1, 0.8, 0.5, 0.9, 0.7])
    test = signed_rank(differences)
    assert test.num_pairs == 7
    assert test.p_value == pytest.approx(by_enumeration(differences[1:]))


def test_equal_scores_are_equal() -> None:
    assert signed_rank([0.0] * 10) == (10, 1.0, 0)


def test_direction_is_of_ranks_and_not_of_the_mean() -> None:
    differences = [1.0, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.7, -1000.0]
    assert np.mean(differences) < 0
    assert signed_rank(differences).direction == 1


def losses(by_method: dict[str, dict[str, float]]) -> pandas.DataFrame:
    return pandas.DataFrame(by_method).T


def test_average_ranks_by_hand() -> None:
    by_method = {
        "a": {"x": 1.0, "y": 2.0, "z": 0.0},  # 1, 1.5, 1
        "b": {"x": 2.0, "y": 2.0, "z": 5.0},  # 2, 1.5, 3
        "c": {"x": 3.0, "y": 9.0, "z": 4.0},  # 3, 3, 2
    }
    ranks = average_ranks(losses(by_method))
    assert ranks.datasets == ("x", "y", "z")
    assert ranks.average == {
        "a": pytest.approx(3.5 / 3),
        "b": pytest.approx(6.5 / 3),
        "c": pytest.approx(8 / 3),
    }


def test_ranks_need_data_sets_that_all_methods_have() -> None:
    ranks = average_ranks(losses({"a": {"x": 1.0, "y": 5.0}, "b": {"y": 2.0, "z": 0.0}}))
    assert ranks == ({"a": 2.0, "b": 1.0}, ("y",))
    assert average_ranks(losses({"a": {"x": 1.0}, "b": {"y": 1.0}})) == ({}, ())
    assert average_ranks(losses({})) == ({}, ())
