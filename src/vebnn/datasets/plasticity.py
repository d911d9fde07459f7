"""Strain histories and stresses of two materials, with the noise of their microstructure known."""

import os
from pathlib import Path
from typing import NamedTuple

import numpy as np

from vebnn.arguments import require_one_of

FOLDER_VARIABLE = "VEBNN_DATA"


class Plasticity(NamedTuple):
    """Paths of one material; components 11, 22 and 12 last."""

    strain: np.ndarray  # (paths, steps, 3)
    stress: np.ndarray  # (paths, steps, 3), each on one random microstructure
    test_strain: np.ndarray  # (test paths, steps, 3)
    test_mean: np.ndarray  # (test paths, steps, 3), over all microstructures
    test_std: np.ndarray  # (test paths, steps, 3)


def load_plasticity(material: int = 1) -> Plasticity:
    """Read ``plasticity/material_<n>.npz`` in the folder that ``VEBNN_DATA`` names.

    Args:
      material: 1 or 2.
    """
    require_one_of("material", str(material), ("1", "2"))
    folder = os.environ.get(FOLDER_VARIABLE, "")
    path = Path(folder) / "plasticity" / f"material_{material}.npz"
    if not folder or not path.is_file():
        raise FileNotFoundError(
            f"The plasticity data were not found: {path} does not exist. Set {FOLDER_VARIABLE} to the "
            f"folder that holds it."
        )
    with np.load(path, allow_pickle=False) as file:
        test = file["test_stress"].astype(float)
        return Plasticity(
            strain=file["strain"].astype(float),
            stress=file["stress"].astype(float),
            test_strain=file["test_strain"].astype(float),
            test_mean=test.mean(1),
            test_std=test.std(1, ddof=1),
        )
