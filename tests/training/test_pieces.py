"""Pieces of a fit and what they carry, without other processes: the worker is this process."""

from contextlib import contextmanager

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from vebnn.training import dealing, map_runs, replicate
from vebnn.training.fleet import unchanging
from vebnn.training.streaming import HostRows


class HereInstead:
    """Does the tasks in this process; notes the arrays they carry, and loses some of the answers."""

    def __init__(self, losses=()) -> None:
        self.losses, self.calls, self.arrays, self.restarts = list(losses), [], [], 0

    @contextmanager
    def results(self, tasks):
        def answers():
            self.calls.append([arguments[0] for _, arguments, _ in tasks])
            for function, arguments, _ in tasks:
                if self.losses and self.losses[0] == arguments[0]:
                    del self.losses[0]
                    raise OSError("a worker is gone")
                self.arrays.append(len(arguments) - 2)
                yield function(*arguments)

        yield answers()

    def restart(self) -> None:
        self.restarts += 1


@pytest.fixture
def worker(monkeypatch):
    monkeypatch.setattr(dealing, "_kept", {})
    monkeypatch.setattr(dealing, "_named", {})

    def new(losses=()):
        workers = HereInstead(losses)
        token = dealing._active.set(dealing._Cluster(workers, set()))
        tokens.append(token)
        return workers

    tokens: list = []
    yield new
    for token in reversed(tokens):
        dealing._active.reset(token)


def product(data, run):
    key, row, rate = run
    return {"key": key, "sum": jnp.sum(data * rate) + data[row], "draw": jax.random.normal(key)}


def runs_of(number):
    rates = np.arange(number, dtype=np.float32)
    return jax.random.split(jax.random.key(1), number), np.arange(number), rates


DATA = np.arange(5, dtype=np.float32)


def test_dealt_runs_are_a_loop(worker) -> None:
    expected = map_runs(product, DATA, runs_of(3))
    worker()
    found = map_runs(product, DATA, runs_of(3))
    for name in ("sum", "draw"):
        np.testing.assert_array_equal(found[name], expected[name])
    np.testing.assert_array_equal(*(jax.random.key_data(one["key"]) for one in (found, expected)))


def three_times(before_each=lambda: None):
    for rate in (1.0, 2.0, 3.0):
        before_each()
        data, rows = replicate(DATA, 3), unchanging(np.arange(3))
        rates = np.full(3, rate, np.float32)
        found = map_runs(product, data, (runs_of(3)[0], rows, rates))
        np.testing.assert_allclose(found["sum"], DATA.sum() * rate + DATA[:3])


def test_what_does_not_change_is_sent_once(worker) -> None:
    workers = worker()
    three_times()
    assert workers.calls == [[0, 1, 2]] * 3
    assert workers.arrays == [2, 2, 2, 0, 0, 0, 0, 0, 0]
    assert sorted(array.shape for array in dealing._kept.values()) == [(3,), (5,)]


def test_of_large_arrays_a_worker_gets_the_runs_that_it_does(worker, monkeypatch) -> None:
    monkeypatch.setattr(dealing, "MOST_WHOLE", 3)
    worker()
    three_times()
    assert sorted(array.shape for array in dealing._kept.values()) == [(1,), (1,), (1,), (5,)]


def test_a_worker_that_lacks_arrays_gets_them(worker) -> None:
    workers = worker()
    three_times(before_each=dealing._kept.clear)  # as another worker would
    assert workers.calls == [[0, 1, 2]] * 5
    assert workers.arrays == [2, 2, 2, 0, 0, 0, 2, 2, 2, 0, 0, 0, 2, 2, 2]


def test_a_worker_forgets_what_is_no_longer_named(worker, monkeypatch) -> None:
    monkeypatch.setattr(dealing, "FORGET_AFTER", 4)
    worker()
    for number in range(5):
        map_runs(product, replicate(DATA + number, 3), runs_of(3))
    assert len(dealing._kept) <= 3


def test_only_the_pieces_of_a_lost_worker_are_done_again(worker) -> None:
    workers = worker([1, 2])
    found = map_runs(product, DATA, runs_of(4))
    np.testing.assert_allclose(found["sum"], DATA.sum() * np.arange(4) + DATA[:4])
    assert workers.calls == [[0, 1, 2, 3], [1, 2, 3], [2, 3]]
    assert workers.restarts == 2


def test_workers_that_are_lost_again_and_again_are_one_sentence(worker) -> None:
    worker([0, 0, 0])
    with pytest.raises(ChildProcessError, match=r"lost 3 times in a row.*a worker is gone"):
        map_runs(product, DATA, runs_of(2))


def test_one_run_stays_in_this_process(worker) -> None:
    workers = worker()
    map_runs(product, DATA, runs_of(1))
    assert not workers.calls


def fails(function, shared, runs):
    raise ArithmeticError("cannot be computed")


def test_a_program_that_fails_is_not_tried_again(worker) -> None:
    workers = worker()
    with pytest.raises(RuntimeError, match=r"(?s)could not do its part.*cannot be computed"):
        dealing.deal(fails, product, DATA, runs_of(2))
    assert len(workers.calls) == 1


def test_rows_in_a_file_are_refused(worker) -> None:
    worker()
    with pytest.raises(ValueError, match=r"needs rows in memory.*n_jobs=1"):
        replicate(HostRows(DATA), 3)
