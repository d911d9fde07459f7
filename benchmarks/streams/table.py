"""A generated table of any size, written block by block."""

from pathlib import Path

import numpy as np
import pandas
import pyarrow
from pyarrow import parquet

NUM_NUMBERS = 19  # beside a category: 20 columns
BLOCK_ROWS = 100_000


def write_table(path: Path, num_rows: int) -> None:
    """Write a Parquet file whose rows do not depend on how many there are."""
    if path.exists():
        return
    part, writer = path.with_suffix(".part"), None
    for start in range(0, num_rows, BLOCK_ROWS):
        block = pyarrow.Table.from_pandas(
            rows(start // BLOCK_ROWS)[: num_rows - start], preserve_index=False
        )
        writer = writer or parquet.ParquetWriter(part, block.schema)
        writer.write_table(block)
    if writer is not None:
        writer.close()
    part.rename(path)


def rows(block: int) -> pandas.DataFrame:
    """Return a block: a smooth mean of five columns and a category, and noise that depends on one."""
    rng = np.random.default_rng([20, block])
    x = rng.uniform(size=(BLOCK_ROWS, NUM_NUMBERS))
    kind = rng.integers(0, 3, BLOCK_ROWS)
    mean = np.sin(np.pi * x[:, 0] * x[:, 1]) + 2 * (x[:, 2] - 0.5) ** 2 + x[:, 3] + 0.5 * x[:, 4]
    noise = (0.05 + 0.2 * x[:, 0]) * rng.normal(size=BLOCK_ROWS)
    frame = pandas.DataFrame(x, columns=[f"x{number}" for number in range(NUM_NUMBERS)])
    return frame.assign(kind=np.array(["a", "b", "c"])[kind], y=mean + 0.3 * kind + noise)
