"""The process, or the processes, that answer on one port."""

import gc
import logging
import multiprocessing
import os
import signal
import socket
import sys
import threading
import time
from functools import partial
from multiprocessing.connection import wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any, NamedTuple, NoReturn, cast

import uvicorn
from fastapi import FastAPI

from vebnn.core.workers import interrupts_blocked
from vebnn.tabular.model import TableModel
from vebnn.tabular.service.app import create_app
from vebnn.tabular.service.connections import REQUEST_SECONDS, TimedConnection
from vebnn.tabular.service.limits import Limits

# Answers under way are finished; connections end themselves before.
_STOPPING_SECONDS = 6
_REPLACING_SECONDS = 1  # before a worker that died is replaced
_CANNOT_START = 3  # exit code of a worker that would fail again
# Default 5 ms: with a prediction under way, the event loop would wait as long after every system call.
_SWITCH_SECONDS = 0.0005


class ServiceSettings(NamedTuple):
    """Options of a service."""

    limits: Limits = Limits()
    seconds: float = REQUEST_SECONDS  # that a client may take to send a request, or to read an answer
    api_keys: tuple[str, ...] = ()
    allow_hosts: tuple[str, ...] = ()

    def app_of(self, model: TableModel) -> FastAPI:
        """Return the service of a model."""
        keys, hosts = self.api_keys, self.allow_hosts
        return create_app(model, **self.limits._asdict(), api_keys=keys, allow_hosts=hosts)


def new_server(app: FastAPI, settings: ServiceSettings) -> uvicorn.Server:
    """Return a server of this process."""
    config = uvicorn.Config(
        app,
        http=cast("Any", partial(TimedConnection, seconds=settings.seconds)),
        ws="none",
        lifespan="off",
        log_level="error",
        access_log=False,
        timeout_graceful_shutdown=_STOPPING_SECONDS,
    )
    return uvicorn.Server(config)


def run_here(app: FastAPI, settings: ServiceSettings, listener: socket.socket) -> None:
    """Serve until Ctrl-C or SIGTERM."""
    # A client's mistakes are told to the client.
    logging.getLogger("python_multipart").setLevel(logging.ERROR)
    sys.setswitchinterval(_SWITCH_SECONDS)
    # What is loaded stays: without this, the garbage collector searches it now and then, for 0.1 s.
    gc.collect()
    gc.freeze()
    new_server(app, settings).run(sockets=[listener])


def run_workers(folder: Path, settings: ServiceSettings, listener: socket.socket, number: int) -> None:
    """Serve from several processes, which share the port, until Ctrl-C or SIGTERM.

    Each loads the model. One that dies is replaced.

    Raises:
      ChildProcessError: if a worker cannot start.
    """

    def start() -> BaseProcess:
        # This process decides what Ctrl-C does.
        with interrupts_blocked():
            worker = multiprocessing.get_context("spawn").Process(
                target=_work, args=(folder, settings, listener)
            )
            worker.start()
        return worker

    signal.signal(signal.SIGTERM, _interrupt)
    try:
        workers = [start() for _ in range(number)]
        while True:
            wait([worker.sentinel for worker in workers])
            if any(worker.exitcode == _CANNOT_START for worker in workers):
                raise ChildProcessError("A worker could not start; its message is above.")
            time.sleep(_REPLACING_SECONDS)
            alive = [worker for worker in workers if worker.is_alive()]
            workers = [*alive, *(start() for _ in range(number - len(alive)))]
    except KeyboardInterrupt:
        pass
    finally:
        _stop_workers()


def _interrupt(*_: Any) -> NoReturn:
    raise KeyboardInterrupt


def _stop_workers() -> None:
    workers = multiprocessing.active_children()
    for worker in workers:
        worker.terminate()
    deadline = time.monotonic() + _STOPPING_SECONDS + 2
    for worker in workers:
        worker.join(max(0.0, deadline - time.monotonic()))
        worker.kill()


def _work(folder: Path, settings: ServiceSettings, listener: socket.socket) -> None:
    threading.Thread(target=_stop_with_parent, daemon=True).start()
    try:
        app = settings.app_of(TableModel.load(folder))
    except (ValueError, OSError) as error:
        print(f"vebnn: {error}", file=sys.stderr)
        sys.exit(_CANNOT_START)
    run_here(app, settings, listener)


def _stop_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os.kill(os.getpid(), signal.SIGTERM)
