"""Pictures from PNG, JPEG and TIFF files, read one at a time into one array of bytes."""

import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from PIL import Image, ImageOps

from vebnn.core.arguments import require_whole
from vebnn.datasets.images.npy import write_npy

FORMATS = ("PNG", "JPEG", "TIFF")
MAX_PIXELS = 2**26  # of one file; a few bytes can ask for more pixels than any memory holds
BLOCK = 256  # pictures

_GREY = frozenset({"1", "L", "LA"})
_DEEP = frozenset({"I", "F", "I;16", "I;16L", "I;16B", "I;16N"})  # more than 8 bits a channel
_ORIENTATION = 0x0112  # of Exif; from 5 on, height and width are exchanged


class ImageHeader(NamedTuple):
    """What the head of a file says of its picture."""

    size: tuple[int, int]  # height, width
    grey: bool


def read_images(
    paths: Sequence[str | Path],
    size: int | tuple[int, int] | None = None,
    out: str | Path | None = None,
) -> np.ndarray:
    """Return pictures as (n, height, width, channels) bytes: one channel if all are grey, else three.

    Transparency is dropped, and a photo is turned as its camera noted. The headers of all files are
    checked before the first picture is decoded.

    Args:
      paths: PNG, JPEG or TIFF files with 8 bits a channel.
      size: the height and width to resize to, or one number for both. By default the size of the
        files, which must then be the same for all.
      out: a new ``.npy`` file for the pictures. The array is then mapped from it, so that memory
        holds a few pictures only.

    Raises:
      FileNotFoundError: if a file is missing.
      ValueError: if a file is broken, too large, of another kind or of another size.
    """
    files = [Path(path) for path in paths]
    if not files:
        raise ValueError("The `paths` must name at least one image. Got none.")
    headers = [read_header(path) for path in files]
    height, width = _common_size(files, headers) if size is None else _as_size(size)
    channels = 1 if all(header.grey for header in headers) else 3
    blocks = _blocks(files, (height, width, channels))
    if out is not None:
        write_npy(Path(out), len(files), blocks)
        return np.load(out, mmap_mode="r")
    images = np.empty((len(files), height, width, channels), np.uint8)
    for start, block in zip(range(0, len(files), BLOCK), blocks, strict=True):
        images[start : start + BLOCK] = block
    return images


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


def _blocks(paths: list[Path], shape: tuple[int, int, int]) -> Iterator[np.ndarray]:
    for start in range(0, len(paths), BLOCK):
        yield np.stack([_read(path, shape) for path in paths[start : start + BLOCK]])


def _open(path: Path) -> Image.Image:
    """Open a file and read its header; the pixels are decoded later."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", Image.DecompressionBombWarning)  # `read_header` is stricter
        return Image.open(path, formats=FORMATS)


def read_header(path: Path) -> ImageHeader:
    """Read size and colours of a picture without decoding it; refuse what :func:`read_images` does."""
    if not path.is_file():
        raise FileNotFoundError(f"The image {path} does not exist.")
    try:
        with _open(path) as image:
            width, height = image.size
            mode, frames = image.mode, getattr(image, "n_frames", 1) if image.format == "TIFF" else 1
            turned = image.getexif().get(_ORIENTATION, 1) >= 5
    except Image.DecompressionBombError:
        raise _too_large(path) from None
    except Exception as error:  # a broken file can fail in any way
        raise _broken(path) from error
    if width * height > MAX_PIXELS:
        raise _too_large(path)
    if mode in _DEEP:
        raise ValueError(
            f"The image {path} has more than 8 bits a channel: scale it to 8 bits, and save it again."
        )
    if frames > 1:
        raise ValueError(f"The image {path} has {frames} pages: save each page as a file of its own.")
    return ImageHeader((width, height) if turned else (height, width), mode in _GREY)


def _read(path: Path, shape: tuple[int, int, int]) -> np.ndarray:
    height, width, channels = shape
    try:
        with _open(path) as image:
            picture = ImageOps.exif_transpose(image).convert("L" if channels == 1 else "RGB")
    except Exception as error:
        raise _broken(path) from error
    if picture.size != (width, height):
        picture = picture.resize((width, height), Image.Resampling.BILINEAR)
    return np.asarray(picture).reshape(shape)


def _broken(path: Path) -> ValueError:
    return ValueError(f"The image {path} is broken, or not a PNG, JPEG or TIFF file.")


def _too_large(path: Path) -> ValueError:
    return ValueError(
        f"The image {path} has more than {MAX_PIXELS:,} pixels: make it smaller, and try again."
    )
