"""Downloads from a real server on this machine."""

import hashlib
import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pooch
import pytest

from vebnn.datasets import uci
from vebnn.datasets.uci import available, fetch, load_uci, where
from vebnn.datasets.uci_catalogue import SOURCES, Source, git_blob_id

CONTENT = b"1 2 3\n4 5 6\n"
SMALL = Source("small-folder", 2, ("a", "b"), ("c",), hashlib.sha256(CONTENT).hexdigest())
PATH = "/data/UCI_Datasets/small-folder/data/data.txt"


class Server(ThreadingHTTPServer):
    """A server with one answer for every request, and a list of the paths requested."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.status, self.body, self.declared_bytes = 200, CONTENT, len(CONTENT)
        self.asked_for: list[str] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def answer_with(self, body: bytes, status: int = 200, missing_bytes: int = 0) -> None:
        self.status, self.body, self.declared_bytes = status, body, len(body) + missing_bytes


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        self.server.asked_for.append(self.path)
        self.send_response(self.server.status)
        self.send_header("Content-Length", str(self.server.declared_bytes))
        self.end_headers()
        self.wfile.write(self.server.body)

    def log_message(self, *_: object) -> None:
        """Do not log."""


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an empty cache folder; the data set "small" is known, and VEBNN_DATA is not set."""
    monkeypatch.setitem(uci.SOURCES, "small", SMALL)
    monkeypatch.delenv("VEBNN_DATA", raising=False)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setattr(uci, "cache_folder", lambda: tmp_path / "cache")
    return tmp_path / "cache"


