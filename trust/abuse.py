"""Hostile requests, and clients that are slow on purpose."""

import json
import socket
import time
from contextlib import suppress
from typing import Any, NamedTuple

from trust.clients import request_of

Row = dict[str, Any]


class Abuse(NamedTuple):
    """A request that must be refused."""

    name: str
    request: str
    statuses: tuple[int, ...] = (422,)


class Refusal(NamedTuple):
    """What became of it."""

    name: str
    status: int  # 0 if the connection ended without an answer
    seconds: float
    num_bytes: int  # of the answer
    expected: bool


def corpus(row: Row, number: str, text: str) -> list[Abuse]:
    """Return hostile requests; ``row`` is a good one, ``number`` and ``text`` two of its columns."""

    def with_cell(name: str, written: str) -> str:
        rest = json.dumps({key: value for key, value in row.items() if key != name})[:-1]
        return f'{{"rows":[{rest},{json.dumps(name)}:{written}}}]}}'

    def with_level(written: str) -> str:
        return f'{{"rows":[{json.dumps(row)}],"level":{written}}}'

    def with_rows(rows: list[str]) -> str:
        return f'{{"rows":[{",".join(rows)}]}}'

    numbers = (
        "NaN",
        "Infinity",
        "-Infinity",
        "1e999",
        "1" + "0" * 400,
        "1" + "0" * 5000,
        "1e30",
        "-1e300",
    )
    levels = ("NaN", "Infinity", "0.9999999999999999", "1e999", "0", "1", "-1", "[]", '"\\ud800"')
    bodies = {
        **{f"{number} = {written[:12]}": with_cell(number, written) for written in numbers},
        **{f"level = {written}": with_level(written) for written in levels},
        "half a surrogate pair as a value": with_cell(text, '"\\ud800"'),
        "half a surrogate pair as a name": with_cell("\\ud800", "1").replace("\\\\u", "\\u"),
        "lists as cells": with_rows(['{"a":[]}'] * 9_000),
        "lists as rows": with_rows(["[[[[[[[[[[]]]]]]]]]]"] * 200_000),
        "numbers as rows": with_rows(["1.5"] * 1_000_000),
        "text as rows": with_rows(['""'] * 1_500_000),
        "other unknown names in every row": with_rows(
            [json.dumps({**row, f"a{at}": 0, f"b{at}": 0}) for at in range(9_000)]
        ),
        "many unknown names in one row": with_rows(
            [json.dumps({f"a{at}": 0 for at in range(200_000)})]
        ),
        "a long name": with_cell("a" * 4_000_000, "1").replace('"rows"', '"row"'),
        "nested lists": "[" * 1_000_000,
        "nested objects": '{"a":' * 500_000,
        "cut JSON": '{"rows":[{"',
        "no JSON": "\x00",
    }
    found = [Abuse(name, request_of("POST", "/predict", body)) for name, body in bodies.items()]
    found += [
        Abuse(
            "too many rows", request_of("POST", "/predict", with_rows(['{"a":0}'] * 100_000)), (413,)
        ),
        Abuse(
            "too many rows to explain",
            request_of("POST", "/explain", with_rows([json.dumps(row)] * 9)),
            (413,),
        ),
        Abuse("too many bytes", request_of("POST", "/predict", "x" * 5_000_001), (413,)),
        Abuse("JSON as text", request_of("POST", "/predict", "{}", "text/plain"), (415,)),
        Abuse("no method", request_of("BREW", "/predict"), (405,)),
        Abuse("no page", request_of("GET", "/%00/../../etc/passwd"), (404,)),
        Abuse("no HTTP", "\x16\x03\x01\r\n\r\n", (400,)),
        Abuse("long header", f"GET / HTTP/1.1\r\nA: {'a' * 1_000_000}\r\n\r\n", (400, 0)),
    ]
    files = {
        "CSV with many columns": ("," * 1_000_000 + "\n1" * 5_000, (422,)),
        "CSV with many rows": (",".join(row) + "\n1" * 2_000_000, (413,)),
        "CSV of quotes": ('"' * 1_000_001, (422,)),
        "CSV of zeros": ("\x00" * 1_000_000, (422,)),
        "empty CSV": ("", (422,)),
    }
    for name, (content, statuses) in files.items():
        part = f'--x\r\nContent-Disposition: form-data; name="file"; filename="a.csv"\r\n\r\n{content}'
        body = f"{part}\r\n--x--\r\n"
        request = request_of("POST", "/predict/csv", body, "multipart/form-data; boundary=x")
        found.append(Abuse(name, request, statuses))
    return found


def send(abuse: Abuse, port: int) -> Refusal:
    """Send a hostile request; return what the service made of it."""
    start = time.perf_counter()
    received = b""
    with socket.create_connection(("127.0.0.1", port), timeout=60) as client:
        # A service may refuse, and close, before it has read everything.
        with suppress(ConnectionError):
            client.sendall(abuse.request.encode())
        with suppress(ConnectionError):
            while not _is_complete(received) and (part := client.recv(1 << 16)):
                received += part
    status = int(received.split(b" ", 2)[1]) if received.startswith(b"HTTP/1.1 ") else 0
    seconds = time.perf_counter() - start
    return Refusal(abuse.name, status, seconds, len(received), status in abuse.statuses)


def _is_complete(received: bytes) -> bool:
    head, end, body = received.partition(b"\r\n\r\n")
    length = head.lower().partition(b"content-length:")[2].partition(b"\r\n")[0]
    return bool(end and length) and len(body) >= int(length)


def slow_clients(port: int, each: int) -> list[socket.socket]:
    """Connect clients that send nothing, half of the headers, or half of a body."""
    parts = (
        "",
        "POST /predict HTTP/1.1\r\nHost: 127.0.0.1\r\n",
        request_of("POST", "/predict", "{" * 1_000)[:-500],
    )
    clients = []
    for part in parts * each:
        client = socket.create_connection(("127.0.0.1", port), timeout=60)
        client.sendall(part.encode())
        clients.append(client)
    return clients


def seconds_until_closed(clients: list[socket.socket]) -> list[float]:
    """Wait until the service has closed all of these connections; return when it did."""
    start, found = time.monotonic(), []
    for client in clients:
        with suppress(ConnectionError), client:
            while client.recv(1 << 16):
                pass
        found.append(time.monotonic() - start)
    return found
