"""The standing proof of the service: ``python -m trust.service --seconds 60 --clients 200``.

A real ``vebnn serve`` answers many clients. At the same time it gets hostile requests, slow clients and
what schemathesis makes of its OpenAPI schema. Then it is stopped while slow clients are connected.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from trust.abuse import Abuse, Refusal, corpus, seconds_until_closed, send, slow_clients
from trust.clients import Job, Tally, request_of
from trust.promises import Promise, show, write
from trust.serving import SLOW_CLIENTS, TIMEOUT, Shutdown, serving, stop

NUMBERS_OF_ROWS = (1, 2, 5, 64)
FLAT_MEGABYTES = 50.0
HEALTH_SECONDS = 0.1
SHUTDOWN_SECONDS = 10.0


class Measured(NamedTuple):
    """All that was measured."""

    load: Tally
    health: Tally
    refusals: list[Refusal]
    slow: list[float]  # seconds until the service closed each of the slow clients
    megabytes: list[float]  # at regular times during the load
    schema: tuple[int, int, str] | None  # test cases, exit code and output of schemathesis
    shutdown: Shutdown


def make_model(folder: Path) -> Path:
    """Fit a model of made-up rows by the real command."""
    from examples.alloys import TARGETS, alloys

    alloys().to_csv(folder / "alloys.csv", index=False)
    targets = [word for name in TARGETS for word in ("--target", name)]
    command = [sys.executable, "-m", "vebnn.cli", "fit", "alloys.csv", *targets, "--effort", "quick"]
    subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)
    return folder / "alloys.model"


def questions(folder: Path) -> tuple[list[str], list[Any], dict[str, Any]]:
    """Return requests, the predictions that the library itself makes of their rows, and one row."""
    import numpy as np
    import pandas

    from examples.alloys import alloys
    from vebnn.tabular.model import TableModel

    model = TableModel.load(folder)
    names = [column.name for column in model.encoder.columns]
    requests, expected = [], []
    for seed, number in enumerate(NUMBERS_OF_ROWS):
        rows = (
            alloys(number, seed=seed)[names].astype(object).replace({np.nan: None}).to_dict("records")
        )
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
    return requests, expected, rows[0]


def measure(
    folder: Path, seconds: float, clients: int, workers: int, schemathesis: str | None
) -> Measured:
    """Start a service, ask it everything at once, and stop it."""
    requests, expected, row = questions(folder)
    with serving(folder, workers) as service:
        run_clients(Job(service.port, requests, expected, clients, min(2.0, seconds)))  # warm up
        ask = Job(service.port, [request_of("GET", "/health")], [None], 1, seconds, pause=0.02)
        abuse = corpus(row, "temperature", "alloy")
        with ThreadPoolExecutor() as pool:
            load = pool.submit(run_clients, Job(service.port, requests, expected, clients, seconds))
            health = pool.submit(run_clients, ask)
            refusals = pool.submit(send_until, abuse, service.port, time.monotonic() + seconds)
            slow = pool.submit(seconds_until_closed, slow_clients(service.port, SLOW_CLIENTS))
            schema = pool.submit(run_schemathesis, schemathesis, service.port, seconds)
            megabytes = []
            while not load.done():
                megabytes.append(service.megabytes())
                time.sleep(0.2)
        found = (load.result(), health.result(), refusals.result(), slow.result(), megabytes)
        return Measured(*found, schema.result(), stop(service))


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


def run_schemathesis(command: str | None, port: int, seconds: float) -> tuple[int, int, str] | None:
    """Have schemathesis make requests from the OpenAPI schema; return None if it is not there."""
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


def promises_of(measured: Measured) -> list[Promise]:
    """Compare what was measured with what is promised."""
    load, health, refusals = measured.load, measured.health, measured.refusals
    answers = Counter(load.statuses) + Counter(health.statuses)
    answers += Counter(str(one.status) for one in refusals)
    failures = sum(number for status, number in answers.items() if status.startswith("5"))
    unexpected = sorted({f"{one.name}: {one.status}" for one in refusals if not one.expected})
    growth = flat_growth(measured.megabytes)
    shutdown = measured.shutdown
    return [
        Promise("No answer has status 5xx", f"{failures} of {answers.total():,}", failures == 0),
        Promise(
            "Every client gets its answer",
            f"{load.statuses.get('200', 0):,} of {len(load.seconds) + load.broken:,}",
            set(load.statuses) == {"200"} and not load.broken,
        ),
        Promise(
            "Answers are bit-identical to offline predictions",
            f"{load.differences} of {len(load.seconds):,} differ",
            load.differences == 0,
        ),
        Promise(
            "Hostile requests are refused with their own status",
            "; ".join(unexpected) or f"{len(refusals)} of {len(refusals)}",
            not unexpected,
        ),
        Promise(
            "schemathesis finds nothing in the OpenAPI schema",
            _schema_words(measured.schema),
            measured.schema and measured.schema[1] == 0,
        ),
        Promise(
            f"/health answers within {1000 * HEALTH_SECONDS:.0f} ms throughout",
            f"p50 {_ms(health, 0.5)}, p99 {_ms(health, 0.99)}, slowest {_ms(health, 1)}",
            health.seconds[-1] < HEALTH_SECONDS,
        ),
        Promise(
            f"Memory is flat: from first to last third of the time below {FLAT_MEGABYTES:.0f} MB more",
            f"{growth:+.0f} MB; largest {max(measured.megabytes):.0f} MB",
            growth < FLAT_MEGABYTES,
        ),
        Promise(
            f"Slow clients are closed after {TIMEOUT:.0f} s",
            f"{len(measured.slow)} after at most {max(measured.slow):.1f} s",
            max(measured.slow) < TIMEOUT + 2,
        ),
        Promise(
            f"It ends within {SHUTDOWN_SECONDS:.0f} s, with slow clients connected",
            f"{shutdown.seconds:.1f} s, {shutdown.left} processes left, "
            f"{len(shutdown.complaint.splitlines())} lines of complaint",
            shutdown.seconds < SHUTDOWN_SECONDS and not shutdown.left and not shutdown.complaint,
        ),
    ]


def flat_growth(megabytes: list[float]) -> float:
    """Return how much the median of the last third is above that of the first."""
    third = max(1, len(megabytes) // 3)
    return median(megabytes[-third:]) - median(megabytes[:third])


def figures_of(measured: Measured, seconds: float) -> dict[str, Any]:
    """Return the figures behind the promises."""
    load, slowest = measured.load, max(measured.refusals, key=lambda one: one.seconds)
    return {
        "requests_per_second": round(len(load.seconds) / seconds, 1),
        "p50_ms": round(1000 * at_share(load.seconds, 0.5), 2),
        "p99_ms": round(1000 * at_share(load.seconds, 0.99), 2),
        "health_p50_ms": round(1000 * at_share(measured.health.seconds, 0.5), 2),
        "health_p99_ms": round(1000 * at_share(measured.health.seconds, 0.99), 2),
        "health_slowest_ms": round(1000 * measured.health.seconds[-1], 2),
        "megabytes": [round(one, 1) for one in measured.megabytes],
        "slowest_refusal": slowest._asdict(),
        "largest_refusal_bytes": max(one.num_bytes for one in measured.refusals),
        "shutdown": measured.shutdown._asdict(),
        "schemathesis": measured.schema and measured.schema[2],
        "load_average": os.getloadavg(),
    }


def at_share(ordered: list[float], share: float) -> float:
    """Return the value that a share of sorted values does not pass."""
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def _ms(tally: Tally, share: float) -> str:
    return f"{1000 * at_share(tally.seconds, share):.1f} ms"


def _schema_words(schema: tuple[int, int, str] | None) -> str:
    if schema is None:
        return "not installed"
    cases, code, _ = schema
    return f"{cases:,} test cases, " + ("no failure" if code == 0 else f"exit code {code}")


def main() -> int:
    """Run the proof; return 1 if a promise is not kept."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0, help="how long clients ask")
    parser.add_argument("--clients", type=int, default=200, help="how many at once")
    parser.add_argument("--workers", type=int, default=1, help="processes of the service")
    parser.add_argument("--out", type=Path, help="JSON file for promises and figures")
    parser.add_argument("--model", type=Path, help="model of examples/alloys.py; fitted if not given")
    parser.add_argument("--schemathesis", help="its command, if it is not beside this Python")
    given = parser.parse_args()
    beside = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    schemathesis = given.schemathesis or shutil.which("schemathesis", path=beside)
    with tempfile.TemporaryDirectory() as folder:
        model = given.model or make_model(Path(folder))
        measured = measure(model, given.seconds, given.clients, given.workers, schemathesis)
    promises, figures = promises_of(measured), figures_of(measured, given.seconds)
    show(f"{given.clients} clients for {given.seconds:g} s, {given.workers} workers", promises)
    print(
        f"{figures['requests_per_second']:,.0f} answers per second; "
        f"p50 {figures['p50_ms']} ms, p99 {figures['p99_ms']} ms."
    )
    if given.out:
        write(given.out, promises, figures)
    return int(any(one.kept is False for one in promises))


if __name__ == "__main__":
    sys.exit(main())
