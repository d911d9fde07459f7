"""Files that the user puts into the folder that ``VEBNN_DATA`` names."""

import os
from pathlib import Path

import pooch

FOLDER_VARIABLE = "VEBNN_DATA"


def own_file(inside: str) -> Path | None:
    """Return the path of a file in the folder, or ``None`` if the variable is not set."""
    folder = os.environ.get(FOLDER_VARIABLE)
    return Path(folder) / inside if folder else None


def find_own_file(inside: str, words: str, source: str, sha256: str) -> Path:
    """Return a file of the folder that is there, and has this checksum.

    Args:
      inside: its path in the folder.
      words: what the file has, with its verb: "The p3ht set was".
      source: which files of which repository to save.
      sha256: its checksum.

    Raises:
      FileNotFoundError: if it is missing; the message says where to save it.
      ValueError: if it has another checksum.
    """
    path = own_file(inside)
    if path is None or not path.is_file():
        looked = f"{FOLDER_VARIABLE} is not set" if path is None else f"{path} does not exist"
        raise FileNotFoundError(
            f"{words} not found, because {looked}: save {source} as {inside} in a folder, and set "
            f"{FOLDER_VARIABLE} to that folder."
        )
    if pooch.file_hash(path) != sha256:
        raise ValueError(
            f"The file {path} has been changed: its SHA-256 must be {sha256}; save {source} again."
        )
    return path
