"""The pickles that the scripts of Gustafsson et al. (2023) prepare.

"How Reliable is Your Regression Model's Uncertainty Under Real-World Distribution Shifts?". A set is a
folder with ``{images,labels}_{train,val,test}.pkl``. They are read without executing anything in them.
"""

from pathlib import Path

from vebnn.datasets.images.conversion import Part, Parts
from vebnn.datasets.images.shift import Shift, mark_shifted
from vebnn.datasets.images.source import Source, all_or_none
from vebnn.datasets.images.whole_arrays import part_of_arrays
from vebnn.datasets.pickled_arrays import read_array

REPOSITORY = "https://github.com/fregu856/regression_uncertainty"
_SPLITS = ("train", "val", "test")


def prepared(name: str, shift: Shift | None = None, blue_first: bool = False) -> Source:
    """Return the source of a set whose pickles are in the folder ``name``.

    Args:
      name: of the folder, as in the repository.
      shift: says which test pictures are outside the training distribution.
      blue_first: whether the channels are blue, green, red, as OpenCV has them.
    """

    def files(folder: Path) -> list[Path]:
        kinds = ("images", "labels")
        return all_or_none([_path(folder / name, kind, split) for split in _SPLITS for kind in kinds])

    def read(folder: Path) -> Parts:
        parts = Parts(*(_part(folder / name, split, blue_first) for split in _SPLITS))
        return mark_shifted(parts, shift)

    words = f"{name}/{{images,labels}}_{{train,val,test}}.pkl as the scripts of {REPOSITORY} write them"
    return Source(words, files, read)


def _path(folder: Path, kind: str, split: str) -> Path:
    return folder / f"{kind}_{split}.pkl"


def _part(folder: Path, split: str, blue_first: bool) -> Part:
    path = _path(folder, "images", split)
    images, labels = read_array(path), read_array(_path(folder, "labels", split))
    return part_of_arrays(path, images[..., ::-1] if blue_first else images, labels)
