import os
import subprocess
import sys

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tests.support.linear import flatten
from vebnn.likelihoods.log_likelihoods import IsotropicPrior
from vebnn.training import Training, all_rows, fleet, map_runs, pad_rows, train
from vebnn.training.loop import Run, _Advance, _start
from vebnn.training.objective import NegativeLogLikelihood, Objective


@pytest.mark.parametrize("num_runs", [1, 2, 3, 5])
def test_map_runs_is_a_loop(num_runs: int, rng: np.random.Generator) -> None:
    # Odd numbers of runs do not divide over two devices: the surplus must not be seen.
    shared, runs = rng.standard_normal(4).astype(np.float32), np.arange(num_runs, dtype=np.float32)
    results = map_runs(lambda all_see, run: {"sum": jnp.sum(all_see) * run, "run": run}, shared, runs)
    np.testing.assert_allclose(results["sum"], shared.sum() * runs, rtol=1e-5)
    np.testing.assert_array_equal(results["run"], runs)


def test_the_surplus_of_a_fleet_is_one_program_however_many_arrays(compiled: list[str]) -> None:
    def programs(num_arrays: int) -> int:
        compiled.clear()
        runs = {number: np.zeros((3, 7 + number)) for number in range(num_arrays)}
        map_runs(lambda shared, run: run, np.zeros(2), runs)
        # Copying an array to a device may have a program of its own.
        return sum("slice" not in name for name in compiled)

    assert programs(12) == programs(2) > 0


def test_map_runs_passes_values_that_are_not_arrays() -> None:
    results = map_runs(lambda shared, run: shared[0](run) + shared[1], (jnp.sin, 2.0), np.zeros(3))
    np.testing.assert_allclose(results, 2.0)


def test_a_compiler_without_the_option_does_the_same(monkeypatch, rng: np.random.Generator) -> None:
    runs = rng.standard_normal((4, 8, 8)).astype(np.float32)
    work = lambda shared, run: jax.lax.fori_loop(0, 5, lambda _, x: jnp.tanh(x @ run) + shared, run)  # noqa: E731
    expected = map_runs(work, 1.0, runs)
    assert fleet._is_known({"xla_cpu_enable_fast_math": False})
    assert not fleet._is_known({"xla_cpu_has_no_such_option": "1"})
    monkeypatch.setattr(fleet, "_is_known", lambda options: False)
    monkeypatch.setattr(fleet, "_compiled", fleet._compiled.__wrapped__)
    np.testing.assert_allclose(map_runs(work, 1.0, runs), expected, rtol=1e-6)


def test_a_fleet_is_as_good_as_single_runs(linear, key: jax.Array) -> None:
    # Runs differ in everything that may differ: key, start, rows, rate, epochs, and their own prior.
    lists = [np.arange(61), np.arange(0, 61, 2), np.arange(30, 50)]
    rows, watch = pad_rows(lists), pad_rows([np.arange(5), np.arange(9), np.arange(61)])
    rates = np.array([1e-3, 1e-2, 5e-2], np.float32)
    epochs = np.array([7, 20, 12], np.int32)
    three = jax.tree.map(lambda leaf: leaf[:3], linear.starts)
    settings = Training(num_epochs=20, batch_size=16, patience=4)
    precisions = np.array([1.0, 3.0, 50.0], np.float32)
    own = eqx.tree_at(
        lambda objective: objective.log_prior.precision,
        jax.tree.map(lambda _: None, linear.objective),
        precisions,
        is_leaf=lambda leaf: leaf is None,
    )
    trained = train(
        key,
        linear.objective,
        three,
        linear.data,
        rows,
        settings,
        watch_rows=watch,
        learning_rate=rates,
        num_epochs=epochs,
        own=own,
    )
    states = _start(key, three, 20)
    for run in range(3):
        one = lambda tree, run=run: jax.tree.map(lambda leaf: leaf[run], tree)  # noqa: E731
        objective = Objective(linear.objective.log_likelihood, IsotropicPrior(precisions[run]))
        nothing = jax.tree.map(lambda _: None, objective)
        monitor = NegativeLogLikelihood(objective.log_likelihood)
        advance = _Advance(objective, monitor, True, 16, 4, 0.0, shares=1)
        alone = eqx.filter_jit(advance)(
            (linear.data, np.int32(20)),
            Run(one(states), rates[run], epochs[run], rows[run], watch[run], nothing),
        )
        np.testing.assert_array_equal(trained.num_epochs[run], alone.epoch)
        np.testing.assert_array_equal(trained.best_epoch[run], alone.best_epoch)
        np.testing.assert_allclose(trained.history[run], alone.history, rtol=1e-5)
        np.testing.assert_allclose(
            flatten(one(trained.params)), flatten(alone.best_params), rtol=1e-5, atol=1e-6
        )


def test_learning_rate_per_run(linear, key: jax.Array) -> None:
    # Adam's first step has the size of the learning rate, whatever the gradient.
    start = jax.tree.map(lambda leaf: jnp.stack([leaf[0]] * 3), linear.starts)
    rates = np.array([1e-3, 1e-2, 1e-1], np.float32)
    trained = train(
        key,
        linear.objective,
        start,
        linear.data,
        all_rows(61, 3),
        Training(num_epochs=1),
        learning_rate=rates,
    )
    moved = np.abs(flatten(trained.params) - flatten(start))
    np.testing.assert_allclose(moved, np.tile(rates[:, None], (1, 3)), rtol=1e-3)


PROGRAM = """
import jax, numpy as np, vebnn
from vebnn.likelihoods.log_likelihoods import GaussianNoiseGiven, IsotropicPrior
from vebnn.networks import MLP
from vebnn.networks import build_networks
from vebnn.training import Objective, Training, all_rows, train
from vebnn.core.types import NoisyDataset

assert jax.local_device_count() == int({devices})
x = np.linspace(-1, 1, 40, dtype=np.float32)[:, None]
data = NoisyDataset(x, np.sin(3 * x), np.ones_like(x), np.full_like(x, 0.1))
starts = build_networks(MLP(()), (1,), 1, jax.random.split(jax.random.key(0), 3))
objective = Objective(GaussianNoiseGiven(), IsotropicPrior(np.float32(1)))
settings = Training(num_epochs=30, learning_rate=0.01, batch_size=16)
trained = train(jax.random.key(1), objective, starts, data, all_rows(40, 3), settings)
leaves = jax.tree.leaves(trained.params)
np.savez({path!r}, *leaves)
"""


def test_results_do_not_depend_on_the_number_of_devices(tmp_path) -> None:
    processes = []
    for devices in ("1", "2"):
        program = PROGRAM.format(devices=devices, path=str(tmp_path / f"{devices}.npz"))
        environment = os.environ | {"VEBNN_CPU_DEVICES": devices}
        processes.append(subprocess.Popen([sys.executable, "-c", program], env=environment))
    assert [process.wait() for process in processes] == [0, 0]
    one, two = np.load(tmp_path / "1.npz"), np.load(tmp_path / "2.npz")
    assert len(one.files) == 2
    for name in one.files:
        np.testing.assert_allclose(one[name], two[name], rtol=1e-5, atol=1e-6)
