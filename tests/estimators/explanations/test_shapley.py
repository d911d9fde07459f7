"""Shapley values against closed forms, and against the average over all orders."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vebnn.estimators.explanations import shapley
from vebnn.estimators.explanations.shapley import all_coalitions, sampled_orders, shapley_values

GAMES = {
    "exact": lambda players, partners: all_coalitions(players, partners),
    "sampled": lambda players, partners: sampled_orders(
        players, partners, 40, np.random.default_rng(0)
    ),
}
each_game = pytest.mark.parametrize("game", GAMES.values(), ids=GAMES)


def values(function, rows, background, game=GAMES["exact"], members=None):
    """Return the values of a function with one output, (rows, players)."""
    members = [[number] for number in range(rows.shape[1])] if members is None else members
    one = game(len(members), len(background))
    return shapley_values(lambda x: function(x)[:, None], rows, background, members, one)[..., 0]


def by_all_orders(function, row, background):
    """Return the definition itself: the mean gain over all orders and all background rows."""
    total, orders = np.zeros(len(row)), list(permutations(range(len(row))))
    for other in background:
        for order in orders:
            mixed = other.copy()
            for player in order:
                before = function(mixed[None])[0]
                mixed[player] = row[player]
                total[player] += function(mixed[None])[0] - before
    return total / len(orders) / len(background)


def bent(x):
    """A function in which everything interacts."""
    return np.sin(x @ np.arange(1, x.shape[1] + 1)) + np.prod(x, axis=1)


@each_game
def test_a_linear_function_has_slope_times_distance(game, rng):
    slopes = np.array([2.0, -1.0, 0.5, 0.0, 3.0])
    rows, background = rng.normal(size=(4, 5)), rng.normal(size=(7, 5))
    found = values(lambda x: x @ slopes, rows, background, game)
    np.testing.assert_allclose(found, slopes * (rows - background.mean(0)), atol=1e-12)


@each_game
def test_a_product_is_shared_equally(game, rng):
    """The product x₀ x₁ against zeros: half of it each. Forward and backward orders average to it."""
    rows = rng.normal(size=(3, 4))
    found = values(lambda x: x[:, 0] * x[:, 1], rows, np.zeros((1, 4)), game)
    half = rows[:, 0] * rows[:, 1] / 2
    np.testing.assert_allclose(found, np.stack([half, half, 0 * half, 0 * half], 1), atol=1e-12)


def test_exact_values_are_the_mean_over_all_orders(rng):
    rows, background = rng.normal(size=(2, 4)), rng.normal(size=(3, 4))
    expected = [by_all_orders(bent, row, background) for row in rows]
    np.testing.assert_allclose(values(bent, rows, background), expected, atol=1e-12)


def test_sampled_values_are_right_on_average(rng):
    rows, background = rng.normal(size=(1, 6)), rng.normal(size=(5, 6))

    def sampled(seed):
        return values(bent, rows, background, lambda *sizes: sampled_orders(*sizes, 100, seed))[0]

    many = np.array([sampled(np.random.default_rng(seed)) for seed in range(40)])
    standard_error = many.std(0) / np.sqrt(40)
    assert np.all(np.abs(many.mean(0) - values(bent, rows, background)[0]) < 4 * standard_error)


@given(seed=st.integers(0, 2**32 - 1), players=st.integers(1, 5), name=st.sampled_from(sorted(GAMES)))
def test_values_add_up_idle_ones_are_zero_and_equals_are_equal(seed, players, name):
    rng = np.random.default_rng(seed)
    rows, background = rng.normal(size=(2, players + 1)), rng.normal(size=(3, players + 1))

    def used(x):
        return bent(x[:, :players])  # the last feature is not used

    found = values(used, rows, background, GAMES[name])
    np.testing.assert_allclose(found.sum(1), used(rows) - used(background).mean(), atol=1e-12)
    np.testing.assert_allclose(found[:, -1], 0, atol=1e-15)

    def symmetric(x):
        return np.cos(x.sum(1))

    same = np.full((1, 4), rng.normal())
    np.testing.assert_allclose(np.ptp(values(symmetric, same, -same)), 0, atol=1e-12)


def test_members_of_a_group_are_exchanged_together(rng):
    rows, background = rng.normal(size=(2, 3)), rng.normal(size=(4, 3))
    found = values(bent, rows, background, members=[[2, 0], [1]])

    def with_inputs(row, inputs):
        mixed = background.copy()
        mixed[:, inputs] = row[inputs]
        return bent(mixed).mean()

    # With two players there are two orders.
    for row, (group, single) in zip(rows, found, strict=True):
        none, first, second, both = (with_inputs(row, one) for one in ([], [0, 2], [1], [0, 1, 2]))
        np.testing.assert_allclose(group, (first - none + both - second) / 2, atol=1e-12)
        np.testing.assert_allclose(single, (second - none + both - first) / 2, atol=1e-12)


def test_blocks_of_rows_do_not_change_values(rng, monkeypatch):
    rows, background = rng.normal(size=(7, 3)), rng.normal(size=(5, 3))
    at_once = values(bent, rows, background)
    monkeypatch.setattr("vebnn.estimators.explanations.shapley.ROWS_AT_ONCE", 90)
    np.testing.assert_allclose(values(bent, rows, background), at_once, atol=1e-14)


def test_every_background_row_has_as_many_orders():
    game = sampled_orders(3, 5, 12, np.random.default_rng(0))
    counts = np.bincount(game.partners)
    assert counts.tolist() == [4 * 4] * 5  # four orders of four mixtures: two pairs


def test_many_features_are_evaluated_in_pieces(rng, monkeypatch):
    rows, background = rng.normal(size=(2, 9)), rng.normal(size=(5, 9))
    whole = values(bent, rows, background, GAMES["sampled"])
    monkeypatch.setattr(shapley, "ROWS_AT_ONCE", 64)  # of 400 mixtures per row
    sizes = []

    def noted(x):
        sizes.append(len(x))
        return bent(x)

    np.testing.assert_allclose(values(noted, rows, background, GAMES["sampled"]), whole)
    assert max(sizes) == 64
    assert sum(sizes) == 2 * 400
