"""Write a ``.npy`` file block by block, so that memory holds one block and not the array."""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO

import numpy as np

from vebnn.serialization.files import naming, temporary


def write_npy(path: Path, num_rows: int, blocks: Iterable[np.ndarray]) -> None:
    """Write blocks of rows one after the other; the file is whole or absent.

    Args:
      path: the file.
      num_rows: the rows of all blocks.
      blocks: arrays (rows, ...) with the same shape but for the rows, and the same dtype.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with naming(path), temporary(path, lambda new: new.touch(exist_ok=False)) as new:
        with new.open("wb") as file:
            written = 0
            for block in blocks:
                if not written:
                    _write_header(file, (num_rows, *block.shape[1:]), block.dtype)
                file.write(np.ascontiguousarray(block).data)
                written += len(block)
        if written != num_rows:
            raise ValueError(f"The blocks for {path} must hold {num_rows} rows. Got {written}.")
        os.replace(new, path)


def _write_header(file: BinaryIO, shape: tuple[int, ...], dtype: np.dtype) -> None:
    description = np.lib.format.dtype_to_descr(dtype)
    header = {"descr": description, "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(file, header)
