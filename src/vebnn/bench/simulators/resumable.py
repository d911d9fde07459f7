"""A data set made in parts, on all cores; an interrupted run can be resumed."""

import io
import json
import shutil
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np

from vebnn.core.arguments import require_whole
from vebnn.core.workers import spread
from vebnn.serialization.arrays import checksum, read_part, write_part
from vebnn.serialization.files import write_bytes

_SUFFIX = ".part.safetensors"

Arrays = dict[str, np.ndarray]
Report = Callable[[int, int], Any]  # the numbers of finished runs and of all runs


class DataPlan(Protocol):
    """The settings of a data set."""

    @property
    def name(self) -> str:
        """Name of the files, without suffix."""
        ...

    def description(self) -> dict[str, Any]:
        """Return all settings that decide the numbers, for JSON."""
        ...


class Work(NamedTuple):
    """What is left to do when a data set is not there yet."""

    runs: Sequence[Any]  # the cases to simulate, one after the other
    simulate: Callable[[Sequence[Any]], Arrays]  # of some runs, along the first axis; importable
    collect: Callable[[Arrays], tuple[Arrays, dict[str, Any]]]  # arrays of the file, and figures found


def make_data(
    plan: DataPlan,
    versions: dict[str, str],
    prepare: Callable[[], Work],
    folder: str | Path,
    *,
    runs_per_part: int,
    compressed: bool = True,
    num_workers: int | None = None,
    report: Report = lambda done, total: None,
) -> Path:
    """Write ``folder/name.npz``, and a JSON file that describes it.

    Finished parts are kept in ``folder/name.parts`` until the data set is complete; the same call
    resumes from them. The files do not depend, to the byte, on interruptions or the number of workers.
    A complete data set is left as it is.

    Args:
      plan: the settings.
      versions: of the packages that may change the last digits.
      prepare: called if there is anything to do.
      folder: created if missing.
      runs_per_part: some seconds of work, the most that each worker loses when it is killed.
      compressed: whether the arrays are compressed; arrays that are not can be mapped into memory.
      num_workers: processes; one per core unless given.
      report: called with the numbers of finished runs and of all runs.

    Returns:
      the path of the ``.npz`` file.

    Raises:
      ValueError: if the folder holds other files with these names.
    """
    if num_workers is not None:
        require_whole("num_workers", num_workers, 1)
    target = Path(folder) / f"{plan.name}.npz"
    parts = target.with_suffix(".parts")
    fingerprint = checksum(json.dumps(plan.description() | versions, sort_keys=True), {})
    done = {
        int(path.name.removesuffix(_SUFFIX)): read_part(path, fingerprint, "part")
        for path in sorted(parts.glob(f"[0-9]*{_SUFFIX}"))
    }
    if _is_finished(target, plan, resumed=bool(done)):
        shutil.rmtree(parts, ignore_errors=True)  # a run may have been killed before it did so
        return target

    runs, simulate, collect = prepare()
    starts = range(0, len(runs), runs_per_part)
    left = [(start // runs_per_part, runs[start : start + runs_per_part]) for start in starts]
    left = [(number, some) for number, some in left if number not in done]
    finished = len(runs) - sum(len(some) for _, some in left)
    report(finished, len(runs))
    cases = [(simulate, number, some) for number, some in left]
    with closing(spread(_simulate_part, cases, jobs=num_workers)) as results:
        for (_, number, some), arrays in results:
            write_part(parts / f"{number:06d}{_SUFFIX}", arrays, fingerprint)
            done[number] = arrays
            finished += len(some)
            report(finished, len(runs))

    whole = {name: np.concatenate([done[number][name] for number in sorted(done)]) for name in done[0]}
    arrays, found = collect(whole)
    content = io.BytesIO()
    (np.savez_compressed if compressed else np.savez)(content, allow_pickle=False, **arrays)
    write_bytes(target, content.getvalue())
    document = {"plan": plan.description(), "found": found, "versions": versions}
    write_bytes(target.with_suffix(".json"), (json.dumps(document, indent=2) + "\n").encode())
    shutil.rmtree(parts, ignore_errors=True)
    return target


def _simulate_part(case: tuple[Callable[[Sequence[Any]], Arrays], int, Sequence[Any]]) -> Arrays:
    simulate, _, runs = case
    return simulate(runs)


def _is_finished(target: Path, plan: DataPlan, resumed: bool) -> bool:
    description = target.with_suffix(".json")
    if not description.exists():
        # A run killed between writing the two files has left its parts.
        if target.exists() and not resumed:
            raise ValueError(f"The file {target} exists and was made by something else.")
        return False
    try:
        there = json.loads(description.read_bytes()).get("plan")
    except (ValueError, AttributeError):
        there = None
    if there != plan.description():
        raise ValueError(
            f"The file {description} describes a data set with other settings. Choose "
            f"another folder, or move it away together with {target.name}."
        )
    return target.exists()
