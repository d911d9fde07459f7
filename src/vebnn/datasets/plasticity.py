"""Stress of composites under strain paths: sequences whose noise is known.

The data come from our own simulator (``vebnn simulate plasticity``). A small sample is part of the
package. The original data, which are pickles, can be read as well.
"""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np

from vebnn.datasets.pickled_frames import read_frame

FOLDER_VARIABLE = "VEBNN_DATA"
SAMPLE_FOLDER = Path(__file__).parent / "samples" / "plasticity"

COMPONENTS = ("11", "22", "12")
UNITS: Mapping[str, str] = {"strain": "1", "stress": "MPa"}

# Rows and columns of the 2×2 tensors in the original files.
_AT = (np.array([0, 1, 0]), np.array([0, 1, 1]))


class Plasticity(NamedTuple):
    """Strain paths and stresses; the last axis is 11, 22, 12, and shear is that of the tensor."""

    strain: np.ndarray  # (paths, steps, 3)
    stress: np.ndarray  # (paths, steps, 3): each path on one element, chosen at random
    test_strain: np.ndarray  # (test paths, steps, 3)
    test_mean: np.ndarray  # (test paths, steps, 3): the mean stress of all elements
    test_std: np.ndarray  # (test paths, steps, 3): their std, which is the noise
    units: Mapping[str, str]
    source: Path


def load_plasticity(material: int = 1, folder: str | Path | None = None) -> Plasticity:
    """Return the data of material 1 or 2.

    Args:
      material: the elements of material 2 are smaller, so that its noise is larger.
      folder: with a file that ``vebnn simulate plasticity`` wrote. Unless given, it is
        ``plasticity`` in the folder that ``VEBNN_DATA`` names if the file is there, else the sample
        in the package.

    Raises:
      FileNotFoundError: if the folder has no such file; the sentence says how to make it.
      ValueError: if the file is damaged, or the material unknown.
    """
    if material not in (1, 2):
        raise ValueError(f"The `material` must be 1 or 2. Got {material!r}.")
    path = _find(f"material_{material}.npz", folder)
    if not path.is_file():
        raise FileNotFoundError(
            f"There is no {path}: make it with "
            f"`vebnn simulate plasticity --material {material} --out {path.parent}`."
        )
    strain, stress, test_strain, test_stress = _read(path)
    return _checked(
        Plasticity(
            strain,
            stress,
            test_strain,
            test_stress.mean(1),
            test_stress.std(1, ddof=1),
            UNITS,
            path,
        )
    )


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
    except Exception as error:  # zip and NumPy have many ways to say that a file is broken
        raise ValueError(f"The file {path} is damaged or no data of `vebnn simulate`.") from error
    if arrays[-1].ndim != 4 or arrays[-1].shape[1] < 2:
        raise ValueError(
            f"The `test_stress` in {path} must be (paths, at least 2 elements, steps, 3). Got shape "
            f"{arrays[-1].shape}."
        )
    return arrays


def load_original_plasticity(train: str | Path, truth: str | Path) -> Plasticity:
    """Return the data of the paper's authors from their own files, which are pickles.

    Nothing in the files is executed: see :mod:`vebnn.datasets.pickled_frames`. Cells are
    ``(steps, 2, 2)`` tensors. A first step without any strain is left out, as our own paths do not
    have it.

    Args:
      train: file with columns ``strain`` and ``stress``.
      truth: file with columns ``strain_mean``, ``stress_mean`` and ``stress_std`` or ``stress_var``.

    Raises:
      ValueError: if a file is not such a table.
    """
    learned, known = read_frame(train), read_frame(truth)
    strain, stress = (_sequences(learned, name, train) for name in ("strain", "stress"))
    test_strain, test_mean = (_sequences(known, name, truth) for name in ("strain_mean", "stress_mean"))
    if "stress_std" in known:
        test_std = _sequences(known, "stress_std", truth)
    else:
        test_std = np.sqrt(_sequences(known, "stress_var", truth))
    start, test_start = _first_step(strain), _first_step(test_strain)
    return _checked(
        Plasticity(
            strain[:, start:],
            stress[:, start:],
            test_strain[:, test_start:],
            test_mean[:, test_start:],
            test_std[:, test_start:],
            UNITS,
            Path(train),
        )
    )


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
    return tensors[(..., *_AT)]


def _first_step(strain: np.ndarray) -> int:
    return 1 if strain.shape[1] > 1 and not strain[:, 0].any() else 0


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
            raise ValueError(f"The {name} in {data.source} or its strain is not finite everywhere.")
    return data
