"""HTTP clients that cost little, in a process of their own: ``python -m trust.clients``.

A :class:`Job` comes as JSON on standard input, a :class:`Tally` goes to standard output. This process
must not import JAX: it measures a service on the same cores.
"""

import asyncio
import json
import sys
import time
from collections import Counter
from typing import Any, NamedTuple


class Job(NamedTuple):
    """What clients ask, and for how long."""

    port: int
    requests: list[str]  # complete HTTP requests
    expected: list[Any]  # the "predictions" of each answer; null for answers without any
    clients: int
    seconds: float
    pause: float = 0.0  # between an answer and the next request of a client


class Tally(NamedTuple):
    """What clients got."""

    seconds: list[float]  # each answer took, sorted
    statuses: dict[str, int]
    differences: int  # answers other than those expected
    broken: int  # connections that ended without an answer


def request_of(method: str, path: str, body: str = "", content_type: str = "application/json") -> str:
    """Return an HTTP request."""
    length = f"Content-Type: {content_type}\r\nContent-Length: {len(body.encode())}\r\n" if body else ""
    return f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n{length}\r\n{body}"


async def run(job: Job) -> Tally:
    """Run all clients of a job; each keeps its connection and asks one request after the other."""
    deadline = time.monotonic() + job.seconds
    took: list[float] = []
    statuses: Counter[str] = Counter()
    wrong: Counter[str] = Counter()

    async def client(number: int) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", job.port)
        turn = number
        while time.monotonic() < deadline:
            at = turn % len(job.requests)
            turn += 1
            start = time.perf_counter()
            writer.write(job.requests[at].encode())
            try:
                status, body = await _answer(reader)
            except (ConnectionError, asyncio.IncompleteReadError):
                wrong["broken"] += 1
                reader, writer = await asyncio.open_connection("127.0.0.1", job.port)
                continue
            took.append(time.perf_counter() - start)
            statuses[status] += 1
            # Numbers survive JSON bit for bit, in both directions.
            if job.expected[at] is not None and json.loads(body).get("predictions") != job.expected[at]:
                wrong["different"] += 1
            await asyncio.sleep(job.pause)
        writer.close()

    await asyncio.gather(*(client(number) for number in range(job.clients)))
    return Tally(sorted(took), dict(statuses), wrong["different"], wrong["broken"])


async def _answer(reader: asyncio.StreamReader) -> tuple[str, bytes]:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
    length = int(head.partition("content-length:")[2].partition("\r\n")[0])
    return head.split(" ", 2)[1], await reader.readexactly(length)


if __name__ == "__main__":
    print(json.dumps(asyncio.run(run(Job(*json.load(sys.stdin))))))
