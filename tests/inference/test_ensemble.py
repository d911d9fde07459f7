import jax
import numpy as np

from tests.support.linear import flatten
from vebnn.inference import Ensemble
from vebnn.training import SILENT, Training, all_rows, pad_rows, train

SETTINGS = Training(num_epochs=40, learning_rate=0.02, batch_size=16, patience=5)


def test_one_member_is_plain_training(linear, key: jax.Array) -> None:
    draws = flatten(Ensemble(1, SETTINGS).run(key, linear.problem, SILENT).draws)
    # By hand: search the best epoch without the validation rows, then train anew on all rows.
    problem = linear.problem
    key_init, key_search, key_refit = jax.random.split(key, 3)
    start = problem.initialise(jax.random.split(key_init, 1))
    watch = problem.validation_rows
    kept = np.setdiff1d(np.arange(61), watch)
    searched = train(
        key_search, problem.objective, start, problem.data, kept[None], SETTINGS, watch_rows=watch[None]
    )
    expected = train(
        key_refit,
        problem.objective,
        start,
        problem.data,
        all_rows(61),
        SETTINGS,
        num_epochs=searched.best_epoch,
    )
    # Neither the first epoch nor the last one, so that the search matters.
    assert 1 < searched.best_epoch[0] < 40
    np.testing.assert_allclose(draws[0], flatten(expected.params), rtol=1e-5, atol=1e-6)


def test_rows_held_out_are_watched_and_nothing_is_trained_anew(linear, key: jax.Array) -> None:
    apart = jax.tree.map(lambda leaf: leaf[45:], linear.data)
    rest = jax.tree.map(lambda leaf: leaf[:45], linear.data)
    problem = linear.problem._replace(data=rest, held_out=apart, validation_rows=np.arange(9))
    posterior = Ensemble(1, SETTINGS).run(key, problem, SILENT)
    key_init, key_search, _ = jax.random.split(key, 3)
    expected = train(
        key_search,
        problem.objective,
        problem.initialise(jax.random.split(key_init, 1)),
        linear.data,
        pad_rows([np.arange(45)]),
        SETTINGS,
        watch_rows=pad_rows([np.arange(45, 61)]),
    )
    assert 1 < expected.best_epoch[0] < 40
    np.testing.assert_array_equal(posterior.info["best_epoch"], expected.best_epoch)
    found = flatten(posterior.draws)[0]
    np.testing.assert_allclose(found, flatten(expected.params), rtol=1e-5, atol=1e-6)
