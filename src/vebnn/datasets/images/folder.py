"""Pictures from PNG, JPEG and TIFF files, read one at a time into one array of bytes."""

import math
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import numpy as np
from PIL import Image, ImageOps

from vebnn.core.arguments import require_whole
from vebnn.datasets.images.npy import write_npy

FORMATS = ("PNG", "JPEG", "TIFF")
MAX_PIXELS = 2**26  # of one file; a few bytes can ask for more pixels than any memory holds
BLOCK = 2**24  # bytes of pictures that are read before they are written

_GREY = frozenset({"1", "L", "LA"})
_DEEP = frozenset({"I", "F", "I;16", "I;16L", "I;16B", "I;16N"})  # more than 8 bits a channel
_TOO_LARGE = f"has more than {MAX_PIXELS:,} pixels: make it smaller, and try again."
_ORIENTATION = 0x0112  # of Exif; from 5 on, height and width are exchanged


class ImageHeader(NamedTuple):
    """What the head of a file says of its picture."""

    size: tuple[int, int]  # height, width
    grey: bool


def read_images(
    paths: Sequence[str | Path],
    size: int | tuple[int, int] | None = None,
    *,
    channels: int | None = None,
    out: str | Path | None = None,
) -> np.ndarray:
    """Return pictures as (n, height, width, channels) bytes.

    Transparency is dropped, and a photo is turned as its camera noted. The headers of all files are
    checked before the first picture is decoded.

    Args:
      paths: PNG, JPEG or TIFF files with 8 bits a channel.
      size: the height and width to resize to, or one number for both. By default the size of the
        files, which must then be the same for all.
      channels: 1 for grey, 3 for red, green, blue. By default 1 if all files are grey.
      out: a new ``.npy`` file for the pictures. The array is then mapped from it, so that memory
        holds a few pictures only.

    Raises:
      FileNotFoundError: if a file is missing.
      ValueError: if a file is broken, too large, of another kind or of another size.
    """
    files = [Path(path) for path in paths]
    if not files:
        raise ValueError("The `paths` must name at least one image. Got none.")
    if channels not in (None, 1, 3):
        raise ValueError(f"The `channels` must be 1, 3 or None. Got {channels!r}.")
    headers = [read_header(path) for path in files]
    height, width = _common_size(files, headers) if size is None else _as_size(size)
    if channels is None:
        channels = 1 if all(header.grey for header in headers) else 3
    blocks = image_blocks(files, (height, width, channels))
    if out is not None:
        write_npy(Path(out), len(files), blocks)
        return np.load(out, mmap_mode="r")
    images = np.empty((len(files), height, width, channels), np.uint8)
    start = 0
    for block in blocks:
        images[start : start + len(block)] = block
        start += len(block)
    return images


def image_blocks(paths: Sequence[Path], shape: tuple[int, int, int]) -> Iterator[np.ndarray]:
    """Yield pictures resized to (height, width, channels), some at a time."""
    together = max(1, BLOCK // math.prod(shape))
    for start in range(0, len(paths), together):
        yield np.stack([_read(path, shape) for path in paths[start : start + together]])


def _as_size(size: int | tuple[int, int]) -> tuple[int, int]:
    height, width = size if isinstance(size, tuple) else (size, size)
    require_whole("size", height, 1)
    require_whole("size", width, 1)
    return height, width


def _common_size(paths: list[Path], headers: list[ImageHeader]) -> tuple[int, int]:
    height, width = headers[0].size
    for path, header in zip(paths, headers, strict=True):
        if header.size != (height, width):
            raise ValueError(
                f"The image {path} is {header.size[0]} by {header.size[1]} pixels, but {paths[0]} is "
                f"{height} by {width}: give a `size` to resize all images."
            )
    return height, width


def read_header(path: Path) -> ImageHeader:
    """Read size and colours of a picture without decoding it; refuse what :func:`read_images` does."""
    with _opened(path) as image:
        width, height = image.size
        turned = image.getexif().get(_ORIENTATION, 1) >= 5
        return ImageHeader((width, height) if turned else (height, width), image.mode in _GREY)


def _read(path: Path, shape: tuple[int, int, int]) -> np.ndarray:
    height, width, channels = shape
    with _opened(path) as image:
        picture = ImageOps.exif_transpose(image)
        if picture.mode == "P":
            picture = picture.convert("RGBA")  # a palette may have transparent colours
        picture = picture.convert("L" if channels == 1 else "RGB")
    if picture.size != (width, height):
        picture = picture.resize((width, height), Image.Resampling.BILINEAR)
    return np.asarray(picture).reshape(shape)


@contextmanager
def _opened(path: Path) -> Iterator[Image.Image]:
    """Yield a file whose header is read and found harmless; the pixels are not decoded yet."""
    if not path.is_file():
        raise FileNotFoundError(f"The image {path} does not exist.")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)  # `_check` is stricter
            image = Image.open(path, formats=FORMATS)
        with image:
            _check(image)
            yield image
    except _Unsuitable as reason:
        raise ValueError(f"The image {path} {reason}") from None
    except Image.DecompressionBombError:
        raise ValueError(f"The image {path} {_TOO_LARGE}") from None
    except (PermissionError, MemoryError):
        raise
    except Exception as error:  # a broken file can fail in any way
        raise ValueError(f"The image {path} is broken, or not a PNG, JPEG or TIFF file.") from error


class _Unsuitable(Exception):
    """The rest of a sentence about a picture."""


def _check(image: Image.Image) -> None:
    if image.width * image.height > MAX_PIXELS:
        raise _Unsuitable(_TOO_LARGE)
    if image.mode in _DEEP:
        raise _Unsuitable("has more than 8 bits a channel: scale it to 8 bits, and save it again.")
    if image.format == "TIFF" and (pages := getattr(image, "n_frames", 1)) > 1:
        raise _Unsuitable(f"has {pages} pages: save each page as a file of its own.")
