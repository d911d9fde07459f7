"""Measurements that need a fresh process: peak memory on a million rows, and the first fit.

    python -m benchmarks.speed.alone million|start

prints one JSON object.
"""

import json
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

MILLION = 1_000_000


def run(what: str, environment: dict[str, str]) -> dict[str, float]:
    """Measure in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.speed.alone", what]
    done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    return json.loads(done.stdout.splitlines()[-1])


def million() -> dict[str, float]:
    """Fit a million rows of 20 features in mini-batches, then predict them with 150 draws."""
    import numpy as np

    from vebnn import MLP, PSGLD, Training, VeBNNRegressor

    rng = np.random.default_rng(0)
    X = rng.normal(size=(MILLION, 20)).astype(np.float32)
    y = np.sin(X[:, 0]) + 0.1 * rng.normal(size=MILLION).astype(np.float32)
    found = {"start_gib": _peak_gib()}
    model = VeBNNRegressor(
        network=MLP((50,)),
        mean_training=Training(2),
        variance_training=Training(2),
        residuals="in_sample",
        inference=PSGLD(15, burn_in=0, thinning=1, num_chains=10, step_size=1e-6, batch_size=50_000),
        random_state=0,
    )
    with _timed(found, "fit"):
        model.fit(X, y)
    found["fit_gib"] = _peak_gib()
    with _timed(found, "predict"):
        model.predict_distribution(X)
    found["predict_gib"] = _peak_gib()
    return found


def start() -> dict[str, float]:
    """Import, fit with default settings and predict 1,000 rows of 10 features."""
    found: dict[str, float] = {}
    with _timed(found, "import"):
        import numpy as np

        from vebnn import VeBNNRegressor
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1_000, 10))
    y = np.sin(X[:, 0]) + 0.1 * rng.normal(size=1_000)
    with _timed(found, "fit"):
        model = VeBNNRegressor(random_state=0).fit(X, y)
    with _timed(found, "predict"):
        model.predict(X, return_std=True)
    # Programs are compiled for round numbers of rows: one row fewer reuses them, ten fewer do not.
    for fewer, what in ((1, "a row fewer, the same programs"), (10, "10 rows fewer, other programs")):
        with _timed(found, f"fit again, {what}"):
            VeBNNRegressor(random_state=0).fit(X[fewer:], y[fewer:])
    return found


@contextmanager
def _timed(into: dict[str, float], name: str) -> Iterator[None]:
    started = time.perf_counter()
    yield
    into[name] = time.perf_counter() - started


def _peak_gib() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


if __name__ == "__main__":
    print(json.dumps({"million": million, "start": start}[sys.argv[1]]()))
