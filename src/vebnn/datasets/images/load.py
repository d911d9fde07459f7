"""Sets of images by name."""

from functools import partial
from pathlib import Path

from vebnn.core.arguments import require_one_of
from vebnn.datasets.images.catalogue import SOURCES
from vebnn.datasets.images.conversion import convert_once
from vebnn.datasets.images.rotated_digits import FILE, rotated_digits
from vebnn.datasets.images.types import ImageDataset
from vebnn.datasets.own_files import FOLDER_VARIABLE, own_file

ROTATED_DIGITS = "rotated-digits"
IMAGE_DATASETS = (*SOURCES, ROTATED_DIGITS)
_DIGITS = (
    f"{FILE} with MNIST's digits in the arrays train_images and test_images, (n, 28, 28) uint8, and "
    f"train_labels and test_labels"
)


def load_images(name: str, folder: str | Path | None = None) -> ImageDataset:
    """Return one of the sets by name, one of ``IMAGE_DATASETS``.

    Args:
      name: of the set.
      folder: where the files are; by default ``images`` in the folder that ``VEBNN_DATA`` names.

    Raises:
      FileNotFoundError: if no files of the set are there; the message says which to save or make.
      ValueError: if the name is unknown, or a file is damaged.
    """
    require_one_of("name", name, IMAGE_DATASETS)
    place = own_file("images") if folder is None else Path(folder)
    if place is None:
        where = f"{FOLDER_VARIABLE} is not set: in its folder images, save"
    else:
        if (found := _load(name, place)) is not None:
            return found
        where = f"{place} does not hold them: save there"
    sources = [_DIGITS] if name == ROTATED_DIGITS else [source.words for source in SOURCES[name]]
    words = ", or ".join(sources).replace("FOLDER", str(place or f"${FOLDER_VARIABLE}/images"))
    raise FileNotFoundError(f"The {name} images were not found, because {where} {words}.")


def _load(name: str, folder: Path) -> ImageDataset | None:
    if name == ROTATED_DIGITS:
        return rotated_digits(folder / FILE) if (folder / FILE).is_file() else None
    for source in SOURCES[name]:
        if files := source.files(folder):
            return convert_once(name, files, partial(source.read, folder))
    return None
