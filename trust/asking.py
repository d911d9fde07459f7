"""Everything that is asked of a running service at the same time."""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

from trust.abuse import Abuse, Refusal, corpus, seconds_until_closed, send, slow_clients
from trust.clients import Job, Tally, request_of
from trust.serving import SLOW_CLIENTS, Shutdown, serving, stop

NUMBERS_OF_ROWS = (1, 2, 5, 64)


class Measured(NamedTuple):
    """All that was measured."""

    load: Tally
    health: Tally
    refusals: list[Refusal]
    slow: list[float]  # seconds until the service closed each of the slow clients
    megabytes: list[float]  # at regular times during the load
    schema: tuple[int, int, str] | None  # test cases, exit code and output of schemathesis
    shutdown: Shutdown


class Questions(NamedTuple):
    """Requests, and what the library itself answers."""

    requests: list[str]
    expected: list[Any]  # the predictions of each
    row: dict[str, Any]  # a good one


def make_model(folder: Path) -> Path:
    """Fit a model of made-up rows by the real command."""
    from examples.alloys import TARGETS, alloys

    alloys().to_csv(folder / "alloys.csv", index=False)
    targets = [word for name in TARGETS for word in ("--target", name)]
    command = [sys.executable, "-m", "vebnn.cli", "fit", "alloys.csv", *targets, "--effort", "quick"]
    subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)
    return folder / "alloys.model"


def questions(folder: Path) -> Questions:
    """Make requests of several sizes from random rows."""
    import numpy as np
    import pandas

    from examples.alloys import alloys
    from vebnn.tabular.model import TableModel

    model = TableModel.load(folder)
    names = [column.name for column in model.encoder.columns]
    requests, expected = [], []
    for seed, number in enumerate(NUMBERS_OF_ROWS):
        table = alloys(number, seed=seed)[names].astype(object)
        rows = table.replace({np.nan: None}).to_dict("records")
        prediction = model.predict(pandas.DataFrame(rows, columns=names)).prediction
        lower, upper = prediction.interval(0.95)
        stds = {name: getattr(prediction, name) for name in ("std", "aleatoric_std", "epistemic_std")}
        parts = {"mean": prediction.mean, **stds, "lower": lower, "upper": upper}
        requests.append(request_of("POST", "/predict", json.dumps({"rows": rows})))
        expected.append(
            [
                {
                    target: {name: float(values[row, at]) for name, values in parts.items()}
                    for at, target in enumerate(model.targets)
                }
                for row in range(number)
            ]
        )
    return Questions(requests, expected, rows[0])


def measure(folder: Path, seconds: float, clients: int, workers: int, *, schema: bool) -> Measured:
    """Start a service, ask it everything at once, and stop it."""
    requests, expected, row = questions(folder)
    with serving(folder, "--workers", str(workers)) as service:
        run_clients(Job(service.port, requests, expected, clients, min(2.0, seconds)))  # warm up
        ask = Job(service.port, [request_of("GET", "/health")], [None], 1, seconds, pause=0.02)
        abuse = corpus(row, "temperature", "alloy")
        with ThreadPoolExecutor() as pool:
            load = pool.submit(run_clients, Job(service.port, requests, expected, clients, seconds))
            health = pool.submit(run_clients, ask)
            refusals = pool.submit(send_until, abuse, service.port, time.monotonic() + seconds)
            slow = pool.submit(seconds_until_closed, slow_clients(service.port, SLOW_CLIENTS))
            made = pool.submit(run_schemathesis, service.port, seconds) if schema else None
            megabytes = []
            while not load.done():
                megabytes.append(service.megabytes())
                time.sleep(0.2)
        found = (load.result(), health.result(), refusals.result(), slow.result(), megabytes)
        return Measured(*found, made.result() if made else None, stop(service))


def send_until(abuse: list[Abuse], port: int, deadline: float) -> list[Refusal]:
    """Send every hostile request once, and go on until the deadline."""
    found = [send(one, port) for one in abuse]
    while time.monotonic() < deadline:
        found.append(send(abuse[len(found) % len(abuse)], port))
    return found


def run_clients(job: Job) -> Tally:
    """Run clients in a process of their own."""
    command = [sys.executable, "-m", "trust.clients"]
    finished = subprocess.run(
        command, input=json.dumps(job), text=True, check=True, capture_output=True
    )
    return Tally(*json.loads(finished.stdout))


def run_schemathesis(port: int, seconds: float) -> tuple[int, int, str] | None:
    """Have schemathesis make requests from the OpenAPI schema; return None if it is not installed."""
    beside = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    command = shutil.which("schemathesis", path=beside)
    if command is None:
        return None
    options = (
        *("--phases", "coverage,fuzzing", "--max-time", str(max(5, round(seconds))), "--seed", "0"),
        # The schema cannot know the columns of a model, so that most of its requests are refused.
        *("--exclude-checks", "positive_data_acceptance", "--warnings", "off", "--no-color"),
        *("--request-timeout", "60"),
    )
    address = f"http://127.0.0.1:{port}/openapi.json"
    with tempfile.TemporaryDirectory() as folder:  # it leaves files where it is started
        finished = subprocess.run(
            [command, "run", address, *options], cwd=folder, capture_output=True, text=True, check=False
        )
    number = re.search(r"(\d+) generated", finished.stdout)
    return int(number[1]) if number else 0, finished.returncode, finished.stdout
