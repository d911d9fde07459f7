"""How close to the machine's limit is a step, and how well do two devices share a fleet?

Prints two tables of ratios, each measured in the same run, interleaved, median of repeats:

1. Step 1 (Adam) and Step 3 (pSGLD) on the sizes of UCI Concrete (8-50-1, mini-batches of 256) on one
   core, against the bare matrix products of such a step, by the faster of OpenBLAS and XLA.
2. A fleet of 20 runs on two devices, one per core as vebnn sets them up, against the same fleet on
   one device, which has both cores for its operations, and on one device held to a single core.

Usage: python benchmarks/speed.py
"""

import multiprocessing
import os
import statistics
import time
from collections.abc import Callable
from multiprocessing.connection import Connection

from rich.console import Console
from rich.table import Table

ROWS, FEATURES, WIDTH, BATCH = 1024, 8, 50, 256
EPOCHS = 2_000
REPEATS = 7
FLEET = 20
PRODUCTS = ("products in OpenBLAS", "products in XLA")


def main() -> None:
    """Measure and print."""
    console = Console()
    workers = {
        "one device": Worker(devices=1, cores=2),
        "one device, one core": Worker(devices=1, cores=1),
        "two devices": Worker(devices=2, cores=2),
    }
    console.print(f"{os.cpu_count()} cores · median of {REPEATS} interleaved repeats\n")
    steps: dict[str, list[float]] = {name: [] for name in (*PRODUCTS, "Step 1", "Step 3")}
    fleets: dict[str, list[float]] = {name: [] for name in workers}
    for _ in range(REPEATS):
        for name, seconds in steps.items():
            seconds.append(workers["one device, one core"].time(name))
        for name, seconds in fleets.items():
            seconds.append(workers[name].time("fleet"))
    for worker in workers.values():
        worker.stop()
    num_steps = EPOCHS * ROWS // BATCH
    microseconds = {name: statistics.median(times) / num_steps * 1e6 for name, times in steps.items()}
    floor = min(microseconds[name] for name in PRODUCTS)
    table = Table("one core, 8-50-1, batch 256", "µs per step", "× the bare products", "at most")
    for name, each in microseconds.items():
        table.add_row(name, f"{each:.1f}", f"{each / floor:.2f}", "" if name in PRODUCTS else "3")
    console.print(table)
    table = Table(f"fleet of {FLEET} runs", "seconds", "× one device", "at most")
    alone = statistics.median(fleets["one device"])
    for name, times in fleets.items():
        median = statistics.median(times)
        limit = "0.6" if name == "two devices" else ""
        table.add_row(name, f"{median:.2f}", f"{median / alone:.2f}", limit)
    console.print(table)


class Worker:
    """A process with its own number of JAX devices and cores, which runs one job at a time."""

    def __init__(self, devices: int, cores: int) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, devices, cores), daemon=True)
        self._process.start()
        self._pipe.recv()  # compiled and warm

    def time(self, job: str) -> float:
        """Return the seconds a job takes."""
        self._pipe.send(job)
        return self._pipe.recv()

    def stop(self) -> None:
        """End the process."""
        self._pipe.send(None)
        self._process.join()


def _serve(pipe: Connection, devices: int, cores: int) -> None:
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:cores])
    os.environ["VEBNN_CPU_DEVICES"] = str(devices)
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    jobs = _jobs() if cores == 1 else {"fleet": _fleet()}
    for job in jobs.values():
        job()
    pipe.send("ready")
    while (name := pipe.recv()) is not None:
        started = time.perf_counter()
        jobs[name]()
        pipe.send(time.perf_counter() - started)


def _jobs() -> dict[str, Callable[[], object]]:
    import jax
    import jax.numpy as jnp
    import numpy as np

    from vebnn import PSGLD
    from vebnn.inference import Problem
    from vebnn.training import SILENT, Training, all_rows, train

    objective, starts, data = _problem(runs=1)
    key = jax.random.key(0)
    x = np.asarray(data.x[:BATCH])
    first, second = np.ones((WIDTH, FEATURES), np.float32), np.ones((1, WIDTH), np.float32)
    num_steps = EPOCHS * ROWS // BATCH

    def openblas() -> None:
        for _ in range(num_steps):
            _products(x, first, second)

    @jax.jit
    def xla(first: jax.Array, second: jax.Array) -> tuple:
        def body(carry: tuple, _: None) -> tuple:
            # A tiny update keeps the compiler from computing the products only once.
            gradients = _products(jnp.asarray(x), *carry)
            return tuple(w + 1e-9 * g for w, g in zip(carry, gradients, strict=True)), None

        return jax.lax.scan(body, (first, second), None, length=num_steps)[0]

    sampler = PSGLD(num_samples=20, burn_in=EPOCHS - 400, thinning=20)
    problem = Problem(objective, data, lambda keys: starts, starts, np.arange(8), None)
    settings = Training(num_epochs=EPOCHS, batch_size=BATCH)
    return {
        "products in OpenBLAS": openblas,
        "products in XLA": lambda: jax.block_until_ready(xla(first, second)),
        "Step 1": lambda: train(key, objective, starts, data, all_rows(ROWS), settings),
        "Step 3": lambda: sampler.run(key, problem, SILENT),
        "fleet": _fleet(),
    }


def _fleet() -> Callable[[], object]:
    import jax

    from vebnn.training import Training, all_rows, train

    objective, starts, data = _problem(runs=FLEET)
    settings = Training(num_epochs=EPOCHS // 2, batch_size=BATCH)
    rows = all_rows(ROWS, FLEET)
    return lambda: train(jax.random.key(0), objective, starts, data, rows, settings)


def _products(x, first, second):
    """The five matrix products of one forward and backward pass, and nothing else."""
    hidden = x @ first.T
    output = hidden @ second.T
    return (output @ second).T @ x, output.T @ hidden


def _problem(runs: int) -> tuple:
    import jax
    import numpy as np

    from vebnn import MLP
    from vebnn.likelihoods.of_networks import GaussianNoiseGiven, IsotropicPrior
    from vebnn.networks.adapters import build_networks
    from vebnn.training import Objective
    from vebnn.types import Dataset

    rng = np.random.default_rng(0)
    x = rng.normal(size=(ROWS, FEATURES)).astype(np.float32)
    target = np.sin(x[:, :1])
    ones = np.ones_like(target)
    keys = jax.random.split(jax.random.key(0), runs)
    starts, skeleton = build_networks(MLP((WIDTH,), "relu"), (FEATURES,), 1, keys)
    objective = Objective(GaussianNoiseGiven(skeleton), IsotropicPrior(np.float32(1)))
    return objective, starts, Dataset(x, target, ones, 0.1 * ones)


if __name__ == "__main__":
    main()
