"""Apparent age from APPA-REAL (Agustsson et al. 2017): about 38 people guess the age of each face.

The spread of the guesses is noise that the picture cannot explain, and it is known: ``mean`` and
``noise_std`` are the average and the standard deviation of the guesses, from the files of the release.
The target is one guess, drawn once for each picture by a fixed seed, in all three splits. A model of
the averages would see almost no noise; a model of single guesses has to find it.

Faces are the crops of the release, resized to 128×128. The splits are those of the release.
"""

from pathlib import Path

import numpy as np
import pandas

from vebnn.datasets.images.conversion import Part, Parts
from vebnn.datasets.images.folder import image_blocks
from vebnn.datasets.images.source import Source, all_or_none
from vebnn.datasets.images.tables import read_columns

FOLDER = "appa-real-release"
SHAPE = (128, 128, 3)
_SPLITS = ("train", "valid", "test")


def _files(folder: Path) -> list[Path]:
    release = folder / FOLDER
    kinds = ("gt", "gt_avg")
    tables = all_or_none([release / f"{kind}_{split}.csv" for kind in kinds for split in _SPLITS])
    crops = (path for split in _SPLITS for path in sorted((release / split).glob("*_face.jpg")))
    return [*tables, *crops] if tables else []


def _read(folder: Path) -> Parts:
    return Parts(*(_part(folder / FOLDER, split) for split in _SPLITS))


def _part(release: Path, split: str) -> Part:
    truth = read_columns(
        release / f"gt_avg_{split}.csv", "file_name", "apparent_age_avg", "apparent_age_std"
    )
    guesses = read_columns(release / f"gt_{split}.csv", "file_name", "apparent_age")
    paths = [release / split / f"{name}_face.jpg" for name in truth["file_name"]]
    return Part(
        image_blocks(paths, SHAPE),
        _one_guess(guesses, truth["file_name"], release / f"gt_{split}.csv"),
        truth["apparent_age_avg"].to_numpy(float),
        truth["apparent_age_std"].to_numpy(float),
    )


def _one_guess(guesses: pandas.DataFrame, names: pandas.Series, path: Path) -> np.ndarray:
    rng = np.random.default_rng(0)
    ages = {name: group.to_numpy(float) for name, group in guesses.groupby("file_name")["apparent_age"]}
    if missing := [name for name in names if name not in ages]:
        raise ValueError(f"The file {path} must have a guess for every picture. It lacks {missing[0]}.")
    return np.array([rng.choice(ages[name]) for name in names])


APPA_REAL = Source(
    f"the folder {FOLDER} of https://chalearnlap.cvc.uab.cat/dataset/26/description", _files, _read
)
