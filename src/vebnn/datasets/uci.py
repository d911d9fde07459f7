"""UCI regression sets of the paper, by name.

A set is read from ``uci/<name>/data.txt`` in the folder that ``VEBNN_DATA`` names. If it is not there,
it is read from the user's cache folder, into which it is downloaded once. ``VEBNN_UCI_URL`` names a
mirror of the upstream repository.
"""

import os
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pooch
import requests

from vebnn.core.arguments import require_one_of
from vebnn.datasets.own_files import FOLDER_VARIABLE, own_file
from vebnn.datasets.uci_catalogue import COMMIT, REPOSITORY, SOURCES

MIRROR_VARIABLE = "VEBNN_UCI_URL"
UPSTREAM = f"{REPOSITORY}/raw/{COMMIT}"


class UCI(NamedTuple):
    """One data set in original units."""

    X: np.ndarray  # (rows, features)
    y: np.ndarray  # (rows,), or (rows, targets) for several targets
    feature_names: tuple[str, ...]
    target_names: tuple[str, ...]


def load_uci(name: str) -> UCI:
    """Return one of the sets by name, a key of ``SOURCES``; download it the first time.

    Raises:
      FileNotFoundError: if the file is missing and cannot be downloaded; the message says where to
        save it.
      ValueError: if the name is unknown, or the file has another checksum.
    """
    path = fetch(name)
    source = SOURCES[name]
    if not source.accepts(path):
        raise ValueError(
            f"The file {path} is not the {name} set of {REPOSITORY}: its SHA-256 must be "
            f"{source.sha256}; delete the file to download the set."
        )
    table = np.loadtxt(path, ndmin=2)
    shape = source.num_rows, len(source.feature_names) + len(source.target_names)
    if table.shape != shape:
        raise ValueError(
            f"The file {path} must hold {shape[0]} rows of {shape[1]} numbers. Got a table of "
            f"{table.shape[0]} by {table.shape[1]}."
        )
    X, y = np.split(table, [len(source.feature_names)], axis=1)
    one_target = len(source.target_names) == 1
    return UCI(X, y[:, 0] if one_target else y, source.feature_names, source.target_names)


def available() -> dict[str, Path | None]:
    """Return the names of all sets, and the file of each that can be loaded without a download."""
    return {name: where(name) for name in SOURCES}


def where(name: str) -> Path | None:
    """Return the file a set is read from, or None if it has to be downloaded first."""
    require_one_of("name", name, tuple(SOURCES))
    if (own := own_file(_inside(name))) is not None and own.is_file():
        return own  # if it is damaged, `load_uci` says so
    cached = cache_folder() / _inside(name)
    return cached if cached.is_file() and SOURCES[name].accepts(cached) else None


def fetch(name: str) -> Path:
    """Return the file of a set; download it into the user's cache folder if there is none yet.

    Raises:
      FileNotFoundError: if it cannot be downloaded; the message says where to save the file.
      ValueError: if the name is unknown, or the download has another checksum.
    """
    if (found := where(name)) is not None:
        return found
    source, files = SOURCES[name], registry()
    url, cached = files.get_url(_inside(name)), files.abspath / _inside(name)
    state = "is damaged" if cached.exists() else "does not exist"
    if source.git_blob:
        cached.unlink(missing_ok=True)  # pooch has no checksum for it, and would keep it

    def download(url: str, path: str, files: pooch.Pooch) -> None:
        # Not streamed: a stream that is given up, as after a 404, leaves its connection open.
        pooch.HTTPDownloader(timeout=30, stream=False, chunk_size=2**16)(url, path, files)
        if not source.accepts(Path(path)):
            raise ValueError(
                f"The download {url} is not the {name} set of {REPOSITORY}: its SHA-256 must be "
                f"{source.sha256}. It was not kept; try again, or set {MIRROR_VARIABLE} to another "
                f"mirror."
            )

    pooch.get_logger().setLevel("WARNING")  # one sentence is enough if the download fails
    try:
        return Path(files.fetch(_inside(name), downloader=download))
    except requests.RequestException as failure:
        response, own = failure.response, own_file(_inside(name))
        answer = "" if response is None else f"{response.status_code} {response.reason}".strip()
        looked = f"{FOLDER_VARIABLE} is not set" if own is None else f"{own} does not exist"
        raise FileNotFoundError(
            f"The {name} set was not found, because {looked}, {cached} {state}, and {url} cannot be "
            f"downloaded ({answer or type(failure).__name__}): save that file as {cached}, or set "
            f"{FOLDER_VARIABLE} to a folder and save it there as {_inside(name)}."
        ) from failure


def registry() -> pooch.Pooch:
    """Return the files, addresses and checksums of all sets."""
    mirror = (os.environ.get(MIRROR_VARIABLE) or UPSTREAM).rstrip("/")
    return pooch.create(
        path=cache_folder(),
        base_url=mirror,
        # Where a second file is accepted, no single checksum decides: see `Source.accepts`.
        registry={_inside(name): None if s.git_blob else s.sha256 for name, s in SOURCES.items()},
        urls={_inside(name): f"{mirror}/{s.upstream_path}" for name, s in SOURCES.items()},
    )


def cache_folder() -> Path:
    """Return the folder for downloaded data, below the user's cache folder."""
    return pooch.os_cache("vebnn")


def _inside(name: str) -> str:
    return f"uci/{name}/data.txt"
