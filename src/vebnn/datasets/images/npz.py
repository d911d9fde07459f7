"""Read the arrays of an ``.npz`` file that should be there."""

import zipfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np


def read_npz(path: Path, keys: Sequence[str], way_out: str) -> list[np.ndarray]:
    """Return arrays by name; the error for a damaged or incomplete file ends with the way out."""
    try:
        with np.load(path) as file:
            return [file[key] for key in keys]
    except (KeyError, ValueError, EOFError, zipfile.BadZipFile) as error:
        raise ValueError(
            f"The file {path} must be an .npz file with the arrays {', '.join(keys)}: {way_out}."
        ) from error
