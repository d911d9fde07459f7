"""Pictures from files: their values, sizes, channels, and one sentence for each that cannot be read."""

import io
import struct
import tracemalloc
import zlib
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from vebnn.datasets.images import folder, read_images
from vebnn.datasets.images.folder import MAX_PIXELS


def save(path: Path, pixels: np.ndarray, **options) -> Path:
    Image.fromarray(pixels).save(path, **options)
    return path


def random_pixels(*shape: int) -> np.ndarray:
    return np.random.default_rng(0).integers(0, 256, shape, dtype=np.uint8)


@pytest.mark.parametrize("suffix", ["png", "tif"])
@pytest.mark.parametrize("shape", [(6, 9), (6, 9, 3)])
def test_pixels_come_back(suffix: str, shape: tuple[int, ...], tmp_path: Path) -> None:
    pixels = random_pixels(*shape)
    images = read_images([save(tmp_path / f"a.{suffix}", pixels)] * 2)
    assert images.dtype == np.uint8
    assert images.shape == (2, 6, 9, 3 if len(shape) == 3 else 1)
    np.testing.assert_array_equal(images[1].reshape(shape), pixels)


def test_a_jpeg_is_close(tmp_path: Path) -> None:
    rows, columns = np.indices((32, 32))
    pixels = (100 + 2 * rows + columns).astype(np.uint8)
    (image,) = read_images([save(tmp_path / "a.jpg", pixels, quality=95)])
    assert np.abs(image[..., 0].astype(int) - pixels).max() <= 4


def test_one_coloured_file_gives_all_three_channels(tmp_path: Path) -> None:
    grey, coloured = random_pixels(4, 4), random_pixels(4, 4, 3)
    paths = [save(tmp_path / "grey.png", grey), save(tmp_path / "coloured.png", coloured)]
    images = read_images(paths)
    np.testing.assert_array_equal(images[0], np.repeat(grey[..., None], 3, axis=-1))
    np.testing.assert_array_equal(images[1], coloured)
    assert read_images(paths, channels=1).shape == (2, 4, 4, 1)
    assert read_images(paths[:1], channels=3).shape == (1, 4, 4, 3)


def test_transparency_is_dropped(tmp_path: Path) -> None:
    pixels = random_pixels(4, 4, 4)
    (image,) = read_images([save(tmp_path / "a.png", pixels)])
    np.testing.assert_array_equal(image, pixels[..., :3])


def test_a_palette_is_coloured(tmp_path: Path) -> None:
    picture = Image.fromarray(np.array([[0, 1], [1, 0]], np.uint8))
    picture.putpalette([10, 20, 30, 200, 100, 50])
    picture.save(tmp_path / "a.png", transparency=b"\x00\xff")
    (image,) = read_images([tmp_path / "a.png"])
    np.testing.assert_array_equal(image[0], [[10, 20, 30], [200, 100, 50]])


def test_resizing_averages_pixels(tmp_path: Path) -> None:
    halves = np.zeros((8, 8), np.uint8)
    halves[:, 4:] = 200
    paths = [save(tmp_path / "a.png", halves), save(tmp_path / "b.png", random_pixels(3, 5))]
    images = read_images(paths, (4, 2))
    assert images.shape == (2, 4, 2, 1)
    # Either half weighs the other one a little, and both by the same amount.
    np.testing.assert_allclose(images[0, :, 0, 0], images[0, 0, 0, 0])
    assert 0 < images[0, 0, 0, 0] < 50
    assert images[0, 0, 0, 0] + images[0, 0, 1, 0] == pytest.approx(200, abs=1)
    assert read_images(paths, 7).shape == (2, 7, 7, 1)


def test_a_photo_is_turned_as_the_camera_noted(tmp_path: Path) -> None:
    pixels = np.zeros((16, 32), np.uint8)
    pixels[:, :16] = 200
    exif = Image.Exif()
    exif[0x0112] = 6  # the top of the scene is at the right: turn clockwise
    path = save(tmp_path / "a.jpg", pixels, exif=exif)
    (image,) = read_images([path])
    assert image.shape == (32, 16, 1)
    assert image[:14].mean() > 190
    assert image[18:].mean() < 10