@pytest.fixture
def server(cache: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    with Server() as server:
        threading.Thread(
            target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True
        ).start()
        monkeypatch.setenv("VEBNN_UCI_URL", server.url)
        yield server
        server.shutdown()


def files_in(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


def test_a_set_is_downloaded_once(server: Server, cache: Path) -> None:
    first = load_uci("small")
    np.testing.assert_array_equal(first.X, [[1, 2], [4, 5]])
    np.testing.assert_array_equal(first.y, [3, 6])
    assert server.asked_for == [PATH]
    assert files_in(cache) == [cache / "uci" / "small" / "data.txt"]
    assert files_in(cache)[0].read_bytes() == CONTENT
    np.testing.assert_array_equal(load_uci("small").X, first.X)
    assert server.asked_for == [PATH]


def test_what_is_cached_needs_no_server(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    path = fetch("small")
    monkeypatch.setenv("VEBNN_UCI_URL", closed_port())
    assert fetch("small") == path
    assert load_uci("small").X.shape == (2, 2)


def test_mirrors_may_end_in_a_slash(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VEBNN_UCI_URL", f"{server.url}/mirror/")
    fetch("small")
    assert server.asked_for == [f"/mirror{PATH}"]


def test_without_a_mirror_the_commit_of_the_repository_is_asked(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VEBNN_UCI_URL", "")
    asked_for = []

    def download(self: pooch.HTTPDownloader, url: str, path: str, files: pooch.Pooch) -> None:
        asked_for.append(url)
        Path(path).write_bytes(CONTENT)

    monkeypatch.setattr(pooch.HTTPDownloader, "__call__", download)
    assert fetch("small").read_bytes() == CONTENT
    assert asked_for == [
        "https://github.com/martius-lab/beta-nll/raw/669c9f251eb41464c1ec8b43751c7c742dd75cf9" + PATH
    ]


def test_ones_own_folder_comes_first(
    server: Server, cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = tmp_path / "own" / "uci" / "small" / "data.txt"
    own.parent.mkdir(parents=True)
    own.write_bytes(CONTENT)
    monkeypatch.setenv("VEBNN_DATA", str(tmp_path / "own"))
    assert fetch("small") == where("small") == own
    load_uci("small")
    assert server.asked_for == []
    own.unlink()
    assert where("small") is None
    assert fetch("small") == cache / "uci" / "small" / "data.txt"


def test_which_sets_are_there(server: Server, cache: Path) -> None:
    assert set(available()) == set(SOURCES)
    assert set(available().values()) == {None}
    fetch("small")
    assert available()["small"] == where("small") == cache / "uci" / "small" / "data.txt"
    assert available()["yacht"] is None
    assert server.asked_for == [PATH]


@pytest.mark.parametrize("body", [CONTENT[:-1], CONTENT + b"7 8 9\n", b"<html>Log in</html>", b""])
def test_another_file_is_rejected_and_leaves_nothing_behind(
    server: Server, cache: Path, body: bytes
) -> None:
    server.answer_with(body)
    with pytest.raises(
        ValueError, match=r"is not the small set .* SHA-256 .* It was not kept"
    ) as caught:
        load_uci("small")
    assert server.url + PATH in str(caught.value)
    assert "\n" not in str(caught.value)
    assert files_in(cache) == []
    server.answer_with(CONTENT)
    assert load_uci("small").X.shape == (2, 2)


def test_files_without_sha256_are_checked_as_git_would(
    server: Server, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    blob = SMALL._replace(sha256="1" * 64, git_blob="0" * 40)
    monkeypatch.setitem(uci.SOURCES, "small", blob)
    with pytest.raises(ValueError, match="is not the small set"):
        fetch("small")
    assert files_in(cache) == []
    monkeypatch.setitem(uci.SOURCES, "small", blob._replace(git_blob=git_blob_id(CONTENT)))
    path = fetch("small")
    path.write_bytes(CONTENT[:5])
    assert load_uci("small").X.shape == (2, 2)
    assert path.read_bytes() == CONTENT


def test_either_of_two_known_files_is_accepted(
    server: Server, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rebuilt = b"1.0 2.0 3.0\n4.0 5.0 6.0\n"
    both = SMALL._replace(sha256=hashlib.sha256(rebuilt).hexdigest(), git_blob=git_blob_id(CONTENT))
    monkeypatch.setitem(uci.SOURCES, "small", both)
    for content in (CONTENT, rebuilt):
        server.answer_with(content)
        path = fetch("small")
        assert path.read_bytes() == content
        assert load_uci("small").X.shape == (2, 2)
        path.unlink()
    server.answer_with(b"1 2 3\n4 5 7\n")
    with pytest.raises(ValueError, match="is not the small set"):
        fetch("small")
    assert files_in(cache) == []


def test_git_blob_ids_are_those_of_git() -> None:
    # The empty file, and the example of the Pro Git book (section 10.2).
    assert git_blob_id(b"") == "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"
    assert git_blob_id(b"test content\n") == "d670460b4b4aece5915caf5c68d12f560a9fe3e4"


def sentence_of_failure(cache: Path) -> str:
    """Fail to load the set; check that the message says where to save the file, and return it."""
    with pytest.raises(FileNotFoundError) as caught:
        load_uci("small")
    sentence = str(caught.value)
    assert "The small set was not found" in sentence
    assert f"save that file as {cache / 'uci' / 'small' / 'data.txt'}" in sentence
    assert "set VEBNN_DATA to a folder" in sentence
    assert "\n" not in sentence
    assert sentence.endswith(".")
    return sentence


def test_a_missing_file_is_said_with_the_servers_answer(server: Server, cache: Path) -> None:
    server.answer_with(b"no such page", status=404)
    assert f"{server.url}{PATH} cannot be downloaded (404 Not Found)" in sentence_of_failure(cache)
    assert files_in(cache) == []


def test_an_interrupted_transfer_leaves_nothing_behind(server: Server, cache: Path) -> None:
    server.answer_with(CONTENT, missing_bytes=100)
    assert "cannot be downloaded" in sentence_of_failure(cache)
    assert files_in(cache) == []
    server.answer_with(CONTENT)
    assert load_uci("small").X.shape == (2, 2)


def closed_port() -> str:
    """Return the address of a closed port."""
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{unused.getsockname()[1]}"


def test_without_a_server_the_sentence_says_so(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VEBNN_UCI_URL", closed_port())
    assert "cannot be downloaded (ConnectionError)" in sentence_of_failure(cache)
    assert files_in(cache) == []


@pytest.mark.parametrize("mirror", ["ftp://127.0.0.1", "no address at all"])
def test_mirrors_that_are_no_web_address(
    mirror: str, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VEBNN_UCI_URL", mirror)
    assert mirror in sentence_of_failure(cache)


def test_a_damaged_file_in_the_cache_is_fetched_again(server: Server, cache: Path) -> None:
    path = fetch("small")
    path.write_bytes(CONTENT[:5])
    assert where("small") is None
    assert load_uci("small").X.shape == (2, 2)
    assert path.read_bytes() == CONTENT
    assert len(server.asked_for) == 2
    path.write_bytes(CONTENT[:5])
    server.answer_with(b"", status=503)
    assert f"{path} is damaged" in sentence_of_failure(cache)
    assert path.read_bytes() == CONTENT[:5]


def test_a_full_disk_leaves_no_part_of_a_file(
    server: Server, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("shutil.move", fail)
    with pytest.raises(OSError, match="No space left"):
        fetch("small")
    assert files_in(cache) == []


def test_the_cache_is_the_users(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.undo()  # of the folder that all other tests use
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert uci.cache_folder() == tmp_path / "vebnn"


@pytest.mark.parametrize("function", [load_uci, where, fetch])
def test_unknown_names_are_refused(function) -> None:
    with pytest.raises(ValueError, match=r"The `name` must be one of 'boston'.* Got 'iris'"):
        function("iris")
