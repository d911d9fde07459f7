import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tests.support.linear import flatten
from vebnn.core.types import Array, Dataset
from vebnn.training import Objective, Stage, Training, TrainingDiverged, all_rows, pad_rows, train


def starts(linear, count: int = 1):
    return jax.tree.map(lambda leaf: leaf[:count], linear.starts)


class Pull(eqx.Module):
    """Log-likelihood −target · θ: a constant gradient, so that each Adam step has the same size."""

    def __call__(self, params: Array, batch: Dataset, key: Array | None) -> Array:
        return -jnp.sum(batch.weight * batch.target) * params[0]


class Flat(eqx.Module):
    def __call__(self, params: Array) -> Array:
        return jnp.float32(0)


class Script(eqx.Module):
    """A monitor that reads its value off the epoch, which Pull leaves in the parameter."""

    values: Array

    def __call__(self, params: Array, data: Dataset) -> Array:
        return self.values[jnp.round(-params[0]).astype(int) - 1]


def one_row(target: float = 1.0) -> Dataset:
    ones = np.ones((1, 1), np.float32)
    return Dataset(ones, target * ones, ones, ones)


def train_by_script(values: list[float], **settings):
    """Train one parameter that falls by one per epoch and is watched by a script."""
    return train(
        jax.random.key(0),
        Objective(Pull(), Flat()),
        jnp.zeros((1, 1)),
        one_row(),
        all_rows(1),
        Training(num_epochs=len(values), learning_rate=1.0, **settings),
        watch_rows=all_rows(1),
        monitor=Script(np.asarray(values, np.float32)),
    )


def test_reaches_the_closed_form_mode(linear, key: jax.Array) -> None:
    settings = Training(num_epochs=3_000, learning_rate=3e-3, batch_size=100)
    trained = train(key, linear.objective, starts(linear), linear.data, all_rows(61), settings)
    np.testing.assert_allclose(flatten(trained.params)[0], linear.mean, atol=1e-3)
    assert trained.num_epochs == 3_000


def test_first_adam_steps_by_hand(linear, key: jax.Array) -> None:
    # Adam with its usual constants on the gradient of the loss per unit of weight.
    rate, memory, square_memory, stability = 0.01, 0.9, 0.999, 1e-8
    position = flatten(starts(linear)).astype(float)[0]
    design = np.column_stack([linear.data.x, np.ones(61)]).astype(float)
    target, weight, variance = (np.asarray(part, float)[:, 0] for part in linear.data[1:])
    first, second = np.zeros(3), np.zeros(3)
    for count in (1, 2, 3):
        residual = target - design @ position
        gradient = (position - design.T @ (weight * residual / variance)) / weight.sum()
        first = memory * first + (1 - memory) * gradient
        second = square_memory * second + (1 - square_memory) * gradient**2
        unbiased = first / (1 - memory**count), second / (1 - square_memory**count)
        position = position - rate * unbiased[0] / (np.sqrt(unbiased[1]) + stability)
    settings = Training(num_epochs=3, learning_rate=rate, batch_size=100)
    trained = train(key, linear.objective, starts(linear), linear.data, all_rows(61), settings)
    np.testing.assert_allclose(flatten(trained.params)[0], position, rtol=1e-4)


def test_best_epoch_is_kept() -> None:
    trained = train_by_script([5.0, 3.0, 1.0, 2.0, 4.0, 6.0])
    assert trained.best_epoch == [3]
    assert trained.best_value == [1.0]
    assert trained.num_epochs == [6]
    np.testing.assert_allclose(trained.params, [[-3.0]], rtol=1e-4)
    np.testing.assert_allclose(trained.history[0, :, 1], [5, 3, 1, 2, 4, 6])


def test_patience_stops() -> None:
    trained = train_by_script([5.0, 3.0, 4.0, 4.0, 4.0, 1.0], patience=3)
    assert trained.num_epochs == [5]
    assert trained.best_epoch == [2]
    assert np.isnan(trained.history[0, 5]).all()


def test_patience_starts_anew_with_every_improvement() -> None:
    trained = train_by_script([5.0, 6.0, 4.0, 6.0, 3.0, 6.0, 6.0, 6.0], patience=2)
    assert trained.num_epochs == [7]
    assert trained.best_epoch == [5]


def test_improvements_below_the_tolerance_do_not_count() -> None:
    values = [10.0, 9.95, 9.9, 8.0, 7.95, 7.9]
    trained = train_by_script(values, tolerance=0.02)
    assert trained.best_epoch == [4]
    # The tolerance is a share of the size of the value: it also works below zero.
    trained = train_by_script([-10.0, -10.1, -10.15, -10.5, -10.6], tolerance=0.02)
    assert trained.best_epoch == [4]


def test_unwatched_runs_keep_the_last_epoch() -> None:
    trained = train(
        jax.random.key(0),
        Objective(Pull(), Flat()),
        jnp.zeros((1, 1)),
        one_row(),
        all_rows(1),
        Training(num_epochs=4, learning_rate=1.0, patience=1),
    )
    assert trained.best_epoch == [4]
    np.testing.assert_allclose(trained.params, [[-4.0]], rtol=1e-4)


