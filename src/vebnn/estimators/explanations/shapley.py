"""Shapley values of a function of rows, with several outputs at once.

The value of feature j is what it adds to the output on average, over all orders in which features of
a background row b are replaced by those of the row x (Shapley 1953; interventional values, Lundberg and
Lee 2017):

    φ_j = Σ_S |S|! (M − |S| − 1)! / M! · (v(S ∪ {j}) − v(S)),   v(S) = mean over b of f(x_S, b_rest)

with S over the coalitions of the M features without j. Values add up to f(x) − mean over b of f(b).

A few features are computed with all 2^M coalitions, more with sampled orders. Each sampled order is
also run backwards (antithetic, Mitchell et al. 2022), and every background row has as many orders, so
that sampled values add up exactly, too.
"""

from collections.abc import Callable, Sequence
from math import factorial
from typing import NamedTuple

import numpy as np

MOST_EXACT = 7  # features; all coalitions of one more cost more than sampled orders of good precision
ROWS_AT_ONCE = 16_384  # of the function; so that a call is long, and memory bounded


class Game(NamedTuple):
    """Mixtures of a row with background rows, and the values that follow from their outputs."""

    coalitions: np.ndarray  # (mixtures, players), True where a feature is that of the row
    partners: np.ndarray  # (mixtures,), the background row that gives the others
    values: Callable[[np.ndarray], np.ndarray]  # (rows, mixtures, outputs) → (rows, players, outputs)


def all_coalitions(num_players: int, num_partners: int) -> Game:
    """Return every coalition with every background row: exact values."""
    size = 2**num_players
    coalitions = (np.arange(size)[:, None] >> np.arange(num_players)) % 2 == 1  # (2^M, M)
    orders = [factorial(s) * factorial(num_players - s - 1) for s in range(num_players)]
    share = np.array([*orders, 0]) / factorial(num_players)  # by the size of S; none for all players
    sizes = coalitions.sum(1, keepdims=True)
    weights = np.where(coalitions, share[sizes - 1], -share[sizes])  # (2^M, M)

    def values(outputs: np.ndarray) -> np.ndarray:
        worth = outputs.reshape(len(outputs), size, num_partners, -1).mean(2)
        return np.einsum("cp,nco->npo", weights, worth)

    partners = np.tile(np.arange(num_partners), size)
    return Game(np.repeat(coalitions, num_partners, axis=0), partners, values)


def sampled_orders(
    num_players: int, num_partners: int, num_orders: int, rng: np.random.Generator
) -> Game:
    """Return the coalitions along random orders and their reverse.

    The number of orders is rounded up, so that each background row has as many.
    """
    num_pairs = num_partners * -(-num_orders // (2 * num_partners))
    forward = rng.permuted(np.tile(np.arange(num_players), (num_pairs, 1)), axis=1)
    orders = np.concatenate([forward, forward[:, ::-1]])  # (orders, M)
    places = np.argsort(orders, axis=1)  # when each feature is replaced
    steps = np.arange(num_players + 1)
    coalitions = places[:, None, :] < steps[:, None]  # (orders, M + 1, M)
    partners = np.resize(np.arange(num_partners), len(orders))

    def values(outputs: np.ndarray) -> np.ndarray:
        along = outputs.reshape(len(outputs), len(orders), num_players + 1, -1)
        gains = np.diff(along, axis=2)
        return np.take_along_axis(gains, places[None, :, :, None], axis=2).mean(1)

    return Game(coalitions.reshape(-1, num_players), np.repeat(partners, num_players + 1), values)


def shapley_values(
    function: Callable[[np.ndarray], np.ndarray],
    rows: np.ndarray,
    background: np.ndarray,
    members: Sequence[Sequence[int]],
    game: Game,
) -> np.ndarray:
    """Return Shapley values, ``(rows, players, outputs)``.

    Args:
      function: ``(many rows, inputs) → (many rows, outputs)``.
      rows: to explain, ``(rows, inputs)``.
      background: rows to compare with, ``(background, inputs)``.
      members: the inputs of each player, which are exchanged together; each input is of one player.
      game: for as many players and background rows.
    """
    player_of = np.zeros(rows.shape[1], int)
    for player, inputs in enumerate(members):
        player_of[list(inputs)] = player
    count = len(game.partners)
    at_once = max(1, ROWS_AT_ONCE // count)
    found = []
    for start in range(0, len(rows), at_once):
        some, pieces = rows[start : start + at_once], []
        for first in range(0, count, ROWS_AT_ONCE):  # many features have more mixtures per row
            part = slice(first, first + ROWS_AT_ONCE)
            mine, others = game.coalitions[part][:, player_of], background[game.partners[part]]
            mixed = np.where(mine, some[:, None], others)
            outputs = function(mixed.reshape(-1, rows.shape[1]))
            pieces.append(outputs.reshape(*mixed.shape[:2], -1))
        found.append(game.values(np.concatenate(pieces, axis=1)))
    return np.concatenate(found)
