"""Image files that a table names: which column names them, whether all are there, and their sizes."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas

from vebnn.core.arguments import require_whole
from vebnn.tabular.errors import TableError, counted, quoted, quoted_list
from vebnn.tabular.values import MISSING, to_labels

if TYPE_CHECKING:
    from vebnn.datasets.images.folder import ImageHeader

SUFFIXES = (".png", ".jpg", ".jpeg", ".tif", ".tiff")


@dataclass(frozen=True)
class ImageFolder:
    """A folder of image files, and how the user wants them read."""

    path: Path
    column: str | None = None  # of the table, with file names; None looks for it
    size: int | None = None  # side of the square that images are resized to; None decides by the files

    def __post_init__(self) -> None:
        if not self.path.is_dir():
            raise TableError(f"There is no folder {self.path} of images. Check the path of --images.")
        if self.size is not None:
            require_whole("--image-size", self.size, 1)

    def column_of(self, frame: pandas.DataFrame, others: Sequence[str] = ()) -> str:
        """Return the column of file names: the one the user names, or the only one with such values.

        Args:
          frame: the table.
          others: columns that are not meant, such as targets.
        """
        available = f"The columns are {quoted_list(frame.columns, 12)}."
        if self.column is not None:
            if self.column not in frame.columns:
                message = f"There is no column {self.column!r} for --image-column. {available}"
                raise TableError(message, self.column)
            if self.column in others:
                message = f"The column {self.column!r} is a target or left out; it cannot name images."
                raise TableError(message, self.column)
            return self.column
        found = [name for name in frame.columns if name not in others and self._any(frame[name])]
        if not found:
            raise TableError(
                f"No column names files in {self.path}. {available} Check --images, or name the column "
                f"by --image-column."
            )
        if len(found) > 1:
            raise TableError(
                f"The columns {quoted_list(found)} all name files in {self.path}. Choose one: "
                f"--image-column {found[0]}."
            )
        return found[0]

    def _any(self, series: pandas.Series) -> bool:
        """Return whether a value names a file; distinct values that repeat are tried once."""
        names = dict.fromkeys(to_labels(series))
        return any((self.path / name).is_file() for name in names if name != MISSING)

    def paths_of(self, series: pandas.Series) -> list[Path]:
        """Return the file of each row; refuse rows without a name, and names without a file."""
        names = to_labels(series)
        if (missing := names == MISSING).any():
            row = int(np.argmax(missing))
            raise TableError(
                f"The column {series.name!r} names no image in {counted(int(missing.sum()), 'row')}, "
                f"first in row {row + 1}. Fill in or delete these rows.",
                str(series.name),
                row,
            )
        paths = [self.path / name for name in names]
        absent = [at for at, path in enumerate(paths) if not path.is_file()]
        if absent:
            files, first = counted(len(absent), "image"), quoted(names[absent[0]])
            raise TableError(
                f"The folder {self.path} lacks {files} of {len(paths):,}, first {first} of row "
                f"{absent[0] + 1}. Add the files, or delete the rows.",
                str(series.name),
                absent[0],
            )
        return paths

    def table_of_files(self, column: str) -> pandas.DataFrame:
        """Return a table of all image files in the folder, by name, in the given column."""
        names = sorted(path.name for path in self.path.iterdir() if path.suffix.lower() in SUFFIXES)
        if not names:
            endings = ", ".join(SUFFIXES)
            raise TableError(f"The folder {self.path} holds no image: no file ends in {endings}.")
        return pandas.DataFrame({column: names})


def headers_of(paths: Sequence[Path]) -> "list[ImageHeader]":
    """Return what the head of each file says; refuse files that are no images, and count them."""
    try:
        from vebnn.datasets.images.folder import read_header
    except ImportError as error:
        raise ImportError("Images need Pillow: pip install 'vebnn[images]'.") from error
    headers, complaints = [], []
    for path in paths:
        try:
            headers.append(read_header(path))
        except ValueError as error:
            complaints.append(str(error))
    if complaints:
        files = f"{counted(len(complaints), 'image')} of {len(paths):,}"
        raise TableError(f"{files} cannot be used; this is the first. {complaints[0]}")
    return headers