def test_files_are_mapped_and_memory_stays_small(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folder, "BLOCK", 2**20)
    pixels = random_pixels(64, 64, 3)
    paths = [save(tmp_path / "a.png", pixels)] * 900
    tracemalloc.start()
    images = read_images(paths, out=tmp_path / "images.npy")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert isinstance(images, np.memmap)
    assert images.shape == (900, 64, 64, 3)
    np.testing.assert_array_equal(images[[0, 450, 899]], [pixels] * 3)
    assert peak < 4 * 2**20 < images.nbytes / 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.png", "images.npy"]


def test_more_files_than_a_block(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folder, "BLOCK", 16)
    paths = [
        save(tmp_path / f"{number}.png", np.full((1, 2), number, np.uint8)) for number in range(30)
    ]
    np.testing.assert_array_equal(read_images(paths)[:, 0, 1, 0], np.arange(30) % 256)


def test_a_missing_file(tmp_path: Path) -> None:
    good = save(tmp_path / "a.png", random_pixels(4, 4))
    with pytest.raises(FileNotFoundError, match=r"The image .*nothing.png does not exist"):
        read_images([good, tmp_path / "nothing.png"])


@pytest.mark.parametrize("suffix", ["png", "jpg", "tif"])
def test_a_broken_file(suffix: str, tmp_path: Path) -> None:
    content = io.BytesIO()
    kind = {"png": "PNG", "jpg": "JPEG", "tif": "TIFF"}[suffix]
    Image.fromarray(random_pixels(64, 64)).save(content, kind)
    path = tmp_path / f"a.{suffix}"
    for share in (0, 0.5):
        path.write_bytes(content.getvalue()[: int(share * len(content.getvalue()))])
        with pytest.raises(ValueError, match=rf"The image .*a.{suffix} is broken, or not a PNG"):
            read_images([path], out=tmp_path / "images.npy")
    assert [one.name for one in tmp_path.iterdir()] == [path.name]


def test_another_format_is_not_even_tried(tmp_path: Path) -> None:
    path = tmp_path / "a.png"
    Image.fromarray(random_pixels(4, 4)).save(path, "GIF")
    with pytest.raises(ValueError, match="is broken, or not a PNG"):
        read_images([path])


def test_a_file_of_another_size(tmp_path: Path) -> None:
    first = save(tmp_path / "a.png", random_pixels(4, 6))
    second = save(tmp_path / "b.png", random_pixels(5, 6))
    with pytest.raises(
        ValueError, match=r"b.png is 5 by 6 pixels, but .*a.png is 4 by 6: give a `size` to resize"
    ):
        read_images([first, second])


@pytest.mark.parametrize("side", [9_000, 60_000])
def test_a_bomb_is_not_decoded(side: int, tmp_path: Path) -> None:
    def chunk(kind: bytes, content: bytes) -> bytes:
        check = zlib.crc32(kind + content)
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", check)

    header = struct.pack(">IIBBBBB", side, side, 8, 0, 0, 0, 0)
    content = chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(b"\0" * 9)) + chunk(b"IEND", b"")
    path = tmp_path / "bomb.png"
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + content)
    assert side**2 > MAX_PIXELS
    with pytest.raises(ValueError, match=r"bomb.png has more than 67,108,864 pixels"):
        read_images([path], 64)


def test_deep_pixels_and_pages(tmp_path: Path) -> None:
    deep = save(tmp_path / "deep.png", np.full((4, 4), 40_000, np.uint16))
    with pytest.raises(ValueError, match=r"deep.png has more than 8 bits a channel: scale it"):
        read_images([deep])
    pages = [Image.fromarray(random_pixels(4, 4)) for _ in range(3)]
    pages[0].save(tmp_path / "pages.tif", save_all=True, append_images=pages[1:])
    with pytest.raises(ValueError, match=r"pages.tif has 3 pages: save each"):
        read_images([tmp_path / "pages.tif"])


def test_wrong_arguments(tmp_path: Path) -> None:
    path = save(tmp_path / "a.png", random_pixels(4, 4))
    with pytest.raises(ValueError, match="The `paths` must name at least one image"):
        read_images([])
    with pytest.raises(ValueError, match=r"The `size` must be a whole number of at least 1. Got 0"):
        read_images([path], 0)
    with pytest.raises(ValueError, match=r"The `channels` must be 1, 3 or None. Got 2"):
        read_images([path], channels=2)
