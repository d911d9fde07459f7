"""A service on a free port of this machine, for as long as a test needs it."""

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from fastapi import FastAPI

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
