"""The second reading of a large table: its training rows, encoded, in random order, in a mapped file.

Rows are dealt in turn to regions of the file, from blocks that were shuffled; then each region, which
memory can hold, is shuffled. Both are resumed where they were interrupted.
"""

import json
import shutil
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from vebnn.estimators.preprocessing import Standardiser
from vebnn.serialization.files import write_bytes
from vebnn.tabular.encoder import TableEncoder
from vebnn.tabular.mapped.division import StreamDivision
from vebnn.tabular.mapped.learning import LargeTable, LearnedTable, Watch

REGION_BYTES = 2**26
MOST_REGIONS = 500  # files that are open at once
_STATE, _INPUTS, _TARGETS = "state.json", "inputs.f32", "targets.f64"


class EncodedRows(NamedTuple):
    """The training rows, in random order."""

    inputs: np.ndarray  # (rows, encoded columns), standardised, single precision, mapped from a file
    targets: Path
    units: Standardiser  # of the inputs
    encoder: TableEncoder  # with the ranges of all training rows

    def read_targets(self) -> np.ndarray:
        """Return the targets from their file, ``(rows, targets)``."""
        return np.fromfile(self.targets).reshape(len(self.inputs), -1)


class RowsFolder:
    """The folder of the encoded rows, which is deleted when the model is saved."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def check(self) -> None:
        """Refuse a folder that holds anything else.

        Raises:
          FileExistsError: if it does.
        """
        if self.path.is_file() or (
            self.path.is_dir() and any(self.path.iterdir()) and not (self.path / _STATE).exists()
        ):
            raise FileExistsError(
                f"The --work-folder {self.path} holds other files. Choose a new or an empty folder."
            )

    def delete(self) -> None:
        """Delete it with all files."""
        shutil.rmtree(self.path, ignore_errors=True)

    def encode(
        self,
        table: LargeTable,
        learned: LearnedTable,
        division: StreamDivision,
        fingerprint: str,
        watch: Watch,
    ) -> EncodedRows:
        """Encode all training rows, or those that an interrupted run has left.

        Args:
          table: the file.
          learned: what its first reading has found.
          division: the use of its rows.
          fingerprint: a digest of the file and of all options; another one starts again.
          watch: is told how much of the file has been encoded.
        """
        units = Standardiser.learn(learned.encoder.encode(learned.sample).matrix.to_numpy())
        work = _Work(self.path, fingerprint, learned, len(table.targets), division.seed)
        for number, part in enumerate(table.blocks()):
            if number >= work.blocks_done:
                uses = part.uses(division, table.inputs)
                encoded = work.encoder.encode(part.frame, part.block.first_row).matrix.to_numpy()
                inputs = units.standardise(encoded[uses.trained]).astype(np.float32)
                work.deal(encoded[uses.trained], inputs, part.observed[uses.trained])
            watch(part.block.share, part.block.num_rows)
        work.shuffle_regions()
        shape = (learned.num_trained, len(work.encoder.encoded_names))
        inputs = np.memmap(self.path / _INPUTS, np.float32, "r", shape=shape)
        return EncodedRows(inputs, self.path / _TARGETS, units, work.encoder)


class _Work:
    """The files of an encoding, and how far it has come."""

    def __init__(
        self, folder: Path, fingerprint: str, learned: LearnedTable, num_targets: int, seed: int
    ) -> None:
        self._folder, self._seed, self._num_rows = folder, seed, learned.num_trained
        num_inputs = len(learned.encoder.encoded_names)
        self._row = np.dtype([("x", "<f4", (num_inputs,)), ("y", "<f8", (num_targets,))])
        wanted = -(-self._num_rows * self._row.itemsize // REGION_BYTES)
        self._num_regions = min(max(1, wanted), MOST_REGIONS)
        self._state: dict[str, Any] = {
            "fingerprint": fingerprint,
            "blocks": 0,
            "rows": 0,
            "regions": 0,
            "encoder": learned.encoder.describe(),
        }
        state = folder / _STATE
        if state.exists() and json.loads(state.read_text())["fingerprint"] == fingerprint:
            self._state = json.loads(state.read_text())
        else:
            shutil.rmtree(folder, ignore_errors=True)
            self._save()
        self.encoder = TableEncoder.from_description(self._state["encoder"])
        if not self._state["regions"]:
            for number in range(self._num_regions):  # cut off what the last, unfinished block has left
                path = self._region(number)
                path.touch()
                with open(path, "r+b") as file:
                    file.truncate(self._rows_of(number, self._state["rows"]) * self._row.itemsize)

    @property
    def blocks_done(self) -> int:
        return int(self._state["blocks"])

    def deal(self, encoded: np.ndarray, inputs: np.ndarray, observed: np.ndarray) -> None:
        """Deal the training rows of a block to the regions, in turn and in random order."""
        done = self._state["rows"]
        rows = np.empty(len(inputs), self._row)
        order = np.random.default_rng([self._seed, 2, self.blocks_done]).permutation(len(inputs))
        rows["x"], rows["y"] = inputs[order], observed[order]
        for number in range(self._num_regions):
            with open(self._region(number), "ab") as file:
                rows[(number - done) % self._num_regions :: self._num_regions].tofile(file)
        if len(inputs):
            self.encoder = self.encoder.widened(encoded)
        self._state |= {"encoder": self.encoder.describe(), "rows": done + len(inputs)}
        self._state["blocks"] += 1
        self._save()

    def shuffle_regions(self) -> None:
        """Shuffle each region into its place in the files of inputs and targets."""
        counts = [self._rows_of(number, self._num_rows) for number in range(self._num_regions)]
        paths = [self._folder / name for name in (_INPUTS, _TARGETS)]
        for path in paths:
            path.touch()
        for number in range(self._state["regions"], self._num_regions):
            rows = np.fromfile(self._region(number), self._row)
            order = np.random.default_rng([self._seed, 3, number]).permutation(len(rows))
            for path, part in zip(paths, (rows["x"], rows["y"]), strict=True):
                content = np.ascontiguousarray(part[order])
                with open(path, "r+b") as file:
                    file.seek(sum(counts[:number]) * content[:1].nbytes)
                    content.tofile(file)
            self._state["regions"] = number + 1
            self._save()
            self._region(number).unlink()

    def _rows_of(self, region: int, num_rows: int) -> int:
        """Return how many of the first rows a region has."""
        return len(range(region, num_rows, self._num_regions))

    def _region(self, number: int) -> Path:
        return self._folder / f"region-{number:03d}.bin"

    def _save(self) -> None:
        write_bytes(self._folder / _STATE, json.dumps(self._state).encode())
