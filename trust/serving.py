"""A real ``vebnn serve``, and how it ends."""

import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import psutil

from trust.abuse import Abuse, send, slow_clients
from trust.clients import request_of

TIMEOUT = 5.0  # --timeout of the service
SLOW_CLIENTS = 10  # of each kind
SERVED = re.compile(r"on http://\S+:(\d+);")


class Service(NamedTuple):
    """A running service."""

    process: subprocess.Popen
    port: int

    def processes(self) -> list[psutil.Process]:
        """Return its process and its workers."""
        parent = psutil.Process(self.process.pid)
        return [parent, *parent.children(recursive=True)]

    def megabytes(self) -> float:
        """Return the memory of all of them."""
        return sum(one.memory_info().rss for one in self.processes()) / 1e6


class Shutdown(NamedTuple):
    """How a service ended."""

    seconds: float
    left: int  # processes that are still there
    complaint: str  # all that it wrote to standard error


@contextmanager
def serving(folder: Path, *options: str) -> Iterator[Service]:
    """Run the real command until it is stopped, or until the end."""
    command = [sys.executable, "-u", "-m", "vebnn.cli", "serve", str(folder), "--port", "0"]
    with subprocess.Popen(
        [*command, "--timeout", str(TIMEOUT), *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            line = process.stdout.readline() if process.stdout else ""
            port = int(SERVED.findall(line)[0])
            send(Abuse("health", request_of("GET", "/health")), port)  # answered when a worker is ready
            yield Service(process, port)
        finally:
            process.kill()


def stop(service: Service) -> Shutdown:
    """Stop a service while slow clients are connected."""
    clients = slow_clients(service.port, SLOW_CLIENTS)
    processes = service.processes()
    start = time.monotonic()
    service.process.send_signal(signal.SIGTERM)
    _, complaint = service.process.communicate(timeout=120)
    seconds = time.monotonic() - start
    for client in clients:
        client.close()
    _, left = psutil.wait_procs(processes, timeout=5)
    return Shutdown(seconds, len(left), complaint)
