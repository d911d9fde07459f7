"""Named arrays as safetensors, and a single file of them that carries its own checksum.

Checkpoints and parts of a simulation are such files. Their fingerprint says which work they belong
to; the checksum covers the fingerprint and every array, so that one changed bit is refused.
"""

import hashlib
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from vebnn.serialization.files import write_bytes


def pack_arrays(arrays: Mapping[str, np.ndarray], metadata: dict[str, str] | None = None) -> bytes:
    """Return named arrays as the content of a safetensors file."""
    return save({name: np.asarray(array, order="C") for name, array in arrays.items()}, metadata)


def checksum(words: str, arrays: Mapping[str, np.ndarray]) -> str:
    """Return a digest of words and of arrays, with their names, shapes and dtypes."""
    digest = hashlib.sha256(words.encode())
    for name, array in sorted(arrays.items()):
        digest.update(repr((name, array.shape, array.dtype.str)).encode())
        digest.update(array.tobytes())
    return digest.hexdigest()


def write_part(path: Path, arrays: Mapping[str, np.ndarray], fingerprint: str) -> None:
    """Write one part of interrupted work; see :func:`read_part`."""
    metadata = {"fingerprint": fingerprint, "checksum": checksum(fingerprint, arrays)}
    write_bytes(path, pack_arrays(arrays, metadata))


def read_part(path: Path, fingerprint: str, kind: str) -> dict[str, np.ndarray]:
    """Read one part of interrupted work.

    Args:
      path: the file.
      fingerprint: of the work that is to be resumed.
      kind: what to call the file in a message.

    Raises:
      ValueError: if the file is damaged, or belongs to other work or an earlier version.
    """
    damaged = f"The {kind} {path} is damaged. Delete the file to compute it again."
    try:
        with safe_open(path, framework="numpy") as file:
            metadata = file.metadata() or {}
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except SafetensorError as error:
        raise ValueError(damaged) from error
    found = metadata.get("fingerprint", "")
    if "checksum" in metadata and metadata["checksum"] != checksum(found, arrays):
        raise ValueError(damaged)
    if found != fingerprint or "checksum" not in metadata:
        raise ValueError(
            f"The {kind} {path} was made with other data, settings, random_state or version of vebnn. "
            f"Delete the folder {path.parent}, or choose another one."
        )
    return arrays
