"""Measured data with repeats, where the scatter of repeats shows the noise.

A set is read from ``replicates/<name>.csv`` in the folder that ``VEBNN_DATA`` names. The sets were
collected by Liang et al. (2021), "Benchmarking the performance of Bayesian optimization across multiple
experimental materials science domains"; their files are in the public repository below.
"""

from typing import NamedTuple

import numpy as np
import pandas

from vebnn.core.arguments import require_one_of
from vebnn.datasets.own_files import find_own_file

REPOSITORY = "https://github.com/PV-Lab/Benchmarking"


class Source(NamedTuple):
    """One file."""

    words: str  # what was measured
    upstream: str  # the file in the repository, below datasets/
    sha256: str


SOURCES = {
    "crossed-barrel": Source(
        "toughness of printed structures, four design parameters, three specimens of each design",
        "Crossed barrel_dataset.csv",
        "2c01f875f3c210e986ca6142bf20f417884c2ad7d6f008c2fc574b44a3d5f606",
    ),
    "p3ht": Source(
        "conductivity of polymer and carbon nanotube films, five contents",
        "P3HT_dataset.csv",
        "db33eeb63e3f09ebeb3c1985c14b39e4284668b3ed1fc6a23d17998c21a45dde",
    ),
    "perovskite": Source(
        "instability index of perovskite films, three contents",
        "Perovskite_dataset.csv",
        "9e9c5c2c698902ae17ba5e8f037c7f10d5889c02a419fe3897e4724f805263b9",
    ),
}


class Replicates(NamedTuple):
    """One data set in original units."""

    X: np.ndarray  # (rows, features)
    y: np.ndarray  # (rows,)
    condition: np.ndarray  # (rows,): rows with the same inputs have the same number, from 0
    feature_names: tuple[str, ...]
    target_name: str


def load_replicates(name: str) -> Replicates:
    """Return one of the sets by name, a key of ``SOURCES``; the last column is the target.

    Raises:
      FileNotFoundError: if there is no file; the message says where to save it.
      ValueError: if the name is unknown, or the file has another checksum.
    """
    require_one_of("name", name, tuple(SOURCES))
    source = SOURCES[name]
    path = find_own_file(
        f"replicates/{name}.csv",
        f"The {name} set was",
        f"datasets/{source.upstream} of {REPOSITORY}",
        source.sha256,
    )
    table = pandas.read_csv(path, encoding="utf-8-sig")  # one of the files has a byte order mark
    X, y = table.to_numpy(float)[:, :-1], table.to_numpy(float)[:, -1]
    _, condition = np.unique(X, axis=0, return_inverse=True)
    return Replicates(X, y, condition, tuple(table.columns[:-1]), table.columns[-1])
