"""Rows that stay with the host: the same results, from rows read batch by batch."""

import gc
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tests.support.patches import patch_networks, patches
from vebnn.core.types import NoisyDataset
from vebnn.inference import PSGLD, Problem
from vebnn.likelihoods.log_likelihoods import GaussianNoiseGiven, IsotropicPrior
from vebnn.training import SILENT, Objective, Training, all_rows, streaming, train
from vebnn.training.batches import (
    NO_ROW,
    all_rows_of,
    count_rows,
    rows_of_batch,
    shuffled_batches,
    take,
)

NUM_ROWS, BATCH = 45, 15
OBJECTIVE = Objective(GaussianNoiseGiven(), IsotropicPrior(np.float32(2)))


@pytest.fixture
def data(tmp_path):
    data = patches(NUM_ROWS)
    np.save(tmp_path / "x.npy", data.x)
    return data._replace(x=np.load(tmp_path / "x.npy", mmap_mode="r"))


@pytest.fixture
def read(monkeypatch):
    """Give devices too little memory for the images; return how many rows each read had."""
    sizes = []
    honest = streaming.HostRows._read

    def count(self, numbers):
        sizes.append(np.size(numbers))
        return honest(self, numbers)

    monkeypatch.setattr(streaming.HostRows, "_read", count)
    monkeypatch.setattr(streaming, "device_memory", lambda: 1.9 * NUM_ROWS * 28 * 28)
    return sizes


def trained(data):
    rows, settings = all_rows(30, 2), Training(4, batch_size=BATCH)
    watch = np.tile(np.arange(30, NUM_ROWS, dtype=np.int32), (2, 1))
    return train(
        jax.random.key(1), OBJECTIVE, patch_networks(2), data, rows, settings, watch_rows=watch
    )


def sampled(data):
    engine = PSGLD(num_samples=3, burn_in=2, thinning=1, num_chains=2, batch_size=BATCH)
    starts = patch_networks(2)
    problem = Problem(OBJECTIVE, data, lambda keys: starts, starts, np.arange(3))
    return engine.run(jax.random.key(2), problem, SILENT).draws


@pytest.mark.parametrize("compute", [trained, sampled])
def test_results_are_those_of_rows_on_the_device(data, compute, request) -> None:
    on_device = compute(data)
    read = request.getfixturevalue("read")
    streamed = compute(data)
    for one, other in zip(*map(jax.tree.leaves, (streamed, on_device)), strict=True):
        np.testing.assert_array_equal(one, other)
    assert read
    assert max(read) <= BATCH  # batches and validation rows, never all rows


def test_rows_that_fit_stay_on_the_device(data, read, monkeypatch) -> None:
    assert isinstance(streaming.stream_if_large(data).x, streaming.HostRows)
    monkeypatch.setattr(streaming, "device_memory", lambda: 2 * data.x.nbytes)
    assert streaming.stream_if_large(data) is data
    monkeypatch.setattr(streaming, "device_memory", lambda: None)
    assert streaming.stream_if_large(data) is data


def test_runs_side_by_side_get_rows_of_their_own(data, read) -> None:
    here = data._replace(x=streaming.HostRows(data.x))
    here = jax.tree.map(jnp.asarray, here)
    rows = np.array([[3, 1], [0, NO_ROW]])
    found = jax.jit(jax.vmap(lambda one: take(here, one)))(rows)
    np.testing.assert_array_equal(found.x, data.x[rows])
    np.testing.assert_array_equal(found.weight[..., 0], [[1, 1], [1, 0]])


def test_rows_in_random_order_are_dealt_as_whole_batches(tmp_path, key) -> None:
    np.save(tmp_path / "x.npy", np.random.default_rng(0).normal(size=(103, 3)).astype(np.float32))
    x = np.load(tmp_path / "x.npy", mmap_mode="r")
    ones = np.ones((103, 1), np.float32)
    data = NoisyDataset(streaming.HostRows(x, shuffled=True), ones, ones, ones)
    lists = {"array": jnp.asarray(all_rows(103)[0]), "no memory": all_rows_of(data)}

    def deal(name: str) -> np.ndarray:
        rows = lists[name]

        def one(key):
            numbers = shuffled_batches(key, data, rows, 10)
            return jax.lax.map(lambda number: rows_of_batch(data, rows, number, 10), numbers)

        return np.asarray(jax.jit(one)(key))

    dealt = deal("array")
    np.testing.assert_array_equal(deal("no memory"), dealt)
    assert [int(jax.jit(lambda one=one: count_rows(one))()) for one in lists.values()] == [103, 103]
    # round_size adds a row that does not exist.
    assert sorted(dealt[dealt != NO_ROW]) == list(range(103))
    assert sorted(dealt[:, 0]) == list(range(0, 103, 10))
    assert (np.diff(dealt, axis=1)[dealt[:, 1:] != NO_ROW] == 1).all()
    assert list(dealt[:, 0]) != sorted(dealt[:, 0])


def rows_in_memory() -> list[streaming.HostRows]:
    gc.collect()
    return [one for one in gc.get_objects() if isinstance(one, streaming.HostRows) and len(one)]


@pytest.mark.parametrize("part", ["training", "chains"])
def test_compiled_programs_do_not_keep_targets_in_memory(part: str, linear, key, tmp_path) -> None:
    np.save(tmp_path / "x.npy", np.asarray(linear.data.x))
    x = streaming.HostRows(np.load(tmp_path / "x.npy", mmap_mode="r"), shuffled=True)
    target = linear.data.target
    data = linear.data._replace(x=x)
    before = rows_in_memory()
    if part == "training":
        fleet = linear.problem.starts
        rows = all_rows(len(target), num_runs=len(jax.tree.leaves(fleet)[0]))
        train(key, linear.objective, fleet, data, rows, Training(2))
    else:
        brief = PSGLD(2, burn_in=1, thinning=1)
        brief.run(key, linear.problem._replace(data=data), SILENT)
    # The inputs are those of the stages to come, too.
    new = [one for one in rows_in_memory() if one not in before and one is not x]
    assert [one.shape for one in new if one.shape[1:] == target.shape[1:]] == []
    assert x.on_host(slice(None)).sum() != 0


def test_pages_of_a_mapped_file_are_given_back(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(streaming, "MOST_MAPPED", 2**20)
    np.save(tmp_path / "x.npy", np.ones((2**13, 2**10), np.float32))  # 32 MiB
    rows = streaming.HostRows(np.load(tmp_path / "x.npy", mmap_mode="r"))

    def resident() -> int:
        """Return the mapped pages of files in this process, in kB."""
        lines = Path("/proc/self/status").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("RssFile"))

    before = resident()
    for start in range(0, 2**13, 64):
        assert rows.on_host(slice(start, start + 64)).sum() == 2**16
    assert resident() - before < 2**13