def test_number_of_epochs_per_run() -> None:
    trained = train(
        jax.random.key(0),
        Objective(Pull(), Flat()),
        jnp.zeros((3, 1)),
        one_row(),
        all_rows(1, 3),
        Training(num_epochs=40, learning_rate=1.0),
        num_epochs=np.array([2, 40, 5]),
    )
    np.testing.assert_array_equal(trained.num_epochs, [2, 40, 5])
    np.testing.assert_allclose(trained.params[:, 0], [-2, -40, -5], rtol=1e-4)


def test_watched_rows_alone_decide(linear, key: jax.Array) -> None:
    # The monitor must be the likelihood of the watched rows under the parameters kept.
    rows = np.arange(61)
    trained = train(
        key,
        linear.objective,
        starts(linear),
        linear.data,
        pad_rows([rows[:40]]),
        Training(num_epochs=30, learning_rate=0.05, batch_size=16),
        watch_rows=pad_rows([rows[40:]]),
    )
    params = jax.tree.map(lambda leaf: leaf[0], trained.params)
    watched = jax.tree.map(lambda leaf: leaf[40:], linear.data)
    expected = -linear.objective.log_likelihood(params, watched, None) / np.sum(watched.weight)
    np.testing.assert_allclose(trained.best_value[0], expected, rtol=1e-5)
    np.testing.assert_allclose(np.min(trained.history[0, :, 1]), expected, rtol=1e-5)


def test_divergence_names_step_and_run() -> None:
    class Burst(eqx.Module):
        """Finite until the parameter has fallen below −3.5, which Pull's step number 5 sees."""

        def __call__(self, params: Array, batch: Dataset, key: Array | None) -> Array:
            return Pull()(params, batch, key) + jnp.where(params[0] < -3.5, jnp.nan, 0.0)

    with pytest.raises(TrainingDiverged) as caught:
        train(
            jax.random.key(0),
            Objective(Burst(), Flat()),
            jnp.zeros((3, 1)),
            one_row(),
            all_rows(1, 3),
            Training(num_epochs=10, learning_rate=1.0),
            # Only the second run goes far enough.
            learning_rate=np.array([0.1, 1.0, 0.1], np.float32),
            stage=Stage("Step 1"),
        )
    assert "The loss of Step 1 became non-finite at step 5 of run 2 of 3." in str(caught.value)
    assert "smaller `learning_rate`" in str(caught.value)


def test_same_key_same_result(linear) -> None:
    settings = Training(num_epochs=5, batch_size=16)
    one, same, other = (
        flatten(
            train(
                jax.random.key(seed),
                linear.objective,
                starts(linear),
                linear.data,
                all_rows(61),
                settings,
            ).params
        )
        for seed in (0, 0, 1)
    )
    np.testing.assert_array_equal(one, same)
    assert not np.array_equal(one, other)


def test_steps_grow_with_the_square_root_of_many_rows() -> None:
    # 100 and 1,000 rows: 1 and 4 batches of at most 256 rows, 6,000 steps.
    assert Training.of_steps(6_000, 100, patience=1_000) == Training(6_000, patience=1_000)
    assert Training.of_steps(6_000, 1_000, patience=1_000) == Training(1_500, patience=250)
    # 4,000 rows: twice the steps in 16 batches.
    assert Training.of_steps(6_000, 4_000, patience=1_000) == Training(750, patience=125)
    # A million rows: epochs of 256,000 rows in 1,000 batches, and a hundred epochs at least.
    large = {"epoch_rows": 256_000}
    assert Training.of_steps(6_000, 10**6, patience=1_000) == Training(100, patience=20, **large)
    # As many steps as for 65,536 rows, eight times those of 1,000; it waits for twice as many.
    assert Training.of_steps(16_000, 10**6, patience=4_000) == Training(130, patience=65, **large)


def test_parts_of_the_rows_lead_to_the_mode_of_all(linear, key: jax.Array) -> None:
    # With a batch counted for a part of the rows only, the prior would pull the weights to zero.
    parts = Training(num_epochs=6_000, learning_rate=1e-3, batch_size=16, epoch_rows=16)
    trained = train(key, linear.objective, starts(linear), linear.data, all_rows(61), parts)
    std = np.sqrt(np.diag(linear.covariance))
    np.testing.assert_array_less(np.abs(flatten(trained.params)[0] - linear.mean), 0.5 * std)
    # An epoch is one step, and Adam's first step has the size of the learning rate.
    one = Training(num_epochs=1, learning_rate=1e-3, batch_size=16, epoch_rows=16)
    trained = train(key, linear.objective, starts(linear), linear.data, all_rows(61), one)
    moved = np.abs(flatten(trained.params)[0] - flatten(starts(linear))[0])
    np.testing.assert_allclose(moved, 1e-3, rtol=1e-2)
