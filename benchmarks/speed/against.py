"""This checkout against another one: ``python -m benchmarks.speed --against FOLDER``.

Both run the same programs in turn, by the public API only: the other checkout may be laid out
differently. An epoch's time is the difference of a long and a short fit: what they share cancels.
"""

import os
import statistics
import sys
import tempfile
import time
import warnings
from pathlib import Path
from subprocess import PIPE, Popen
from typing import Any

STARTED = time.perf_counter()
REPEATS, STARTS = 9, 3
SHORT, LONG = 500, 4_500  # epochs
STEPS = ("Step 1, an epoch of Concrete's size", "Step 3, an epoch of Concrete's size")
FIRST_FITS = ("cold start, 1,000 rows: import and fit", "warm start, 1,000 rows: import and fit")


def fit(num_rows: int, num_features: int, **settings: Any) -> None:
    """Fit generated rows."""
    import numpy as np

    from vebnn import VeBNNRegressor

    rng = np.random.default_rng(0)
    X = rng.normal(size=(num_rows, num_features))
    y = np.sin(X[:, 0]) + 0.1 * rng.normal(size=num_rows)
    VeBNNRegressor(random_state=0, **settings).fit(X, y)


def serve() -> None:
    """Print the seconds of an epoch for every name of a step that is read."""
    warnings.simplefilter("ignore")  # short chains have not converged
    print(max(_epoch(step) for step in STEPS), flush=True)  # compiles
    for line in sys.stdin:
        print(_epoch(line.strip()), flush=True)


def _epoch(step: str) -> float:
    from vebnn import MLP, PSGLD, Training

    seconds = []
    for epochs in (SHORT, LONG):
        mean, sampling = (epochs, 1) if step == STEPS[0] else (1, epochs)
        sampler = PSGLD(num_samples=1, burn_in=sampling, thinning=1, step_size=1e-6)
        settings = {"mean_training": Training(mean), "variance_training": Training(1)}
        started = time.perf_counter()
        fit(1_024, 8, network=MLP((50,)), residuals="in_sample", inference=sampler, **settings)
        seconds.append(time.perf_counter() - started)
    return (seconds[1] - seconds[0]) / (LONG - SHORT)


def compare(other: Path) -> dict[str, list[float]]:
    """Return the median seconds of all that is timed: of this checkout and of the other."""
    from benchmarks.speed.workers import held_to  # timed processes cannot import it

    checkouts = (Path(__file__).parents[2], other.resolve())
    times: dict[str, list[list[float]]] = {name: [[], []] for name in STEPS + FIRST_FITS}
    with held_to(1):
        servers = [_process("serve", checkout) for checkout in checkouts]
    list(map(_read, servers))  # both have compiled
    for step in STEPS * REPEATS:
        for server, seconds in zip(servers, times[step], strict=True):
            print(step, file=server.stdin, flush=True)
            seconds.append(_read(server))
    for server in servers:
        server.communicate()  # ends it
    for _ in range(STARTS):
        for number, checkout in enumerate(checkouts):
            with tempfile.TemporaryDirectory() as cache:
                for name in FIRST_FITS:  # the first fills the cache of compiled programs
                    with _process("start", checkout, VEBNN_COMPILATION_CACHE=cache) as process:
                        times[name][number].append(_read(process))
    return {name: [statistics.median(each) for each in both] for name, both in times.items()}


def _process(function: str, checkout: Path, **variables: str) -> Popen:
    command = [sys.executable, "-P", __file__, function]  # -P: imports nothing from this folder
    environment = os.environ | {"PYTHONPATH": str(checkout / "src")} | variables
    return Popen(command, env=environment, text=True, stdin=PIPE, stdout=PIPE)


def _read(process: Popen) -> float:
    line = process.stdout.readline() if process.stdout else ""
    if not line:
        raise ChildProcessError(f"{' '.join(process.args)} has failed; its message is above.")
    return float(line)


if __name__ == "__main__":
    if sys.argv[1] == "serve":
        serve()
    else:
        fit(1_000, 10)
        print(time.perf_counter() - STARTED)
