"""A whole data set: every path simulated once, by all cores, in a folder that can be gone on with."""

import io
import json
import shutil
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from vebnn.bench.simulators.plasticity.crew import work_off
from vebnn.bench.simulators.plasticity.plan import Inputs, Plan, draw_inputs, draw_weights, versions
from vebnn.bench.simulators.plasticity.solver import Solver, simulate
from vebnn.core.arguments import require_whole
from vebnn.core.devices import available_cores
from vebnn.serialization.arrays import checksum, read_part, write_part
from vebnn.serialization.files import write_bytes

_RUNS_PER_PART = 5  # a few seconds of work: the most that a kill can cost each worker
_SUFFIX = ".part.safetensors"

Report = Callable[[int, int], Any]


class Run(NamedTuple):
    """One path on one element."""

    name: str
    weight: np.ndarray
    path: np.ndarray
    solver: Solver


def generate(
    plan: Plan, folder: str | Path, *, num_workers: int | None = None, report: Report | None = None
) -> Path:
    """Simulate a data set into ``folder/material_1.npz`` (or 2), with a JSON file that describes it.

    What is computed is kept in ``folder/material_1.parts`` until all is there, so that the same call
    goes on after a kill. The files are the same, byte for byte, however often that happens and
    however many workers there are. A data set that is already there is left alone.

    Args:
      plan: what to compute.
      folder: is made if need be.
      num_workers: processes; one per core unless given. A script that uses several must guard its
        main program with ``if __name__ == "__main__":``, as always with processes.
      report: is told how many runs are done, and how many there are.

    Returns:
      the path of the ``.npz`` file.

    Raises:
      NotConverged: if a step could not be solved; the sentence names path, element and step.
      ValueError: if the folder holds something else under these names.
    """
    if num_workers is None:
        num_workers = available_cores()
    require_whole("num_workers", num_workers, 1)
    target = Path(folder) / f"{plan.name}.npz"
    parts = target.with_suffix(".parts")
    fingerprint = checksum(json.dumps(plan.description() | versions(), sort_keys=True), {})
    done = {
        int(path.name.removesuffix(_SUFFIX)): read_part(path, fingerprint, "part")
        for path in sorted(parts.glob(f"[0-9]*{_SUFFIX}"))
    }
    if _is_finished(target, plan, resumed=bool(done)):
        return target

    inputs = draw_inputs(plan)
    runs = _all_runs(plan, inputs)
    chunks = [runs[start : start + _RUNS_PER_PART] for start in range(0, len(runs), _RUNS_PER_PART)]
    report = report or (lambda done, total: None)
    finished = sum(len(chunks[number]) for number in done)
    report(finished, len(runs))
    left = [number for number in range(len(chunks)) if number not in done]
    with closing(work_off(_run_all, [chunks[number] for number in left], num_workers)) as results:
        for which, arrays in results:
            write_part(parts / f"{left[which]:06d}{_SUFFIX}", arrays, fingerprint)
            done[left[which]] = arrays
            finished += len(chunks[left[which]])
            report(finished, len(runs))

    _write(target, plan, inputs, [done[number] for number in range(len(chunks))])
    shutil.rmtree(parts, ignore_errors=True)
    return target


def _is_finished(target: Path, plan: Plan, resumed: bool) -> bool:
    description = target.with_suffix(".json")
    if not description.exists():
        # Between the two files a run may have been killed; then it has left its parts.
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


def _all_runs(plan: Plan, inputs: Inputs) -> list[Run]:
    """Return the training paths, each on its element, then the test paths, each on all elements."""
    weights = draw_weights(plan, inputs.centres)

    def run(kind: str, number: int, path: np.ndarray, sve: int) -> Run:
        return Run(f"{kind} path {number} on SVE {sve}", weights[sve], path, plan.solver)

    training = zip(inputs.strain, inputs.sve_id, strict=True)
    return [run("training", number, *pair) for number, pair in enumerate(training)] + [
        run("test", number, path, sve)
        for number, path in enumerate(inputs.test_strain)
        for sve in range(plan.sves)
    ]


def _run_all(runs: list[Run]) -> dict[str, np.ndarray]:
    """Return the arrays of one part."""
    responses = [simulate(run.weight, run.path, run.solver, name=run.name) for run in runs]
    return {
        "stress": np.array([one.stress for one in responses], np.float32),
        "residual": np.array([one.residual for one in responses], np.float32),
        "newton_iterations": np.array([one.newton_iterations.max() for one in responses]),
    }


def _write(target: Path, plan: Plan, inputs: Inputs, parts: list[dict[str, np.ndarray]]) -> None:
    whole = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    train, test = (
        dict(zip(whole, pieces, strict=True))
        for pieces in zip(*(np.split(array, [plan.train]) for array in whole.values()), strict=True)
    )
    on_all = (plan.test, plan.sves, plan.steps)
    arrays = {
        **inputs._asdict(),
        "stress": train["stress"],
        "residual": train["residual"],
        "test_stress": test["stress"].reshape(*on_all, 3),
        "test_residual": test["residual"].reshape(on_all),
    }
    content = io.BytesIO()
    np.savez_compressed(content, **arrays)
    write_bytes(target, content.getvalue())
    found = _findings(arrays, whole)
    document = {"plan": plan.description(), "found": found, "versions": versions()}
    write_bytes(target.with_suffix(".json"), (json.dumps(document, indent=2) + "\n").encode())


def _findings(arrays: Mapping[str, np.ndarray], whole: Mapping[str, np.ndarray]) -> dict[str, Any]:
    return {
        "noise_to_signal": noise_to_signal(arrays["test_stress"]),
        "largest_residual": float(whole["residual"].max()),
        "most_newton_iterations": int(whole["newton_iterations"].max()),
    }


def noise_to_signal(test_stress: np.ndarray) -> float:
    """Return the noise of a material: rms std over elements, by rms mean over elements."""
    stress = test_stress.astype(np.float64)
    std, mean = stress.std(1, ddof=1), stress.mean(1)
    return float(np.sqrt(np.mean(std**2) / np.mean(mean**2)))
