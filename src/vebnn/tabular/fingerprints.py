"""Rows recognised: has the model been trained on this very row?"""

import hashlib

import numpy as np


def row_fingerprints(matrix: np.ndarray, observed: np.ndarray) -> np.ndarray:
    """Return a 64-bit number for each row of inputs and targets; equal rows have equal numbers."""
    # Adding zero turns −0 into 0, which is the same number in other bits.
    whole = np.ascontiguousarray(np.hstack([matrix, observed]).astype("<f8") + 0.0)
    digests = (hashlib.blake2b(row.tobytes(), digest_size=8).digest() for row in whole)
    return np.frombuffer(b"".join(digests), "<u8")
