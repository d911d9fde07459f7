"""Predictions of many files, here or on a cluster: one file of predictions for each."""

import glob
import json
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from vebnn.core.workers import spread
from vebnn.serialization.files import write_bytes
from vebnn.tabular.errors import TableError, quoted
from vebnn.tabular.notices import merged
from vebnn.tabular.streams.blocks import STREAMED
from vebnn.tabular.streams.predicting import Predicted, StreamPredictor, outputs_of
from vebnn.tabular.streams.progress import StreamProgress

RECORD = ".finished.json"  # in the folder of predictions: a fingerprint for each finished file


class Where(NamedTuple):
    """Which workers predict several files; see :func:`vebnn.core.workers.spread`."""

    backend: str = "local"
    jobs: int | None = 1  # files at once; None for as many as the cluster has
    scheduler: str | None = None


HERE = Where()


class Files(NamedTuple):
    """Files of rows that a user has named."""

    paths: list[Path]
    many: bool  # whether predictions go to a folder


def find_files(named: Sequence[Path]) -> Files:
    """Return the files of names, folders and patterns such as ``big/*.parquet``, sorted in each.

    Raises:
      TableError: if a folder or pattern has none.
    """
    found: list[Path] = []
    many = len(named) > 1
    for name in named:
        if name.is_dir():
            inside = sorted(path for path in name.iterdir() if path.suffix.lower() in STREAMED)
        elif not name.exists() and glob.has_magic(str(name)):
            inside = sorted(map(Path, glob.glob(str(name), recursive=True)))
        else:
            found.append(name)
            continue
        if not inside:
            endings = ", ".join(STREAMED)
            raise TableError(f"There is no file of rows ({endings}) in {quoted(str(name))}.")
        found, many = found + inside, True
    return Files(found, many)


def check_folder(out: Path | None) -> Path:
    """Check where the predictions of several files go.

    Raises:
      TableError: if it is not given, or names a file.
    """
    if out is None or out.is_file() or out.suffix.lower() in STREAMED:
        got = "nothing" if out is None else quoted(str(out))
        raise TableError(f"Predictions of several files go to a folder: --out FOLDER. Got {got}.")
    return out


def predict_files(
    predictor: StreamPredictor,
    files: Sequence[Path],
    out: Path,
    progress: StreamProgress,
    where: Where = HERE,
) -> Predicted:
    """Predict every file into a file of the same name in a folder; finished ones are kept.

    Args:
      predictor: the model.
      files: the files of rows.
      out: the folder, which all workers must see.
      progress: where to show it.
      where: the workers.
    """
    targets = outputs_of(files, out)
    for file in files:
        predictor.check(file)
    finished = _Finished(out / RECORD)
    prints = {file: predictor.fingerprint(file) for file in files}
    left = [file for file in files if not finished.has(targets[file], prints[file])]
    sizes = {file: max(file.stat().st_size, 1) for file in files}
    watch = _FileWatch(progress, sizes, left)
    here = where.backend == "local" and where.jobs == 1
    one = partial(_predict_one, predictor, targets, watch if here else None)
    num_rows, notices = 0, list[str]()
    for file, found in spread(one, left, **where._asdict()):
        num_rows, notices = num_rows + found.num_rows, [*notices, *found.notices]
        finished.add(targets[file], prints[file])
        watch.finish(file)
    return Predicted(num_rows, merged(notices))


def _predict_one(
    predictor: StreamPredictor, targets: Mapping[Path, Path], watch: "_FileWatch | None", file: Path
) -> Predicted:
    inside = _silent if watch is None else partial(watch.show, file)
    return predictor.predict(file, targets[file], inside)


def _silent(share: float, num_rows: int) -> None:
    """Show nothing: a worker has no terminal."""


class _FileWatch:
    """Shows how much of all files is done, by their sizes."""

    def __init__(self, progress: StreamProgress, sizes: Mapping[Path, int], left: list[Path]) -> None:
        self._progress, self._sizes, self._left = progress, sizes, set(left)
        progress.skip(self._done)

    @property
    def _done(self) -> float:
        left = sum(self._sizes[file] for file in self._left)
        return 1 - left / sum(self._sizes.values())

    def show(self, file: Path, share: float, num_rows: int) -> None:
        part = share * self._sizes[file] / sum(self._sizes.values())
        self._progress.show(self._done + part, f"{file.name}, {num_rows:,} rows")

    def finish(self, file: Path) -> None:
        self._left.discard(file)
        self._progress.show(self._done, f"{len(self._sizes) - len(self._left)} files finished")


class _Finished:
    """The files of predictions in a folder that are whole, with their fingerprints."""

    def __init__(self, record: Path) -> None:
        self._record = record
        self._prints: dict[str, str] = json.loads(record.read_text()) if record.exists() else {}

    def has(self, target: Path, fingerprint: str) -> bool:
        return target.exists() and self._prints.get(target.name) == fingerprint

    def add(self, target: Path, fingerprint: str) -> None:
        self._prints[target.name] = fingerprint
        write_bytes(self._record, json.dumps(self._prints, indent=1).encode())
