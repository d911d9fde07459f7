"""``vebnn serve``: the real command, over real sockets."""

import os
import signal
import socket
import subprocess
import threading
import time
from contextlib import suppress
from pathlib import Path

import httpx
import psutil
import pytest

from tests.support.commands import one_sentence
from tests.support.processes import wait_until_gone
from tests.support.serving import serve_command

ROW = {"alloy": "A356", "temperature": 150, "ageing": 3, "annealed": True}
KEY = "0123456789abcdef0123456789abcdef"
MEGABYTE = 1_000_000


def memory(process: int) -> int:
    return psutil.Process(process).memory_info().rss


def slowest_health(address: str, during: threading.Thread) -> float:
    """Ask until a thread ends; return the longest time of an answer, in seconds."""
    slowest = 0.0
    with httpx.Client(base_url=address, timeout=60) as client:
        client.get("/health")
        during.start()
        while during.is_alive():
            start = time.perf_counter()
            assert client.get("/health").status_code == 200
            slowest = max(slowest, time.perf_counter() - start)
            time.sleep(0.01)
    return slowest


def listening(process: subprocess.Popen, number: int) -> list[int]:
    """Wait until a number of worker processes listen; return their ids."""
    deadline = time.monotonic() + 60
    while True:
        workers = [
            child.pid
            for child in psutil.Process(process.pid).children()
            if any(one.status == psutil.CONN_LISTEN for one in child.net_connections("tcp"))
        ]
        if len(workers) == number:
            return workers
        assert time.monotonic() < deadline
        time.sleep(0.2)


def test_abuse_neither_stops_health_nor_takes_memory(alloys_model: Path) -> None:
    rows = [
        [f'{{"{row}":0,"x{row}":1}}' for row in range(40_000)],
        ['{"a":[]}'] * 100_000,
        ["[[[[[]]]]]"] * 300_000,
        ["1.5"] * 1_000_000,
    ]
    bodies = [f'{{"rows":[{",".join(each)}]}}' for each in rows]
    with serve_command(alloys_model) as (address, process):

        def abuse() -> None:
            for body in bodies:
                answer = httpx.post(
                    f"{address}/predict",
                    content=body,
                    headers={"Content-Type": "application/json"},
                    timeout=60,
                )
                assert answer.status_code in (413, 422)
                assert len(answer.content) < 2_000

        before = memory(process.pid)
        assert slowest_health(address, threading.Thread(target=abuse)) < 1  # 14.5 s before
        assert memory(process.pid) - before < 200 * MEGABYTE  # 4.4 GB before
        large = {"rows": [ROW] * 10_000}
        predict = threading.Thread(
            target=lambda: httpx.post(f"{address}/predict", json=large, timeout=60).raise_for_status()
        )
        assert slowest_health(address, predict) < 1


def test_large_bodies_wait_outside_of_the_memory(alloys_model: Path) -> None:
    size = 4_500_000
    head = f"POST /predict HTTP/1.1\r\nHost: x\r\nContent-Length: {size}\r\n\r\n".encode()
    with serve_command(alloys_model) as (address, process):
        before = memory(process.pid)
        port = int(address.rpartition(":")[2])
        clients = [socket.create_connection(("127.0.0.1", port)) for _ in range(60)]
        left = dict.fromkeys(clients, head + b" " * (size - 1))  # all but the last byte
        for client in clients:
            client.setblocking(False)
        for _ in range(50):
            for client in clients:
                with suppress(BlockingIOError):
                    left[client] = left[client][client.send(left[client]) :]
            time.sleep(0.01)
        assert memory(process.pid) - before < 120 * MEGABYTE  # 60 bodies are 270
        assert httpx.post(f"{address}/predict", json={"rows": [ROW]}, timeout=60).status_code == 200
        for client in clients:
            client.close()


def test_workers_share_the_port_and_end_together(alloys_model: Path, tmp_path: Path) -> None:
    keys = tmp_path / "keys"
    keys.write_text(KEY)
    options = ("--workers", "2", "--api-key-file", str(keys), "--allow-host", "127.0.0.1")
    with serve_command(alloys_model, *options) as (address, process):
        headers = {"Authorization": f"Bearer {KEY}"}
        assert httpx.get(f"{address}/model").status_code == 401
        assert httpx.get(f"{address}/model", headers={**headers, "Host": "other"}).status_code == 400
        answers = [
            httpx.post(f"{address}/predict", json={"rows": [ROW]}, headers=headers) for _ in range(4)
        ]
        assert len({answer.content for answer in answers}) == 1
        assert answers[0].status_code == 200
        workers = listening(process, 2)
        # One that is killed is replaced, and the other goes on.
        os.kill(workers[0], signal.SIGKILL)
        httpx.get(f"{address}/health", timeout=60).raise_for_status()
        idle = socket.create_connection(("127.0.0.1", int(address.rpartition(":")[2])))
        start = time.monotonic()
        process.terminate()
        assert process.wait(timeout=60) == 0
        assert time.monotonic() - start < 10
        wait_until_gone(workers, 5)
        idle.close()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--allow-host", "http://x"), "without port"),
        (("--allow-host", "a:80"), "without port"),
        (("--allow-host", "*"), "without port"),
        (("--api-key-file", "nowhere"), "No such file"),
        (("--workers", "0"), "--workers"),
        (("--timeout", "0"), "--timeout"),
    ],
)
def test_wrong_options_are_one_sentence(call, alloys_model: Path, options: tuple, words: str) -> None:
    assert words in one_sentence(call("serve", str(alloys_model), "--port", "0", *options))
