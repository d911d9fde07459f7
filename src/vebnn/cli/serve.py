"""``vebnn serve``: predictions over HTTP."""

import ipaddress
import socket
import timeit
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Annotated

import typer

from vebnn.cli.options import ModelFolder

if TYPE_CHECKING:
    from vebnn.tabular.model import TableModel
    from vebnn.tabular.service.server import ServiceSettings

TIMED_REQUESTS = 50


def serve(
    model: ModelFolder,
    host: Annotated[str, typer.Option(help="Address to listen on; 0.0.0.0 means all.")] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(help="Port to listen on; 0 means any free one.", min=0, max=65535)
    ] = 8000,
    workers: Annotated[
        int, typer.Option(help="Processes that share the port; each loads the model.", min=1, max=256)
    ] = 1,
    max_rows: Annotated[int, typer.Option(help="Largest number of rows in a request.", min=1)] = 10_000,
    max_bytes: Annotated[
        int, typer.Option(help="Largest size of a request, in bytes.", min=1)
    ] = 5_000_000,
    timeout: Annotated[
        float,
        typer.Option(help="Seconds a client may take to send a request or to read an answer.", min=0.1),
    ] = 30.0,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(
            help="Name by which clients call the service, such as *.example.org; may be repeated."
        ),
    ] = None,
    api_key_file: Annotated[
        Path | None, typer.Option(help="File of API keys, one per line; a request must have one.")
    ] = None,
) -> None:
    """Serve predictions over HTTP, with a page to try the model.

    POST /predict takes rows as JSON, POST /predict/csv a CSV file; /model
    describes the model, /openapi.json the service. Stop it with Ctrl-C.
    """
    from vebnn.tabular.images.encoder import ImageEncoder
    from vebnn.tabular.saving import open_saved

    saved = open_saved(model)
    if isinstance(saved.encoder, ImageEncoder):
        raise ValueError(
            f"The model in {model} was trained on images, but the service takes tables only. Use vebnn "
            f"predict."
        )
    if any(find_spec(name) is None for name in ("fastapi", "uvicorn", "python_multipart")):
        raise ImportError("A service needs FastAPI and uvicorn: pip install 'vebnn[serve]'.")
    hosts = tuple(_checked_host(name) for name in allow_host or ())

    with _listener(host, port) as listener:
        from vebnn.tabular.service.access import read_keys
        from vebnn.tabular.service.limits import Limits
        from vebnn.tabular.service.server import ServiceSettings, run_workers

        keys = read_keys(api_key_file) if api_key_file else ()
        settings = ServiceSettings(Limits(max_rows, max_bytes), timeout, keys, hosts)
        if not keys and not _is_loopback(host):
            typer.echo("Everyone who can reach this address may ask; see --api-key-file.", err=True)
        address = f"http://{host}:{listener.getsockname()[1]}"
        with suppress(KeyboardInterrupt):
            if workers > 1:
                typer.echo(f"Serving with {workers} workers on {address}; stop with Ctrl-C.")
                run_workers(model, settings, listener, workers)
            else:
                _run_here(saved.load(), settings, listener, address)


def _run_here(
    loaded: "TableModel", settings: "ServiceSettings", listener: socket.socket, address: str
) -> None:
    import pandas

    from vebnn.tabular.sequences.encoder import SequenceEncoder
    from vebnn.tabular.service.server import run_here

    app = settings.app_of(loaded)
    what = "row"
    if isinstance(loaded.encoder, SequenceEncoder):
        rows = loaded.encoder.example_rows
        what = f"sequence of {len(rows):,} rows"
    else:
        rows = pandas.DataFrame([loaded.typical_row])
    seconds = median(timeit.repeat(lambda: loaded.predict(rows), number=1, repeat=TIMED_REQUESTS))
    typer.echo(f"One {what} takes {1_000 * seconds:.1f} ms. Serving on {address}; stop with Ctrl-C.")
    run_here(app, settings, listener)


def _listener(host: str, port: int) -> socket.socket:
    """Bind the address before anything slow is loaded."""
    try:
        return socket.create_server((host, port), backlog=2048)
    except OSError as error:
        raise ValueError(
            f"Cannot listen on {host}:{port}: {error.strerror}. Choose another --host or --port."
        ) from error


def _is_loopback(host: str) -> bool:
    with suppress(ValueError):
        return ipaddress.ip_address(host).is_loopback
    return host == "localhost"


def _checked_host(name: str) -> str:
    """Refuse names that no Host header could match."""
    plain = name.removeprefix("*.")
    if not plain or any(sign in plain for sign in "*/:@ ") or not plain.isascii():
        raise ValueError(
            f"The --allow-host must be a host name without port, or *. and one. Got {name!r}; give it "
            f"as in example.org or *.example.org."
        )
    return name
