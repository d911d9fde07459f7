"""One way to get a set: files to look for in a folder, and how to read them."""

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from vebnn.datasets.images.conversion import Parts


class Source(NamedTuple):
    """Files of one kind."""

    words: str  # which files, and where they are from or how to make them in FOLDER
    files: Callable[[Path], list[Path]]  # the files in a folder; none unless all are there
    read: Callable[[Path], Parts]  # reads them


def all_or_none(paths: list[Path]) -> list[Path]:
    """Return these files, or none of them if one is missing."""
    return paths if all(path.is_file() for path in paths) else []
