"""Clients that send or read slowly, over real sockets."""

import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import pytest
from fastapi import FastAPI, Request
from starlette.requests import ClientDisconnect
from starlette.responses import Response

from tests.support.serving import serving

SECONDS = 0.5
LARGE = 50_000_000  # bytes, more than the buffers of a connection


@pytest.fixture(scope="module")
def address() -> Iterator[tuple[str, int]]:
    with serving(small_app(), seconds=SECONDS) as url:
        host, port = url.removeprefix("http://").split(":")
        yield host, int(port)


def small_app() -> FastAPI:
    app = FastAPI()

    @app.post("/length")
    async def length(request: Request) -> int:
        with suppress(ClientDisconnect):
            return len(await request.body())
        return 0

    @app.get("/large")
    async def large() -> Response:
        return Response(b"x" * LARGE)

    return app


@contextmanager
def connected(address: tuple[str, int]) -> Iterator[socket.socket]:
    with socket.create_connection(address, timeout=20) as client:
        yield client


def seconds_until_closed(client: socket.socket) -> float:
    start = time.monotonic()
    with suppress(ConnectionResetError):
        while client.recv(65536):
            pass
    return time.monotonic() - start


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"POST /length HTTP/1.1\r\nHost: x\r\n",
        b"POST /length HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n12345",
        b"POST /length HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n12345\r\n",
    ],
    ids=["nothing", "headers", "body", "chunks"],
)
def test_request_that_does_not_arrive(address: tuple[str, int], sent: bytes) -> None:
    with connected(address) as client:
        client.sendall(sent)
        assert 0.5 * SECONDS < seconds_until_closed(client) < 10 * SECONDS


def test_request_that_arrives_byte_by_byte(address: tuple[str, int]) -> None:
    """Progress is not enough: the end counts."""
    start = time.monotonic()
    with connected(address) as client, suppress(ConnectionResetError, BrokenPipeError):
        client.sendall(b"POST /length HTTP/1.1\r\nHost: x\r\nContent-Length: 10000\r\n\r\n")
        for _ in range(200):
            client.sendall(b"x")
            time.sleep(0.05)
    assert time.monotonic() - start < 10 * SECONDS


def test_next_request_of_a_connection_has_a_time_of_its_own(address: tuple[str, int]) -> None:
    request = b"POST /length HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nab"
    with connected(address) as client:
        for _ in range(3):
            client.sendall(request)
            assert client.recv(65536).endswith(b"2")
            time.sleep(0.8 * SECONDS)
        # The second of two requests that come together is not complete.
        client.sendall(request + request[:-1])
        assert client.recv(65536).endswith(b"2")
        assert 0.5 * SECONDS < seconds_until_closed(client) < 10 * SECONDS


def test_answer_that_is_not_read(address: tuple[str, int]) -> None:
    with connected(address) as client:
        client.sendall(b"GET /large HTTP/1.1\r\nHost: x\r\n\r\n")
        time.sleep(3 * SECONDS)
        received = 0
        with suppress(ConnectionResetError):
            while part := client.recv(1 << 20):
                received += len(part)
    assert received < LARGE


def test_slow_clients_do_not_hold_up_the_end() -> None:
    with serving(small_app(), seconds=60) as url:
        host, port = url.removeprefix("http://").split(":")
        clients = [socket.create_connection((host, int(port))) for _ in range(4)]
        clients[1].sendall(b"POST /length HTTP/1.1\r\nHost: x\r\n")
        clients[2].sendall(b"POST /length HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n12345")
        clients[3].sendall(b"GET /large HTTP/1.1\r\nHost: x\r\n\r\n")
        time.sleep(0.3)
        start = time.monotonic()
    assert time.monotonic() - start < 6
    for client in clients:
        client.close()
