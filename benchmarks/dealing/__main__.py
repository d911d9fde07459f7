"""``python -m benchmarks.dealing``: time one fit on Dask with one and with two workers, a core each.

The numbers of workers take turns. Products of NumPy matrices, done by the same workers, show how much
more two processes of this machine do than one. Writes rows and the tables of docs/scale.md.
"""

import argparse
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import joblib
import numpy as np
from distributed import Client

import vebnn  # noqa: F401  # before JAX starts its devices
from benchmarks.dealing import page
from vebnn import MLP, PSGHMC, Training, VeBNNRegressor
from vebnn.core.workers import Workers, environment, parts_of_a_fit, pin

COLUMNS = 20
PRODUCTS = 200  # of matrices, in all


@dataclass
class Sent:
    """Bytes to and from the workers."""

    data: int = 0  # arrays that stay there
    state: int = 0  # all else

    @contextmanager
    def counted(self) -> Iterator[None]:
        """Count the bytes of what is dealt in this context."""
        results = Workers.results

        def counted(workers: Workers, tasks: list) -> Any:
            for _, (_, piece, *arrays), _ in tasks:
                self.data += sum(array.nbytes for array in arrays)
                self.state += len(piece.code) + len(piece.leaves)
            return self._answers(results(workers, tasks))

        Workers.results = counted
        try:
            yield
        finally:
            Workers.results = results

    @contextmanager
    def _answers(self, context: Any) -> Iterator[Iterator[Any]]:
        with context as answers:
            yield map(self._answer, answers)

    def _answer(self, answer: tuple[int, Any]) -> tuple[int, Any]:
        if isinstance(answer[1], list):
            self.state += sum(leaf.nbytes for leaf in answer[1] if isinstance(leaf, np.ndarray))
        return answer


def fit(num_rows: int, epochs: int) -> None:
    """Fit a table of so many rows: six networks in Step 1, six chains in Steps 2 and 3."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((num_rows, COLUMNS))
    y = np.sin(X[:, 0]) + X[:, 1] * X[:, 2] + rng.normal(0, 0.3, num_rows)
    chains = PSGHMC(num_samples=5, burn_in=epochs - 5, thinning=1, num_chains=page.RUNS)
    VeBNNRegressor(
        MLP((50, 50)),
        inference=chains,
        variance_inference=chains,
        rounds=1,
        num_folds=page.RUNS - 1,
        mean_training=Training(num_epochs=epochs),
        random_state=0,
    ).fit(X, y)


def multiply(number: int) -> None:
    """Multiply matrices."""
    matrix = np.random.default_rng(number).standard_normal((500, 500))
    for _ in range(number):
        matrix = matrix @ matrix / 500


def control(num_workers: int) -> float:
    """Return the seconds of the products, dealt evenly."""
    started = time.perf_counter()
    with joblib.parallel_config("dask"):
        joblib.Parallel()(joblib.delayed(multiply)(PRODUCTS // num_workers) for _ in range(num_workers))
    return time.perf_counter() - started


@contextmanager
def cluster(num_workers: int) -> Iterator[None]:
    """Start workers, each held to a core of its own."""
    one_thread = {f"{library}_NUM_THREADS": "1" for library in ("OPENBLAS", "OMP", "MKL")}
    with environment(parts_of_a_fit() | one_thread):
        client = Client(n_workers=num_workers, threads_per_worker=1, dashboard_address=":0")
    with client:
        for core, worker in enumerate(client.scheduler_info()["workers"]):
            client.run(pin, {core}, workers=[worker])
        yield


def measure(num_workers: int, num_rows: int, epochs: int) -> page.Row:
    """Fit on a fresh cluster and count what is sent; fit again, now compiled, and take the time."""
    sent = Sent()
    with cluster(num_workers), joblib.parallel_config("dask"):
        with sent.counted():
            fit(num_rows, epochs)
        started = time.perf_counter()
        fit(num_rows, epochs)
        seconds = time.perf_counter() - started
        products = control(num_workers)
    return page.Row(
        num_workers, num_rows, epochs, page.machine(), seconds, products, sent.data, sent.state
    )


def main() -> None:
    """Measure; add to the rows of earlier runs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=100_000, help="of the table")
    parser.add_argument("--epochs", type=int, default=20, help="of each stage")
    parser.add_argument("--repeats", type=int, default=3, help="with each number of workers")
    parser.add_argument("--out", type=Path, default=page.ROWS, help="file of the measurements")
    arguments = parser.parse_args()
    rows = page.read(arguments.out)
    for _ in range(arguments.repeats):
        for num_workers in (1, 2):
            rows.append(measure(num_workers, arguments.rows, arguments.epochs))
            print(rows[-1], flush=True)
            page.write(arguments.out, rows)
    if arguments.out == page.ROWS:
        page.update(rows)
    print(page.table(rows))


if __name__ == "__main__":
    main()
