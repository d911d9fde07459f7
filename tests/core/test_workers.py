"""Fits side by side: each worker has a core of its own."""

import os
import time

import pytest
from joblib.externals.loky import get_reusable_executor

from vebnn.core.devices import available_cores
from vebnn.core.workers import spread

pytestmark = pytest.mark.skipif(
    not hasattr(os, "sched_getaffinity"), reason="only Linux says which cores a process may use"
)


@pytest.fixture(autouse=True)
def fresh_workers(tmp_path, monkeypatch):
    """Workers, and locks, that no other test knows of."""
    get_reusable_executor().shutdown(wait=True)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    yield
    get_reusable_executor().shutdown(wait=True)


def who_and_where(case):
    time.sleep(0.2)  # so that nobody does all the work
    return os.getpid(), frozenset(os.sched_getaffinity(0))


def test_no_two_workers_share_a_core():
    jobs = available_cores()
    found = {result for _, result in spread(who_and_where, range(4 * jobs), jobs=jobs)}
    cores = dict(found)
    assert len(found) == len(cores)  # nobody moves
    assert all(len(held) == 1 for held in cores.values())
    assert len(set(cores.values())) == len(cores)
    # The caller may go where it likes.
    assert available_cores() == jobs


def test_more_workers_than_cores_go_where_they_like():
    jobs = available_cores() + 1
    found = [result for _, result in spread(who_and_where, range(2 * jobs), jobs=jobs)]
    assert all(len(held) == available_cores() for _, held in found)
