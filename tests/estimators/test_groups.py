"""Rows that belong together are on one side of every split of every estimator."""

import numpy as np
import pandas
import pytest

from tests.support.settings import quick, quick_joint, quick_mixture
from vebnn import GRU, MAP, Ensemble, Training, VeBNNRegressor
from vebnn.strategies import fit_data

pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.usefixtures("quick_compilation"),
]
SHORT = Training(num_epochs=3)
BRIEF = {"mean_training": SHORT, "variance_training": SHORT, "inference": MAP(training=SHORT)}
ESTIMATORS = {
    "cooperative": lambda: quick(**BRIEF),
    "mixture": lambda: quick_mixture(**BRIEF),
    "joint": lambda: quick_joint(training=SHORT, inference=Ensemble(2, SHORT)),
}


@pytest.fixture
def splits(monkeypatch):
    """Every split of the fits of a test."""
    made, original = [], fit_data.split_rows

    def note(*arguments):
        made.append(original(*arguments))
        return made[-1]

    monkeypatch.setattr(fit_data, "split_rows", note)
    return made


def assert_apart(split, group) -> None:
    for train, watch in zip(split.train_rows, split.watch_rows, strict=True):
        assert set(group[train]).isdisjoint(group[watch])
    assert len({*zip(split.fold, group, strict=True)}) == len(set(group))
    assert set(group[split.set_aside]).isdisjoint(np.delete(group, split.set_aside))
    assert len(split.set_aside)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_repeated_inputs_stay_together(name, splits, rng):
    condition = rng.permutation(np.repeat(np.arange(20), 3))
    X = rng.normal(size=(20, 2))[condition]
    ESTIMATORS[name]().fit(X, rng.normal(size=60))
    (split,) = splits
    assert_apart(split, condition)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_groups_stay_together(name, splits, rng):
    specimen = rng.permutation(np.repeat(np.arange(15), 4))
    X = rng.normal(size=(60, 2))
    X[np.flatnonzero(specimen == 3)[0]] = X[np.flatnonzero(specimen == 4)[0]]
    labels = pandas.Series([f"specimen {one}" for one in specimen], index=range(100, 160))
    ESTIMATORS[name]().fit(X, rng.normal(size=60), groups=labels)
    (split,) = splits
    # Identical inputs link two of the groups.
    assert_apart(split, np.where(specimen == 4, 3, specimen))


def test_a_sequence_is_a_row_and_its_padding_does_not_count(splits, rng):
    path = rng.permutation(np.repeat(np.arange(8), 2))
    X, y = rng.normal(size=(8, 5, 2))[path], rng.normal(size=(16, 5, 1))
    short = np.flatnonzero(path == 1)
    y[short, 3:] = np.nan
    X[short[0], 3:], X[short[1], 3:] = np.nan, 7.0
    network = {"network": GRU((3,)), "variance_network": GRU((2,))}
    quick(**BRIEF | network).fit(X, y)
    assert_apart(splits[0], path)


def test_rows_of_weight_zero_link_no_groups(splits, rng):
    X, y = rng.normal(size=(31, 2)), rng.normal(size=31)
    groups = [*np.repeat(np.arange(10), 3).tolist(), 0]
    X[30] = X[5]  # would link groups 0 and 1
    weight = np.r_[np.ones(30), 0]
    quick(**BRIEF).fit(X, y, weight, groups=groups)
    quick(**BRIEF).fit(X[:30], y[:30], groups=groups[:30])
    np.testing.assert_array_equal(splits[0].fold, splits[1].fold)
    assert_apart(splits[0], np.repeat(np.arange(10), 3))


def test_a_group_for_every_row_changes_nothing(rng):
    X, y = rng.normal(size=(40, 2)), rng.normal(size=40)
    with_groups, without = (
        quick(**BRIEF).fit(X, y, groups=groups).predict(X) for groups in (np.arange(40) % 40, None)
    )
    np.testing.assert_array_equal(with_groups, without)


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        (np.zeros((20, 1)), r"one label for each of the 20 rows\. Got shape \(20, 1\)\."),
        (np.arange(19), r"one label for each of the 20 rows\. Got shape \(19,\)\."),
        ("abc", r"Got shape \(\)"),
        ([*range(19), None], r"a label for every row\. Got None in row 19; give it"),
        ([np.nan, *range(19)], r"Got nan in row 0; give it"),
        (["one"] * 20, r"at least two groups.* Got all 20 rows in one; leave `groups` out"),
    ],
)
def test_wrong_groups_are_refused(groups, message, rng):
    with pytest.raises(ValueError, match=message):
        VeBNNRegressor().fit(rng.normal(size=(20, 2)), rng.normal(size=20), groups=groups)


def test_the_checkpoint_of_other_groups_is_not_resumed(tmp_path, rng, monkeypatch):
    X, y = rng.normal(size=(40, 2)), rng.normal(size=40)
    folder = tmp_path / "checkpoint"
    monkeypatch.setattr("vebnn.strategies.cooperative.steps.Steps.step_2", _interrupt)
    with pytest.raises(KeyboardInterrupt):
        quick(**BRIEF, checkpoint=folder).fit(X, y, groups=np.arange(40) % 9)
    with pytest.raises(ValueError, match="checkpoint"):
        quick(**BRIEF, checkpoint=folder).fit(X, y, groups=np.arange(40) % 8)


def _interrupt(*_):
    raise KeyboardInterrupt


@pytest.mark.parametrize("num_inputs", [1, 2])
def test_rows_of_one_or_two_conditions_are_split_one_by_one(num_inputs, splits, rng):
    X = (np.arange(40) % num_inputs)[:, None].astype(float)
    quick(**BRIEF).fit(X, rng.normal(size=40))
    assert sorted(np.bincount(splits[0].fold)) == [13, 13, 14]
    assert len(splits[0].set_aside) == 8
