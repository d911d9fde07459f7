"""What becomes of each row of a stream, without a list of all rows."""

from typing import NamedTuple

import numpy as np
import pandas
from pandas.api import types

from vebnn.tabular.values import to_labels

MOST_ROWS = 200_000  # held out, and as many for the calibration: enough for any score
CALIBRATION_SHARE = 0.2  # of the rows that are not held out


class Uses(NamedTuple):
    """Masks of the rows of a block."""

    held_out: np.ndarray
    calibrated: np.ndarray
    trained: np.ndarray


class StreamDivision(NamedTuple):
    """Shares of the rows, chosen by a hash of their inputs: identical inputs stay together."""

    hold_out: float
    calibrated: float
    seed: int

    @classmethod
    def of(cls, num_rows: int, hold_out: float, seed: int, *, calibrate: bool) -> "StreamDivision":
        """Return the shares for a number of rows; of millions, a small share is enough to score."""
        most = MOST_ROWS / max(num_rows, 1)
        held_out = min(hold_out, most)
        calibrated = min(CALIBRATION_SHARE * (1 - held_out), most) if calibrate else 0.0
        return cls(held_out, calibrated, seed)

    def divide(self, inputs: pandas.DataFrame) -> Uses:
        """Return the use of each row."""
        place = _uniform(inputs, self.seed)
        held_out = place < self.hold_out
        calibrated = ~held_out & (place < self.hold_out + self.calibrated)
        return Uses(held_out, calibrated, ~held_out & ~calibrated)


def _uniform(inputs: pandas.DataFrame, seed: int) -> np.ndarray:
    """Return a number in [0, 1) for each row, the same for identical inputs in any block."""
    total = np.full(len(inputs), seed, np.uint64)
    for name in inputs.columns:
        total = _mixed(total * np.uint64(31) + _hash(inputs[name]))
    return (total >> np.uint64(11)).astype(float) * 2.0**-53


def _hash(series: pandas.Series) -> np.ndarray:
    # A block without gaps has whole numbers where another has floats.
    if types.is_numeric_dtype(series.dtype) and not types.is_complex_dtype(series.dtype):
        values: np.ndarray = series.to_numpy(float, na_value=np.nan) + 0.0
    else:
        values = to_labels(series)
    return pandas.util.hash_array(values)


def _mixed(value: np.ndarray) -> np.ndarray:
    """Mix 64 bits thoroughly (the finaliser of MurmurHash3)."""
    for shift, factor in ((33, 0xFF51AFD7ED558CCD), (33, 0xC4CEB9FE1A85EC53)):
        value = (value ^ (value >> np.uint64(shift))) * np.uint64(factor)
    return value ^ (value >> np.uint64(33))
