"""The process, or the processes, that answer on one port."""

import gc
import multiprocessing
import os
import signal
import socket
import sys
import threading
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, cast

import uvicorn
from fastapi import FastAPI
from uvicorn.supervisors import Multiprocess

from vebnn.tabular.model import TableModel
from vebnn.tabular.service.app import create_app
from vebnn.tabular.service.connections import REQUEST_SECONDS, TimedConnection
from vebnn.tabular.service.limits import Limits

# Answers under way are finished; connections end themselves before.
_STOPPING_SECONDS = 6
_STARTING_SECONDS = 120  # of a worker: importing JAX on a busy machine takes long
_START_FAILED = 3  # uvicorn's code for a worker that would fail again
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
    return uvicorn.Server(_configuration(app, settings))


def run_here(app: FastAPI, settings: ServiceSettings, listener: socket.socket) -> None:
    """Serve until Ctrl-C or SIGTERM."""
    _stay_responsive()
    new_server(app, settings).run(sockets=[listener])


def run_workers(folder: Path, settings: ServiceSettings, listener: socket.socket, workers: int) -> None:
    """Serve from several processes, which share the port, until Ctrl-C or SIGTERM.

    Each loads the model; one that dies is replaced.
    """
    app = partial(_app_of_worker, folder, settings)
    several = {"factory": True, "workers": workers, "timeout_worker_healthcheck": _STARTING_SECONDS}
    Multiprocess(_configuration(app, settings, **several), sockets=[listener]).run()


def _configuration(app: Any, settings: ServiceSettings, **more: Any) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        http=cast("Any", partial(TimedConnection, seconds=settings.seconds)),
        ws="none",
        lifespan="off",
        log_level="warning",
        access_log=False,
        timeout_graceful_shutdown=_STOPPING_SECONDS,
        **more,
    )


def _app_of_worker(folder: Path, settings: ServiceSettings) -> FastAPI:
    threading.Thread(target=_stop_with_parent, daemon=True).start()
    try:
        app = settings.app_of(TableModel.load(folder))
    except (ValueError, OSError) as error:
        print(f"vebnn: {error}", file=sys.stderr)
        sys.exit(_START_FAILED)
    _stay_responsive()
    return app


def _stop_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os.kill(os.getpid(), signal.SIGTERM)


def _stay_responsive() -> None:
    """Keep threads and the garbage collector from holding up the event loop."""
    sys.setswitchinterval(_SWITCH_SECONDS)
    gc.collect()
    gc.freeze()  # what is loaded stays: do not search it again and again
