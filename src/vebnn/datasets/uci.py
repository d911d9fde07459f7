"""The eight UCI regression sets of the paper, by name.

A set is read from ``uci/<name>/data.txt`` in the folder that ``VEBNN_DATA`` names, else from the user's
cache folder, into which it is downloaded once. ``VEBNN_UCI_URL`` names a mirror of the upstream
repository.
"""

import io
import os
from pathlib import Path
from typing import NamedTuple

import numpy as np

from vebnn.core.arguments import require_one_of
from vebnn.datasets import download
from vebnn.datasets.uci_catalogue import COMMIT, REPOSITORY, SOURCES, Source
from vebnn.serialization.files import write_bytes

__all__ = ["SOURCES", "UCI", "Source", "available", "fetch", "load_uci", "where"]

FOLDER_VARIABLE = "VEBNN_DATA"
MIRROR_VARIABLE = "VEBNN_UCI_URL"
UPSTREAM = f"{REPOSITORY}/raw/{COMMIT}"


class UCI(NamedTuple):
    """One data set in original units."""

    X: np.ndarray  # (rows, features)
    y: np.ndarray  # (rows,), or (rows, targets) for several targets
    feature_names: tuple[str, ...]
    target_names: tuple[str, ...]


def load_uci(name: str) -> UCI:
    """Return one of the sets by name: the keys of ``SOURCES``. It is downloaded the first time.

    Raises:
      FileNotFoundError: if the file is not there and cannot be downloaded; the sentence says where to
        put it.
      ValueError: if the name is unknown, or the file is not the one the name stands for.
    """
    path = fetch(name)
    source = SOURCES[name]
    content = path.read_bytes()
    if mismatch := source.mismatch(content):
        raise ValueError(f"The file {path} is not the {name} set of {REPOSITORY}: {mismatch}.")
    table = np.loadtxt(io.BytesIO(content), ndmin=2)
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
    """Return the file a set is read from, or nothing if it has to be downloaded first."""
    require_one_of("name", name, tuple(SOURCES))
    own, cached = _own_path(name), _cached_path(name)
    if own is not None and own.is_file():
        return own
    # A damaged file in the cache is fetched again; one in the user's own folder is the user's affair.
    return cached if cached.is_file() and not SOURCES[name].mismatch(cached.read_bytes()) else None


def fetch(name: str) -> Path:
    """Return the file of a set; if there is none yet, download it into the user's cache folder.

    Raises:
      FileNotFoundError: if it cannot be downloaded; the sentence says where to put the file.
      ValueError: if the name is unknown, or what was downloaded is something else.
    """
    found = where(name)
    if found is not None:
        return found
    source, cached = SOURCES[name], _cached_path(name)
    mirror = os.environ.get(MIRROR_VARIABLE) or UPSTREAM
    url = f"{mirror.rstrip('/')}/{source.upstream_path}"
    try:
        content = download.download(url)
    except download.DownloadFailed as failure:
        raise FileNotFoundError(_not_found(name, url, str(failure))) from failure
    if mismatch := source.mismatch(content):
        raise ValueError(
            f"The download {url} is not the {name} set of {REPOSITORY}: {mismatch}. Nothing of it was "
            f"kept; try again, or set {MIRROR_VARIABLE} to another mirror."
        )
    write_bytes(cached, content)
    return cached


def _not_found(name: str, url: str, failure: str) -> str:
    own, cached = _own_path(name), _cached_path(name)
    looked = f"{FOLDER_VARIABLE} is not set" if own is None else f"{own} does not exist"
    kept = "is damaged" if cached.exists() else "does not exist"
    return (
        f"The {name} set was not found, because {looked}, {cached} {kept}, and {url} cannot be "
        f"downloaded ({failure}): save that file as {cached}, or set {FOLDER_VARIABLE} to a folder and "
        f"save it there as {_inside(name)}."
    )


def _own_path(name: str) -> Path | None:
    folder = os.environ.get(FOLDER_VARIABLE)
    return Path(folder) / _inside(name) if folder else None


def _cached_path(name: str) -> Path:
    return download.cache_folder() / _inside(name)


def _inside(name: str) -> Path:
    return Path("uci") / name / "data.txt"
