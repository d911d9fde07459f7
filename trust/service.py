"""The standing proof of the service.

A real ``vebnn serve`` answers many clients. At the same time it gets hostile requests, slow clients and
what schemathesis makes of its OpenAPI schema. Then it is stopped while slow clients are connected.
"""

import tempfile
from collections import Counter
from pathlib import Path
from statistics import median
from typing import Any

from trust.access import check_access
from trust.asking import Measured, make_model, measure
from trust.clients import Tally
from trust.promises import Promise
from trust.serving import TIMEOUT

TITLE = "The HTTP service"
CLIENTS, SECONDS = 200, 60.0
SHORT_CLIENTS, SHORT_SECONDS = 10, 1.0
FLAT_MEGABYTES = 50.0
HEALTH_SECONDS = 0.1
SHUTDOWN_SECONDS = 10.0


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
            f"{load.statuses.get('200', 0):,} of {len(load.seconds) + load.broken:,}; "
            f"p50 {_ms(load, 0.5)}, p99 {_ms(load, 0.99)}",
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
            f"p50 {_ms(health, 0.5)}, p99 {_ms(health, 0.99)}, slowest {_ms(health, 1)} of "
            f"{len(health.seconds):,}",
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
        "health_above_limit": sum(one >= HEALTH_SECONDS for one in measured.health.seconds),
        "largest_megabytes": round(max(measured.megabytes), 1),
        "megabytes": [round(one, 1) for one in measured.megabytes[::10]],
        "slowest_refusal": slowest._asdict(),
        "largest_refusal_bytes": max(one.num_bytes for one in measured.refusals),
        "shutdown": measured.shutdown._asdict(),
        "schemathesis": measured.schema and measured.schema[2].splitlines(),
    }


def at_share(ordered: list[float], share: float) -> float:
    """Return the value that a share of sorted values does not pass."""
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def _ms(tally: Tally, share: float) -> str:
    return f"{1000 * at_share(tally.seconds, share):.1f} ms"


def _schema_words(schema: tuple[int, int, str] | None) -> str:
    if schema is None:
        return "not run"
    cases, code, _ = schema
    return f"{cases:,} test cases, " + ("no failure" if code == 0 else f"exit code {code}")


def prove(*, short: bool, seed: int = 0) -> tuple[list[Promise], dict[str, Any]]:
    """Ask a service for 60 s, with one worker and with two; in short for 1 s, with one."""
    promises, figures = [], {}
    clients, seconds = (SHORT_CLIENTS, SHORT_SECONDS) if short else (CLIENTS, SECONDS)
    with tempfile.TemporaryDirectory() as folder:
        model = make_model(Path(folder))
        for workers in (1,) if short else (1, 2):
            measured = measure(model, seconds, clients, workers, schema=not short)
            how = f"{clients} clients, {workers} worker{'s' * (workers > 1)}"
            promises += [
                one._replace(promise=f"{one.promise} ({how})") for one in promises_of(measured)
            ]
            figures[how] = figures_of(measured, seconds)
        promises.append(check_access(model))
    names = ("requests_per_second", "p50_ms", "p99_ms", "largest_megabytes", "health_above_limit")
    table = [{"load": how, **{name: one[name] for name in names}} for how, one in figures.items()]
    return promises, {"table": table, "loads": figures}
