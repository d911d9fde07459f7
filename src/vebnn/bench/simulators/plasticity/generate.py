"""A whole data set: every path is simulated once, on all cores; an interrupted run can be resumed."""

import io
import json
import shutil
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from vebnn.bench.simulators.plasticity.plan import Inputs, Plan, draw_inputs, draw_weights, versions
from vebnn.bench.simulators.plasticity.solver import Response, simulate
from vebnn.core.arguments import require_whole
from vebnn.core.workers import spread
from vebnn.serialization.arrays import checksum, read_part, write_part
from vebnn.serialization.files import write_bytes

_RUNS_PER_PART = 5  # a few seconds of work: the most that each worker loses when it is killed
_SUFFIX = ".part.safetensors"


Run = Callable[[], Response]  # simulates one path on one element


def generate(
    plan: Plan,
    folder: str | Path,
    *,
    num_workers: int | None = None,
    report: Callable[[int, int], Any] = lambda done, total: None,
) -> Path:
    """Simulate a data set into ``folder/material_1.npz`` (or 2), with a JSON file that describes it.

    Finished parts are kept in ``folder/material_1.parts`` until the data set is complete; the same call
    resumes from them. The files do not depend, to the byte, on interruptions or the number of workers.
    A complete data set is left as it is.

    Args:
      plan: what to simulate.
      folder: created if missing.
      num_workers: processes; one per core unless given.
      report: called with the numbers of finished runs and of all runs.

    Returns:
      the path of the ``.npz`` file.

    Raises:
      NotConverged: if a step could not be solved; the message names path, element and step.
      ValueError: if the folder holds other files with these names.
    """
    if num_workers is not None:
        require_whole("num_workers", num_workers, 1)
    target = Path(folder) / f"{plan.name}.npz"
    parts = target.with_suffix(".parts")
    fingerprint = checksum(json.dumps(plan.description() | versions(), sort_keys=True), {})
    done = {
        int(path.name.removesuffix(_SUFFIX)): read_part(path, fingerprint, "part")
        for path in sorted(parts.glob(f"[0-9]*{_SUFFIX}"))
    }
    if _is_finished(target, plan, resumed=bool(done)):
        shutil.rmtree(parts, ignore_errors=True)  # a run may have been killed before it did so
        return target

    inputs = draw_inputs(plan)
    runs = _all_runs(plan, inputs)
    chunks = [runs[start : start + _RUNS_PER_PART] for start in range(0, len(runs), _RUNS_PER_PART)]
    left = [(number, chunk) for number, chunk in enumerate(chunks) if number not in done]
    finished = len(runs) - sum(len(chunk) for _, chunk in left)
    report(finished, len(runs))
    with closing(spread(_simulate_part, left, jobs=num_workers)) as results:
        for (number, chunk), arrays in results:
            write_part(parts / f"{number:06d}{_SUFFIX}", arrays, fingerprint)
            done[number] = arrays
            finished += len(chunk)
            report(finished, len(runs))

    _write(target, plan, inputs, [done[number] for number in range(len(chunks))])
    shutil.rmtree(parts, ignore_errors=True)
    return target


def _is_finished(target: Path, plan: Plan, resumed: bool) -> bool:
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


def _all_runs(plan: Plan, inputs: Inputs) -> list[Run]:
    """Return the training paths, each on its element, then the test paths, each on all elements."""
    weights = draw_weights(plan, inputs.centres)

    def run(kind: str, number: int, path: np.ndarray, sve: int) -> Run:
        name = f"{kind} path {number} on SVE {sve}"
        return partial(simulate, weights[sve], path, plan.solver, name=name)

    training = zip(inputs.strain, inputs.sve_id, strict=True)
    return [run("training", number, *pair) for number, pair in enumerate(training)] + [
        run("test", number, path, sve)
        for number, path in enumerate(inputs.test_strain)
        for sve in range(plan.sves)
    ]


def _simulate_part(case: tuple[int, list[Run]]) -> dict[str, np.ndarray]:
    responses = [run() for run in case[1]]
    return {
        "stress": np.array([one.stress for one in responses], np.float32),
        "residual": np.array([one.residual for one in responses], np.float32),
        "newton_iterations": np.array([one.newton_iterations.max() for one in responses]),
    }


def _write(target: Path, plan: Plan, inputs: Inputs, parts: list[dict[str, np.ndarray]]) -> None:
    whole = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    stress, test_stress = np.split(whole["stress"], [plan.train])
    residual, test_residual = np.split(whole["residual"], [plan.train])
    arrays = {
        **inputs._asdict(),
        "stress": stress,
        "residual": residual,
        "test_stress": test_stress.reshape(plan.test, plan.sves, plan.steps, 3),
        "test_residual": test_residual.reshape(plan.test, plan.sves, plan.steps),
    }
    content = io.BytesIO()
    np.savez_compressed(content, **arrays)
    write_bytes(target, content.getvalue())
    found = {
        "noise_to_signal": noise_to_signal(arrays["test_stress"]),
        "largest_residual": float(whole["residual"].max()),
        "most_newton_iterations": int(whole["newton_iterations"].max()),
    }
    document = {"plan": plan.description(), "found": found, "versions": versions()}
    write_bytes(target.with_suffix(".json"), (json.dumps(document, indent=2) + "\n").encode())


def noise_to_signal(test_stress: np.ndarray) -> float:
    """Return the noise of a material: rms std over elements, by rms mean over elements."""
    stress = test_stress.astype(np.float64)
    std, mean = stress.std(1, ddof=1), stress.mean(1)
    return float(np.sqrt(np.mean(std**2) / np.mean(mean**2)))
