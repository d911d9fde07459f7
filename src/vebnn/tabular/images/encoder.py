"""A table of file names → one array of images, all of one size."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Self

import pandas

from vebnn.tabular.encoded import EncodedTable, Encoder, check_names
from vebnn.tabular.errors import TableError, counted, quoted_list
from vebnn.tabular.images.folder import ImageFolder, headers_of

if TYPE_CHECKING:
    from vebnn.datasets.images.folder import ImageHeader

LARGEST_SIDE = 64  # of images, unless the user asks for more
_COLOURS = {1: "grey", 3: "colour"}


@dataclass(frozen=True)
class ImageColumn:
    """The column of file names, and the form of the images that the network sees."""

    kind: ClassVar[str] = "image"
    num_missing: ClassVar[int] = 0
    name: str
    height: int
    width: int
    channels: int

    @property
    def size(self) -> tuple[int, int]:
        """Height and width."""
        return self.height, self.width

    @property
    def summary(self) -> str:
        """Size and colours."""
        return f"{_written(self.size)} pixels, {_COLOURS[self.channels]}"


@dataclass(frozen=True)
class ImageEncoder(Encoder):
    """How rows that name image files become images: bytes ``(rows, height, width, channels)``."""

    column_kinds: ClassVar = {ImageColumn.kind: ImageColumn}
    sample_rows: ClassVar = 100
    what: ClassVar = "images"

    columns: tuple[ImageColumn]
    folder: Path = field(default=Path(), compare=False)  # of the files; where it is may change

    @classmethod
    def fit(
        cls,
        frame: pandas.DataFrame,
        targets: Sequence[str],
        images: ImageFolder,
        *,
        drop: Sequence[str] = (),
    ) -> "tuple[ImageEncoder, tuple[str, ...]]":
        """Find the column of file names and the size of the images; return notices about both.

        Sizes are read from the heads of the files, so that mistakes are found before images are read.
        """
        check_names(frame, targets, drop=drop)
        name = images.column_of(frame, [*targets, *drop])
        unused = [one for one in frame.columns if one not in (name, *targets, *drop)]
        notices = []
        if unused:
            notices.append(f"Left out, because only images are used: {quoted_list(unused)}.")
        paths = images.paths_of(frame[name])
        headers = headers_of(paths)
        size, channels = (
            _common_size(headers, images.size),
            1 if all(one.grey for one in headers) else 3,
        )
        column = ImageColumn(name, *size, channels)
        return cls((column,), tuple(targets), (name,), (*drop, *unused), images.path), tuple(notices)

    @property
    def column(self) -> ImageColumn:
        """The only column."""
        return self.columns[0]

    def reading(self, folder: Path) -> Self:
        """Return the same encoder for files in another folder."""
        return replace(self, folder=folder)

    def encode(self, frame: pandas.DataFrame) -> EncodedTable:
        """Read the images of some rows; resize those of another size, with a notice."""
        frame = frame.reset_index(drop=True)
        self.refuse_absent(frame)
        wanted = self.column.size
        paths = ImageFolder(self.folder).paths_of(frame[self.column.name])
        headers = headers_of(paths)
        self._refuse_colours(paths, headers)
        notices = self.notices_of_unknown(frame.columns)
        if others := [header.size for header in headers if header.size != wanted]:
            before = _written(others[0]) if len(set(others)) == 1 else "various sizes"
            resized = (
                f"{counted(len(others), 'image')} resized from {before} to {_written(wanted)} pixels"
            )
            notices.insert(0, f"{self.column.name}: {resized}.")
        from vebnn.datasets.images.folder import read_images

        # Grey images are repeated for a model of colour images.
        pixels = read_images(paths, size=wanted, channels=self.column.channels)
        return EncodedTable(self, frame, pixels, tuple(notices))

    def _refuse_colours(self, paths: Sequence[Path], headers: "Sequence[ImageHeader]") -> None:
        """Refuse colour images for a model of grey ones."""
        colours = [path for path, header in zip(paths, headers, strict=True) if not header.grey]
        if self.column.channels == 1 and colours:
            raise TableError(
                f"The model was trained on grey images, but {counted(len(colours), 'image')} of "
                f"{len(paths):,} have colours, first {colours[0]}. Save them as grey images."
            )


def _common_size(headers: "Sequence[ImageHeader]", side: int | None) -> tuple[int, int]:
    """Return the size that all images get: their own if it is one and small, else a square."""
    if side is not None:
        return side, side
    first = headers[0].size
    if all(header.size == first for header in headers) and max(first) <= LARGEST_SIDE:
        return first
    side = min(max(first), LARGEST_SIDE)
    return side, side


def _written(size: tuple[int, int]) -> str:
    return f"{size[0]} × {size[1]}"
