"""``python -m benchmarks.dealing``: time one fit on Dask with one and with two workers, a core each.

The numbers of workers take turns, once their programs are compiled. Products of NumPy matrices, done by
the same workers, show how much more two processes of this machine do than one. Writes rows and the
tables of docs/scale.md.
"""

import argparse
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import joblib
import numpy as np
from distributed import Client

import vebnn  # noqa: F401  # before JAX starts its devices
from benchmarks.dealing import page, quiet
from benchmarks.dealing.estimate import estimate
from benchmarks.dealing.meter import Meter, passed_on, processor_seconds
from benchmarks.streams import page as streams
from vebnn import MLP, PSGHMC, Training, VeBNNRegressor
from vebnn.core.pinning import pin
from vebnn.core.workers import environment, parts_of_a_fit

COLUMNS = 20
PRODUCTS = 500  # of matrices, in all


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
    """Multiply matrices, without new memory for each product."""
    matrix = np.random.default_rng(0).standard_normal((500, 500))
    product = np.empty_like(matrix)
    for _ in range(number):
        np.matmul(matrix, matrix, out=product)


def control(client: Client) -> float:
    """Return the seconds of the products, dealt evenly."""
    workers = list(client.scheduler_info()["workers"])
    started = time.perf_counter()
    parts = [
        client.submit(multiply, PRODUCTS // len(workers), workers=[worker], pure=False)
        for worker in workers
    ]
    client.gather(parts)
    return time.perf_counter() - started


@contextmanager
def cluster(num_workers: int) -> Iterator[Client]:
    """Start workers, each held to a core of its own."""
    one_thread = {f"{library}_NUM_THREADS": "1" for library in ("OPENBLAS", "OMP", "MKL")}
    with environment(parts_of_a_fit() | one_thread):
        client = Client(n_workers=num_workers, threads_per_worker=1, dashboard_address=":0")
    with client:
        for core, worker in enumerate(client.scheduler_info()["workers"]):
            client.run(pin, {core}, workers=[worker])
        yield client


def measure(client: Client, num_rows: int, epochs: int) -> page.Row:
    """Time a fit, count what it sends, and time the products."""
    passed, before = passed_on(client), processor_seconds(client)
    with joblib.parallel_config("dask", client=client), Meter().on() as meter:
        fit(num_rows, epochs)
    after = processor_seconds(client)
    return page.Row(
        workers=len(after),
        rows=num_rows,
        epochs=epochs,
        machine=page.machine(),
        seconds=round(meter.seconds, 2),
        alone_seconds=round(meter.seconds - meter.waited, 2),
        worker_seconds=round(sum(after.values()) - sum(before.values()), 2),
        control_seconds=round(control(client), 2),
        pieces=meter.pieces,
        data_bytes=meter.data,
        passed_bytes=passed_on(client) - passed,
        state_bytes=meter.state,
    )


def turns(arguments: argparse.Namespace) -> Iterator[list[page.Row]]:
    """Yield the measurements with two workers and with one, as often as asked for."""
    sizes = arguments.rows, arguments.epochs
    with cluster(1) as one, cluster(2) as two:
        for client in (one, two):
            measure(client, *sizes)  # compiles
        for _ in range(arguments.repeats):
            quiet.wait(arguments.patience)
            # Two suffer more from what others begin after the wait.
            yield [measure(client, *sizes) for client in (two, one)]


def main() -> None:
    """Measure; add to the rows of earlier runs; write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=100_000, help="of the table")
    parser.add_argument("--epochs", type=int, default=20, help="of each stage")
    parser.add_argument("--repeats", type=int, default=3, help="turns; 0 only writes the page")
    parser.add_argument("--patience", type=float, default=0, help="minutes to wait for a quiet machine")
    parser.add_argument("--out", type=Path, default=page.ROWS, help="file of the measurements")
    arguments = parser.parse_args()
    rows = page.read(arguments.out)
    if arguments.repeats:
        for turn in turns(arguments):
            rows += turn
            print(*turn, sep="\n", flush=True)
            page.write(arguments.out, rows)
    if not rows:
        parser.error(f"{arguments.out} has no rows yet; measure some with --repeats 3.")
    predictions = streams.read(streams.ROWS)
    texts = {"dealing": page.table(rows), "dealing estimate": estimate(rows, predictions)}
    if arguments.out == page.ROWS:
        page.update(texts)
    print(*texts.values(), sep="\n\n")


if __name__ == "__main__":
    main()
