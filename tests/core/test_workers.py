"""Worker processes: a core each, no orphans, one sentence when one is killed."""

import os
import signal
import sys
import time

import pytest
from joblib.externals.loky import get_reusable_executor

from tests.support.processes import wait_until_gone
from vebnn.core.devices import available_cores
from vebnn.core.workers import spread

needs_affinity = pytest.mark.skipif(
    not hasattr(os, "sched_getaffinity"), reason="only Linux says which cores a process may use"
)


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    """Fresh workers, with locks that no other test knows of; returns the folder of the locks."""
    get_reusable_executor().shutdown(wait=True)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    yield tmp_path / "vebnn" / "cores"
    get_reusable_executor().shutdown(wait=True)


def process_and_cores(case):
    time.sleep(0.2)  # so that every worker gets a share
    return os.getpid(), frozenset(os.sched_getaffinity(0))


def cores_of_workers(jobs):
    """Return the cores of every worker."""
    found = {result for _, result in spread(process_and_cores, range(4 * jobs), jobs=jobs)}
    cores = dict(found)
    assert len(found) == len(cores)  # no worker moves
    return cores


@needs_affinity
def test_no_two_workers_share_a_core(cache):
    jobs = available_cores()
    cores = cores_of_workers(jobs)
    if jobs > 1:
        assert all(len(held) == 1 for held in cores.values())
        assert len(set(cores.values())) == len(cores)
        assert cache.stat().st_mode & 0o777 == 0o700
        assert {lock.stat().st_mode & 0o777 for lock in cache.iterdir()} == {0o600}
    # The caller itself is not pinned.
    assert available_cores() == jobs


@needs_affinity
def test_more_workers_than_cores_are_not_pinned():
    cores = cores_of_workers(available_cores() + 1)
    assert all(len(held) == available_cores() for held in cores.values())


@needs_affinity
@pytest.mark.skipif(available_cores() < 2, reason="one core needs no lock")
def test_a_link_in_the_place_of_a_lock_is_not_followed(cache, tmp_path):
    jobs = available_cores()
    cores_of_workers(jobs)
    get_reusable_executor().shutdown(wait=True)
    victim = tmp_path / "victim"
    victim.write_text("precious")
    for lock in list(cache.iterdir()):
        lock.unlink()
        lock.symlink_to(victim)
    assert all(len(held) == jobs for held in cores_of_workers(jobs).values())
    assert victim.read_text() == "precious"


@needs_affinity
@pytest.mark.skipif(available_cores() < 2, reason="one core needs no lock")
@pytest.mark.parametrize("trap", ["link", "open to all"])
def test_a_folder_that_is_not_ours_alone_holds_no_locks(trap, cache, tmp_path):
    cache.parent.mkdir()
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    if trap == "link":
        cache.symlink_to(elsewhere)
    else:
        cache.mkdir()
        cache.chmod(0o777)
    jobs = available_cores()
    assert all(len(held) == jobs for held in cores_of_workers(jobs).values())
    assert not list(cache.iterdir())


def slow_for_large(case):
    time.sleep(case)
    return os.getpid()


def test_results_come_as_they_are_finished_with_their_cases():
    cases = [1.5, 0.0, 0.1]
    found = list(spread(slow_for_large, cases, jobs=2))
    assert sorted(case for case, _ in found) == sorted(cases)
    assert found[-1][0] == 1.5
    assert os.getpid() not in {process for _, process in found}


def test_one_job_is_done_by_this_process():
    before = dict(os.environ)
    for case, process in spread(slow_for_large, [0.0, 0.01], jobs=1):
        assert (case, process) == (case, os.getpid())
        assert dict(os.environ) == before  # JAX, if it starts now, may use all cores
    assert available_cores() == len(os.sched_getaffinity(0))


def dies(case):
    time.sleep(0.1)
    if case == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return case


def test_a_killed_worker_is_one_sentence():
    with pytest.raises(ChildProcessError, match="worker process was killed"):
        list(spread(dies, range(8), jobs=2))
    # The next call has new workers.
    assert len(list(spread(slow_for_large, [0.0] * 4, jobs=2))) == 4


def short_or_long(case):
    """Return at once without a folder; with one, leave a trace there and take a minute."""
    if case:
        (case / str(os.getpid())).touch()
        time.sleep(60)


def test_an_early_end_stops_the_workers(tmp_path):
    """Without a warning, which would be an error here, and without waiting for tasks under way."""
    started = tmp_path / "started"
    started.mkdir()
    results = spread(short_or_long, [None, started, started], jobs=2)
    assert next(results)[0] is None
    while len(list(started.iterdir())) < 2:
        time.sleep(0.05)
    results.close()
    wait_until_gone([int(path.name) for path in started.iterdir()], seconds=10)


def test_a_missing_package_is_one_sentence(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(ValueError, match=r"'ray' is not installed.*pip install 'vebnn\[ray\]'"):
        list(spread(slow_for_large, [0.0], backend="ray"))
