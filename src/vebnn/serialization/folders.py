"""Folders that describe themselves: a JSON file with a version, and checksums of all files.

A damaged, edited or exchanged file is refused, and no file holds code. Each file is read and hashed
once.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load

from vebnn.serialization.arrays import pack_arrays
from vebnn.serialization.files import write_bytes


class SavedFolder:
    """The files of a folder; each is read at most once, however many formats describe it."""

    def __init__(self, path: str | PathLike[str]) -> None:
        self.path = Path(path)
        self._contents: dict[str, bytes | None] = {}

    def __fspath__(self) -> str:
        return str(self.path)

    def read(self, name: str) -> bytes | None:
        """Return the content of a file; None if there is no such file."""
        if name not in self._contents:
            path = self.path / name
            self._contents[name] = path.read_bytes() if path.is_file() else None
        return self._contents[name]


class Saved(NamedTuple):
    """What a folder holds."""

    body: dict[str, Any]  # the description
    arrays: dict[str, dict[str, np.ndarray]]  # of each safetensors file


@dataclass(frozen=True)
class Format:
    """A JSON description ``<name>.json`` and the files whose checksums it holds.

    Args:
      name: of the description.
      files: the other files, by the key of their checksum in the description.
      version: the version that is written.
      oldest: the first version that is read.
      again: how to get good files, such as "save the model again".
    """

    name: str
    files: Mapping[str, str]
    version: int
    oldest: int
    again: str

    @property
    def description(self) -> str:
        """Name of the JSON file."""
        return f"{self.name}.json"

    @property
    def names(self) -> set[str]:
        """Names of all files."""
        return {self.description, *self.files.values()}

    def write(
        self, folder: Path, body: dict[str, Any], arrays: Mapping[str, Mapping[str, np.ndarray]]
    ) -> None:
        """Write arrays, by the key of their file, and the description; other files must be there."""
        checksums = {}
        for key, file in self.files.items():
            content = pack_arrays(arrays[key]) if key in arrays else (folder / file).read_bytes()
            if key in arrays:
                write_bytes(folder / file, content)
            checksums[key] = _digest(content)
        write_bytes(folder / self.description, self.seal(body | checksums))

    def seal(self, body: dict[str, Any], version: int | None = None) -> bytes:
        """Return the content of the description, with a checksum of itself."""
        sealed = {"format": version or self.version, "checksum": _checksum(body), self.name: body}
        return json.dumps(sealed, indent=2).encode()

    def read(self, folder: str | PathLike[str]) -> Saved:
        """Read what :meth:`write` wrote, and check every file.

        Raises:
          ValueError: if there is nothing, or a file is damaged, edited or of another version.
        """
        saved = folder if isinstance(folder, SavedFolder) else SavedFolder(folder)
        body, arrays = self._unseal(saved), {}
        for key, file in self.files.items():
            content = saved.read(file)
            if content is None or _digest(content) != body[key]:
                raise self._damaged(saved.path / file)
            if file.endswith(".safetensors"):
                try:
                    arrays[key] = load(content)
                except SafetensorError:
                    raise self._damaged(saved.path / file) from None
        return Saved(body, arrays)

    def _unseal(self, saved: SavedFolder) -> dict[str, Any]:
        content = saved.read(self.description)
        if content is None:
            raise ValueError(
                f"There is no saved model in {saved.path}: {self.description} is missing. "
                f"Check the path, or {self.again}."
            )
        try:
            sealed = json.loads(content)
            version, body = sealed["format"], sealed[self.name]
            whole = sealed["checksum"] == _checksum(body) and body.keys() >= self.files.keys()
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            raise self._damaged(saved.path / self.description) from None
        if version not in range(self.oldest, self.version + 1):
            raise ValueError(
                f"The model in {saved.path} has format {version}; this version reads formats "
                f"{self.oldest} to {self.version}. Upgrade vebnn or {self.again}."
            )
        if not whole:
            raise self._damaged(saved.path / self.description)
        return body

    def _damaged(self, path: Path) -> ValueError:
        again = self.again[:1].upper() + self.again[1:]
        return ValueError(f"The file {path} is missing, truncated or was edited. {again}.")


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _checksum(body: dict[str, Any]) -> str:
    return _digest(json.dumps(body, sort_keys=True).encode())


MODEL = Format(
    name="model",
    files={"weights": "weights.safetensors"},
    version=4,  # 2 lacks calibration; up to 3, arrays are named by position instead of path
    oldest=2,
    again="save the model again",
)
# A model of a table is an estimator's model with two more files in the same folder.
TABLE = Format(
    name="table",
    files={"rows": "rows.safetensors", "model": MODEL.description},
    version=3,  # 1 lacks calibration; up to 2, the estimator's model has format 3 or older
    oldest=1,
    again="fit the model again",
)
