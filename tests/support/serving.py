"""A service on a free port of this machine, for as long as a test needs it."""

import re
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
from fastapi import FastAPI

from tests.support.commands import COMMAND, environment
from vebnn.tabular.service.server import ServiceSettings, new_server


@contextmanager
def serving(app: FastAPI, **settings: float) -> Iterator[str]:
    """Serve an app from a thread; yield its address."""
    listener = socket.create_server(("127.0.0.1", 0))
    server = new_server(app, ServiceSettings(**settings))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    deadline = time.monotonic() + 30
    while not server.started and time.monotonic() < deadline:
        time.sleep(0.01)
    try:
        yield "http://{}:{}".format(*listener.getsockname())
    finally:
        server.should_exit = True
        thread.join()
        listener.close()


@contextmanager
def serve_command(model: Path, *options: str) -> Iterator[tuple[str, subprocess.Popen]]:
    """Run the real command; yield its address as soon as it answers, and its process."""
    process = subprocess.Popen(
        [*COMMAND, "serve", str(model), "--port", "0", *options],
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        line = process.stdout.readline()
        found = re.search(r"on (http://\S+:\d+);", line)
        assert found, line + process.communicate(timeout=60)[1]
        httpx.get(found[1] + "/health", timeout=120).raise_for_status()
        yield found[1], process
    finally:
        if process.poll() is None:
            process.terminate()
        process.communicate(timeout=60)
