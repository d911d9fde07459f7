"""``vebnn serve``: predictions over HTTP."""

import socket
import timeit
from contextlib import suppress
from importlib.util import find_spec
from statistics import median
from typing import Annotated

import typer

from vebnn.cli.options import ModelFolder

TIMED_REQUESTS = 50


def serve(
    model: ModelFolder,
    host: Annotated[str, typer.Option(help="Address to listen on; 0.0.0.0 means all.")] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(help="Port to listen on; 0 means any free one.", min=0, max=65535)
    ] = 8000,
    max_rows: Annotated[int, typer.Option(help="Largest number of rows in a request.", min=1)] = 10_000,
    max_bytes: Annotated[
        int, typer.Option(help="Largest size of a request, in bytes.", min=1)
    ] = 5_000_000,
) -> None:
    """Serve predictions over HTTP, with a page to try the model.

    POST /predict takes rows as JSON, POST /predict/csv a CSV file; /model
    describes the model, /openapi.json the service. Stop it with Ctrl-C.
    """
    from vebnn.tabular.saving import SavedTableModel

    saved = SavedTableModel.open(model)
    if any(find_spec(name) is None for name in ("fastapi", "uvicorn", "python_multipart")):
        raise ImportError("A service needs FastAPI and uvicorn: pip install 'vebnn[serve]'.")

    with _listener(host, port) as listener:
        import pandas
        import uvicorn

        from vebnn.tabular.service.app import create_app

        loaded = saved.load()
        app = create_app(loaded, max_rows=max_rows, max_bytes=max_bytes)
        address = f"http://{host}:{listener.getsockname()[1]}"
        row = pandas.DataFrame([loaded.encoder.typical_row])
        seconds = median(timeit.repeat(lambda: loaded.predict(row), number=1, repeat=TIMED_REQUESTS))
        typer.echo(f"One row takes {1_000 * seconds:.1f} ms. Serving on {address}; stop with Ctrl-C.")
        with suppress(KeyboardInterrupt):
            uvicorn.Server(uvicorn.Config(app, log_level="warning")).run(sockets=[listener])


def _listener(host: str, port: int) -> socket.socket:
    """Bind the address before anything slow is loaded."""
    try:
        return socket.create_server((host, port))
    except OSError as error:
        raise ValueError(
            f"Cannot listen on {host}:{port}: {error.strerror}. Choose another --host or --port."
        ) from error
