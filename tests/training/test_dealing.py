"""Runs dealt over real workers: the same bits as here, data sent once, lost workers replaced."""

import os
import signal

import jax
import jax.numpy as jnp
import joblib
import numpy as np
import pytest

from vebnn import MLP, PSGHMC, Training, VeBNNRegressor
from vebnn.core import workers
from vebnn.core.devices import available_cores
from vebnn.training import Observer, dealing, map_runs, replicate
from vebnn.training.dealing import dealt
from vebnn.training.fleet import unchanging

SHORT = Training(num_epochs=6, batch_size=16, patience=4, learning_rate=1e-2)
CHAINS = PSGHMC(num_samples=4, burn_in=3, thinning=2, num_chains=3, batch_size=16)

needs_devices = pytest.mark.skipif(
    available_cores() < 2, reason="a fit with one device is compiled in another way"
)


@pytest.fixture(scope="module")
def dask_cluster():
    distributed = pytest.importorskip("distributed")
    with workers.environment(workers.parts_of_a_fit()):
        client = distributed.Client(n_workers=3, threads_per_worker=1, dashboard_address=":0")
    with client:
        yield client


def dies_once(flag, here, x):
    """Kill the process that calls this, unless it is the test's; only the first time."""
    if os.getpid() != here:
        try:
            os.unlink(flag)
        except FileNotFoundError:
            return x
        os.kill(os.getpid(), signal.SIGKILL)
    return x


def deadly(flag, here):
    """Return work that kills the worker which does it first, in the middle."""

    def work(data, run):
        row, rate = run
        x = jnp.tanh(data @ data.T @ jnp.ones(len(data)) * rate + data[row])
        return jax.pure_callback(lambda x: dies_once(flag, here, x), x, x)

    return work


def work_once(work):
    data = np.linspace(-1, 1, 64, dtype=np.float32).reshape(8, 8)
    rows, rates = unchanging(np.arange(6)), np.linspace(0, 1, 6, dtype=np.float32)
    return map_runs(work, replicate(data, 6), (rows, rates))


def test_the_piece_of_a_worker_that_dies_is_done_by_another(dask_cluster, tmp_path) -> None:
    flag = tmp_path / "first"
    flag.touch()
    work = deadly(str(flag), os.getpid())
    here = work_once(work)
    with joblib.parallel_config("dask"), dealt(None):
        there = work_once(work)
    assert not flag.exists()
    np.testing.assert_array_equal(here, there)


def test_the_only_worker_of_dask_does_the_work(dask_cluster, monkeypatch) -> None:
    monkeypatch.setattr(dask_cluster, "ncores", lambda: {"the only one": 1})
    with joblib.parallel_config("dask"):
        with workers.Workers() as some, some.results([joblib.delayed(os.getpid)()]) as processes:
            assert os.getpid() not in list(processes)
        assert joblib.effective_n_jobs() == 1  # as before


class Killer(Observer):
    """Kills a worker in the middle of a fit."""

    def __init__(self, client) -> None:
        self.client, self.victims = client, []

    def report(self, stage, state, done, total, message) -> None:
        if "Step 3" in stage and not self.victims:
            pids = self.client.run(os.getpid)
            self.victims.append(next(iter(pids.values())))
            os.kill(self.victims[0], signal.SIGKILL)


@pytest.fixture(scope="module")
def ray_cluster():
    ray = pytest.importorskip("ray")
    from ray.util.joblib import register_ray

    register_ray()
    with workers.environment(workers.parts_of_a_fit()):
        ray.init(num_cpus=3, include_dashboard=False, log_to_driver=False)
    yield
    ray.shutdown()


SETTINGS = {
    "inference": CHAINS,
    "variance_inference": CHAINS,
    "rounds": 1,
    "num_folds": 3,
    "mean_training": SHORT,
    "random_state": 0,
}


@needs_devices
@pytest.mark.slow
@pytest.mark.filterwarnings("default")  # Ray's own
def test_ray_has_the_same_bits_and_replaces_workers(ray_cluster, sine, tmp_path) -> None:
    flag = tmp_path / "first"
    flag.touch()
    work = deadly(str(flag), os.getpid())
    here = work_once(work)
    with joblib.parallel_config("ray", n_jobs=3), dealt(None):
        there = work_once(work)
    assert not flag.exists()
    np.testing.assert_array_equal(here, there)
    X, y = sine
    model = VeBNNRegressor(MLP((8,)), **SETTINGS)
    here = model.fit(X, y).predict_distribution(X[:6])
    with joblib.parallel_config("ray", n_jobs=3):
        there = model.fit(X, y).predict_distribution(X[:6])
    same_bits(here, there)


def same_bits(here, there) -> None:
    for part in ("mean", "aleatoric_variance", "epistemic_variance"):
        np.testing.assert_array_equal(getattr(here, part), getattr(there, part))


@needs_devices
@pytest.mark.slow
def test_a_fit_on_dask_has_the_same_bits(dask_cluster, sine, monkeypatch) -> None:
    X, y = sine
    killer = Killer(dask_cluster)
    monkeypatch.setattr("vebnn.estimators.regressor.Progress", lambda: killer)
    model = VeBNNRegressor(MLP((8,)), **SETTINGS)
    here = model.fit(X, y).predict_distribution(X[:6])
    calls = []
    deal = dealing.deal
    monkeypatch.setattr("vebnn.training.fleet.deal", lambda *given: calls.append(1) or deal(*given))
    with joblib.parallel_backend("dask"):
        there = model.set_params(verbose=1).fit(X, y).predict_distribution(X[:6])
    assert len(calls) > 4
    assert len(killer.victims) == 1
    same_bits(here, there)


def test_a_wrong_number_of_workers_is_one_sentence(sine) -> None:
    for wrong in (0, 1.5, "all"):
        with pytest.raises(ValueError, match="`n_jobs` must be None, a whole number"):
            VeBNNRegressor(n_jobs=wrong).fit(*sine)
    with (
        joblib.parallel_config("multiprocessing", n_jobs=2),
        pytest.raises(ValueError, match="must start fresh processes"),
        dealt(None),
    ):
        pass


def test_threads_and_single_jobs_stay_in_this_process() -> None:
    for context in ({"backend": "threading", "n_jobs": 2}, {"n_jobs": 1}, {}):
        with joblib.parallel_config(**context), dealt(None):
            assert not dealing.are_dealt(6)
