"""Files that are whole or absent: written to a temporary name, then renamed."""

import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from uuid import uuid4

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save as to_bytes


def write_bytes(path: Path, content: bytes) -> None:
    """Write a file so that a reader sees the old content or the new one, never a part."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = temporary_name(path)
    try:
        with open(temporary, "xb") as file:
            file.write(content)
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def temporary_name(path: Path) -> Path:
    """Return a new name beside ``path``, to write to before it is renamed."""
    # Not tempfile's: its files are for their owner's eyes only, and stay so when renamed.
    return path.parent / f".{path.name[:40]}.{uuid4().hex}"


def replace_folder(new: Path, folder: Path) -> None:
    """Put a new folder in the place of another; the old one disappears only after that."""
    if not folder.exists():
        os.replace(new, folder)
        return
    old = temporary_name(folder)
    os.replace(folder, old)
    try:
        os.replace(new, folder)
    except BaseException:
        os.replace(old, folder)
        raise
    shutil.rmtree(old)


def write_arrays(path: Path, arrays: Mapping[str, np.ndarray], metadata: dict[str, str]) -> None:
    """Write named arrays as safetensors."""
    whole = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    write_bytes(path, to_bytes(whole, metadata))


def read_arrays(path: Path) -> tuple[dict[str, np.ndarray], dict[str, str]]:
    """Read named arrays and their metadata.

    Raises:
      ValueError: if the file is not a whole safetensors file.
    """
    try:
        with safe_open(path, framework="numpy") as file:
            return {name: file.get_tensor(name) for name in file.keys()}, file.metadata() or {}  # noqa: SIM118
    except SafetensorError as error:
        raise ValueError(f"The file {path} is damaged or not a safetensors file: {error}.") from error
