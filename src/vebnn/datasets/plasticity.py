"""Stress of composites under strain paths: sequences with a known noise.

``vebnn simulate plasticity`` makes the data; the package has a small sample. The pickles that the
authors of the paper published can be read as well.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np

from vebnn.datasets.pickled_frames import read_frame

FOLDER_VARIABLE = "VEBNN_DATA"
SAMPLE_FOLDER = Path(__file__).parent / "samples" / "plasticity"
UNITS: Mapping[str, str] = {"strain": "1", "stress": "MPa"}

# Those of the authors of the paper: training paths, and mean and std of the test paths.
ORIGINAL_FILES = ("material_{}_training_dataset.pickle", "material_{}_testing_dataset.pickle")

# Rows and columns of components 11, 22, 12 in the 2×2 tensors of the published files.
_COMPONENT_INDEX = (np.array([0, 1, 0]), np.array([0, 1, 1]))


class Plasticity(NamedTuple):
    """Strain paths and stresses; the last axis is 11, 22, 12, with tensor (not engineering) shear."""

    strain: np.ndarray  # (paths, steps, 3)
    stress: np.ndarray  # (paths, steps, 3): each path on one random volume element
    test_strain: np.ndarray  # (test paths, steps, 3)
    test_mean: np.ndarray  # (test paths, steps, 3): mean over all elements
    test_std: np.ndarray  # (test paths, steps, 3): std over all elements: the noise
    units: Mapping[str, str]
    source: Path


def load_plasticity(material: int = 1, folder: str | Path | None = None) -> Plasticity:
    """Return the data of material 1 or 2.

    Args:
      material: 1, or 2, whose smaller elements have more noise.
      folder: where ``vebnn simulate plasticity`` wrote the file, or with the pickles of the authors of
        the paper (:data:`ORIGINAL_FILES`). By default ``plasticity`` in the folder that ``VEBNN_DATA``
        names; the sample in the package if there is no such file.

    Raises:
      FileNotFoundError: if the folder has no such file; the message says how to make it.
      ValueError: if the file is damaged, or the material unknown.
    """
    if material not in (1, 2):
        raise ValueError(f"The `material` must be 1 or 2. Got {material!r}.")
    path = _find(f"material_{material}.npz", folder)
    if not path.is_file():
        originals = [path.parent / name.format(material) for name in ORIGINAL_FILES]
        if all(original.is_file() for original in originals):
            return load_original_plasticity(*originals)
        raise FileNotFoundError(
            f"There is no {path}: make it with "
            f"`vebnn simulate plasticity --material {material} --out {path.parent}`, or put the "
            f"authors' {originals[0].name} and {originals[1].name} there."
        )
    strain, stress, test_strain, test_stress = _read(path)
    mean, std = test_stress.mean(1), test_stress.std(1, ddof=1)
    return _checked(Plasticity(strain, stress, test_strain, mean, std, UNITS, path))


def _find(name: str, folder: str | Path | None) -> Path:
    if folder is not None:
        return Path(folder) / name
    variable = os.environ.get(FOLDER_VARIABLE)
    own = Path(variable) / "plasticity" / name if variable else None
    return own if own is not None and own.is_file() else SAMPLE_FOLDER / name


def _read(path: Path) -> list[np.ndarray]:
    names = ("strain", "stress", "test_strain", "test_stress")
    try:
        with open(path, "rb") as content, np.load(content, allow_pickle=False) as file:
            arrays = [file[name].astype(np.float64) for name in names]
    except OSError:
        raise
    except Exception as error:  # zip and NumPy raise many kinds for a broken file
        raise ValueError(f"The file {path} is damaged or not from `vebnn simulate`.") from error
    if arrays[-1].ndim != 4 or arrays[-1].shape[1] < 2:
        raise ValueError(
            f"The `test_stress` in {path} must be (paths, at least 2 elements, steps, 3). Got shape "
            f"{arrays[-1].shape}."
        )
    return arrays


def load_original_plasticity(train: str | Path, truth: str | Path) -> Plasticity:
    """Return the data that the authors of the paper published, as pickles of ``(steps, 2, 2)`` tensors.

    Nothing in the files is executed: see :mod:`vebnn.datasets.pickled_frames`. A first step without
    any strain is dropped, because the simulated paths have none.

    Args:
      train: a file with columns ``strain`` and ``stress``.
      truth: a file with columns ``strain_mean``, ``stress_mean`` and ``stress_std`` or ``stress_var``.

    Raises:
      ValueError: if a file is not such a table.
    """
    columns, test_columns = read_frame(train), read_frame(truth)
    arrays = [_sequences(columns, name, train) for name in ("strain", "stress")]
    tests = [_sequences(test_columns, name, truth) for name in ("strain_mean", "stress_mean")]
    spread = "stress_std" if "stress_std" in test_columns else "stress_var"
    values = _sequences(test_columns, spread, truth)
    tests.append(values if spread == "stress_std" else np.sqrt(values))
    strain, stress = _without_unstrained_step(arrays)
    test_strain, mean, std = _without_unstrained_step(tests)
    return _checked(Plasticity(strain, stress, test_strain, mean, std, UNITS, Path(train)))


def _sequences(columns: Mapping[str, np.ndarray], name: str, path: str | Path) -> np.ndarray:
    if name not in columns:
        raise ValueError(f"The file {path} has no column {name!r}; it has {', '.join(columns)}.")
    try:
        tensors = np.stack([np.asarray(cell, np.float64) for cell in columns[name]])
    except (TypeError, ValueError):
        tensors = np.empty(0)
    if tensors.ndim != 4 or tensors.shape[2:] != (2, 2):
        raise ValueError(
            f"The column {name!r} of {path} must hold arrays of shape (steps, 2, 2), all of one length."
        )
    return tensors[(..., *_COMPONENT_INDEX)]


def _without_unstrained_step(arrays: list[np.ndarray]) -> list[np.ndarray]:
    """Drop the first step of all arrays if the first of them, the strain, is zero there."""
    strain = arrays[0]
    start = 1 if strain.shape[1] > 1 and not strain[:, 0].any() else 0
    return [array[:, start:] for array in arrays]


def _checked(data: Plasticity) -> Plasticity:
    pairs = {
        "stress": (data.strain, data.stress),
        "mean of the test stress": (data.test_strain, data.test_mean),
        "std of the test stress": (data.test_strain, data.test_std),
    }
    for name, (strain, stress) in pairs.items():
        if strain.ndim != 3 or strain.shape[-1] != 3 or stress.shape != strain.shape:
            raise ValueError(
                f"The {name} in {data.source} must have the shape of its strain, (paths, steps, 3). "
                f"Got {stress.shape} and {strain.shape}."
            )
        if not (np.isfinite(strain).all() and np.isfinite(stress).all()):
            raise ValueError(f"The {name} in {data.source} and its strain must be finite everywhere.")
    return data
