"""Named arrays as safetensors, and parts of interrupted work: checkpoints and parts of a simulation.

A part is one file. Its fingerprint says which work it belongs to, and its checksum covers the
fingerprint and every array, so that one changed bit is refused.
"""

import hashlib
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from vebnn.serialization.files import write_bytes

Arrays = Mapping[str, np.ndarray]


def pack_arrays(arrays: Arrays, metadata: dict[str, str] | None = None) -> bytes:
    """Return the content of a safetensors file."""
    return save({name: np.asarray(array, order="C") for name, array in arrays.items()}, metadata)


def checksum(words: str, arrays: Arrays) -> str:
    """Return a digest of words and of arrays, with their names, shapes and dtypes."""
    digest = hashlib.sha256(words.encode())
    for name, array in sorted(arrays.items()):
        digest.update(repr((name, array.shape, array.dtype.str)).encode() + array.tobytes())
    return digest.hexdigest()


def write_part(path: Path, arrays: Arrays, fingerprint: str) -> None:
    """Write a part of the work with this fingerprint."""
    metadata = {"fingerprint": fingerprint, "checksum": checksum(fingerprint, arrays)}
    write_bytes(path, pack_arrays(arrays, metadata))


def read_part(path: Path, fingerprint: str, kind: str) -> dict[str, np.ndarray]:
    """Read a part of the work with this fingerprint; ``kind`` is its name in messages.

    Raises:
      ValueError: if the file is damaged, or belongs to other work or an earlier version.
    """
    try:
        with safe_open(path, framework="numpy") as file:
            metadata = file.metadata() or {}
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        found = metadata.get("fingerprint", "")
        damaged = metadata.get("checksum") not in (None, checksum(found, arrays))
    except SafetensorError:
        damaged = True
    if damaged:
        raise ValueError(f"The {kind} {path} is damaged. Delete the file to compute it again.")
    # The version before wrote no checksum.
    if found != fingerprint or "checksum" not in metadata:
        raise ValueError(
            f"The {kind} {path} was made with other data, settings, random_state or version of vebnn. "
            f"Delete the folder {path.parent}, or choose another one."
        )
    return arrays
