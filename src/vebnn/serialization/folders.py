"""Saved models: folders of arrays and a JSON description with a version and checksums of all files.

A damaged, edited or exchanged file is refused. No file holds code.
"""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from os import PathLike
from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from safetensors.numpy import load

from vebnn.serialization.arrays import Arrays, pack_arrays
from vebnn.serialization.files import write_bytes


class SavedFolder:
    """The files of a model, each read once and all at one time, however many formats describe them.

    A model that is replaced meanwhile is read again, so that no reader sees files of two models.
    """

    def __init__(self, path: str | PathLike[str], *, history: bool = False) -> None:
        self.path = Path(path)
        self._names = TABLE.names | MODEL.names | PIPELINE.names | (HISTORY.names if history else set())

    def __fspath__(self) -> str:
        return str(self.path)

    def read(self, name: str) -> bytes | None:
        """Return the content of a file, or nothing if it is missing."""
        return self._contents.get(name)

    @cached_property
    def _contents(self) -> dict[str, bytes | None]:
        while True:
            before = _identity(self.path)
            contents = {name: _read(self.path / name) for name in self._names}
            if _identity(self.path) == before:
                return contents


def _identity(folder: Path) -> tuple[int, ...] | None:
    try:
        found = folder.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino, found.st_mtime_ns


def _read(path: Path) -> bytes | None:
    try:
        return path.read_bytes() if path.is_file() else None
    except FileNotFoundError:
        return None


@dataclass(frozen=True)
class Format:
    """A description ``<name>.json`` and the files that it holds checksums of."""

    name: str
    files: Mapping[str, str]  # by the key of their checksum in the description
    version: int  # the version that is written
    oldest: int  # the first version that is read
    again: str  # how to get good files
    what: str = "saved model"  # what is missing without its description

    @property
    def names(self) -> set[str]:
        """Names of all files."""
        return {f"{self.name}.json", *self.files.values()}

    def write(self, folder: Path, body: dict[str, Any], arrays: Mapping[str, Arrays]) -> None:
        """Write a description and arrays, by the key of their file; other files must be there."""
        checksums = {}
        for key, file in self.files.items():
            content = pack_arrays(arrays[key]) if key in arrays else (folder / file).read_bytes()
            if key in arrays:
                write_bytes(folder / file, content)
            checksums[key] = sha256(content).hexdigest()
        write_bytes(folder / f"{self.name}.json", self.seal(body | checksums))

    def seal(self, body: dict[str, Any], version: int | None = None) -> bytes:
        """Return the content of a description, with a checksum of itself."""
        sealed = {"format": version or self.version, "checksum": _checksum(body), self.name: body}
        return json.dumps(sealed, indent=2).encode()

    def read(self, folder: str | PathLike[str]) -> tuple[dict[str, Any], dict[str, Any]]:
        """Check every file; return the description, and arrays by the key of their file.

        Raises:
          ValueError: if there is no model, or a file is damaged, edited or of another version.
        """
        saved = folder if isinstance(folder, SavedFolder) else SavedFolder(folder)
        body, arrays = self._unseal(saved), {}
        for key, file in self.files.items():
            content = saved.read(file)
            if content is None or sha256(content).hexdigest() != body[key]:
                raise self._damaged(saved.path / file)
            if file.endswith(".safetensors"):
                try:
                    arrays[key] = load(content)
                except SafetensorError:
                    raise self._damaged(saved.path / file) from None
        return body, arrays

    def _unseal(self, saved: SavedFolder) -> dict[str, Any]:
        path = saved.path / f"{self.name}.json"
        content = saved.read(path.name)
        if content is None:
            raise ValueError(
                f"There is no {self.what} in {saved.path}: {path.name} is missing. "
                f"Check the path, or {self.again}."
            )
        try:
            sealed = json.loads(content)
            version, body = sealed["format"], sealed[self.name]
            whole = sealed["checksum"] == _checksum(body) and body.keys() >= self.files.keys()
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            raise self._damaged(path) from None
        if version not in range(self.oldest, self.version + 1):
            raise ValueError(
                f"The model in {saved.path} has format {version}; this version reads formats "
                f"{self.oldest} to {self.version}. Upgrade vebnn or {self.again}."
            )
        if not whole:
            raise self._damaged(path)
        return body

    def _damaged(self, path: Path) -> ValueError:
        return ValueError(f"The file {path} is missing, truncated or was edited; {self.again}.")


@contextmanager
def understanding(folder: str | PathLike[str]) -> Iterator[None]:
    """Turn errors about a description with right checksums but wrong values into one sentence."""
    try:
        yield
    except (ArithmeticError, AttributeError, LookupError, TypeError) as error:
        raise ValueError(
            f"The description of the model in {Path(folder)} does not make sense ({error!r}): it was "
            f"edited, or made by another version. Save the model again."
        ) from error


def _checksum(body: dict[str, Any]) -> str:
    return sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()


# Format 2 lacks calibration; up to 3, arrays are named by position instead of path.
MODEL = Format("model", {"weights": "weights.safetensors"}, 5, 2, again="save the model again")
# A model of a table is an estimator's model with two more files. Format 1 lacks calibration; up to 2,
# the estimator's model has format 3 or older; up to 3, there are no groups, and rare categories are
# not named; up to 4, there are no dates, time order, measurement errors or weights.
_TABLE_FILES = {"rows": "rows.safetensors", "model": "model.json"}
_AGAIN = "fit the model again with vebnn fit"
TABLE = Format("table", _TABLE_FILES, 5, 1, _AGAIN, "model of a table")
# The rows that the model of a table was made of, and those added later. Only ``vebnn add`` and ``vebnn
# history`` read it.
_HISTORY_FILES = {"kept": "kept.safetensors", "table": "table.json"}
HISTORY = Format("history", _HISTORY_FILES, 1, 1, _AGAIN, "history")
# The transformers of a pipeline whose estimator and rows are a model of a table.
_PIPELINE_FILES = {"composition": "composition.skops", "table": "table.json"}
PIPELINE = Format("pipeline", _PIPELINE_FILES, 1, 1, "save the pipeline again", "saved pipeline")
