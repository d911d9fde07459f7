"""API keys and the names by which a service may be called."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from httpx import Client

from tests.support.serving import serving
from vebnn.tabular.model import TableModel
from vebnn.tabular.service.access import read_keys
from vebnn.tabular.service.app import create_app

KEYS = ("0123456789abcdef", "fedcba9876543210")


@pytest.fixture(scope="module")
def client(alloys_model: Path) -> Iterator[Client]:
    app = create_app(
        TableModel.load(alloys_model), api_keys=KEYS, allow_hosts=["*.example.org", "127.0.0.1"]
    )
    with serving(app) as address, Client(base_url=address, timeout=60) as client:
        yield client


@pytest.mark.parametrize("key", KEYS)
def test_each_key_opens(client: Client, key: str) -> None:
    assert client.get("/model", headers={"Authorization": f"Bearer {key}"}).status_code == 200


@pytest.mark.parametrize(
    "header",
    ["", "Bearer", f"Bearer {KEYS[0]}x", f"Basic {KEYS[0]}", f"Bearer {KEYS[0][:-1]}", "Bearer ü"],
)
@pytest.mark.parametrize("path", ["/model", "/openapi.json"])
def test_without_a_key(client: Client, header: str, path: str) -> None:
    answer = client.get(path, headers={"Authorization": header.encode()})
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"] == "Bearer"
    assert KEYS[0] not in answer.text


def test_predictions_need_a_key(client: Client) -> None:
    assert client.post("/predict", json={}).status_code == 401
    assert client.post("/predict/csv").status_code == 401
    assert client.post("/explain", json={}).status_code == 401


@pytest.mark.parametrize("path", ["/health", "/"])
def test_health_and_the_page_are_open(client: Client, path: str) -> None:
    assert client.get(path).status_code == 200


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("a.example.org", 200),
        ("A.Example.org:8000", 200),
        ("example.com", 400),
        ("evil-example.org", 400),
    ],
)
def test_host(client: Client, host: str, status: int) -> None:
    assert client.get("/health", headers={"Host": host}).status_code == status


def test_file_of_keys(tmp_path: Path) -> None:
    path = tmp_path / "keys"
    path.write_text(f"# of the laboratory\n{KEYS[0]}\n\n  {KEYS[1]}  \n")
    assert read_keys(path) == KEYS


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("# nothing\n", "no key"),
        ("abc-123\n", "Key 1 in"),
        (f"{KEYS[0]}\nwith spaces in it!\n", "Key 2 in"),
    ],
)
def test_file_of_wrong_keys(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "keys"
    path.write_text(text)
    with pytest.raises(ValueError, match=words) as raised:
        read_keys(path)
    assert text.split()[-1] not in str(raised.value)
