"""Catalogue of the eight UCI regression sets of the paper, read from ``uci.toml``.

The files are those of the public repository martius-lab/beta-nll at the commit below: one line per
row, numbers separated by whitespace, inputs first and targets last.

Two files are accepted for superconduct. One is upstream's, of which only the git blob id is known. The
other was rebuilt: its 81 features were computed from the public chemical compositions by Hamidieh's
(2018) formulas, in the row order of the original. Its values agree with the original to 1e-10, but not
byte for byte, so it has a SHA-256 of its own.
"""

import hashlib
import tomllib
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

import pooch

REPOSITORY = "https://github.com/martius-lab/beta-nll"
COMMIT = "669c9f251eb41464c1ec8b43751c7c742dd75cf9"


class Source(NamedTuple):
    """One file: its place upstream, its columns and its checksum."""

    folder: str  # in the upstream repository, below data/UCI_Datasets
    num_rows: int
    feature_names: tuple[str, ...]
    target_names: tuple[str, ...]
    sha256: str
    git_blob: str | None = None  # of a second file that is accepted; its SHA-256 is not known

    @property
    def upstream_path(self) -> str:
        """Path of the file in the upstream repository."""
        return f"data/UCI_Datasets/{self.folder}/data/data.txt"

    def accepts(self, path: Path) -> bool:
        """Return whether a file has one of the known checksums."""
        if pooch.file_hash(path) == self.sha256:
            return True
        return self.git_blob is not None and git_blob_id(path.read_bytes()) == self.git_blob


def git_blob_id(content: bytes) -> str:
    """Return git's name for a file's content: SHA-1 of its size and the content."""
    header = f"blob {len(content)}\0".encode()
    return hashlib.sha1(header + content, usedforsecurity=False).hexdigest()


def _sources() -> dict[str, Source]:
    catalogue = tomllib.loads(files("vebnn.datasets").joinpath("uci.toml").read_text("utf-8"))
    columns = ("feature_names", "target_names")
    return {
        name: Source(**entry | {column: tuple(entry[column].split()) for column in columns})
        for name, entry in catalogue.items()
    }


SOURCES = _sources()
