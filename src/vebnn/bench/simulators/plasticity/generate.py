"""A whole data set: every path is simulated once."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from vebnn.bench.simulators.plasticity.plan import Inputs, Plan, draw_inputs, draw_weights, versions
from vebnn.bench.simulators.plasticity.solver import Response, simulate
from vebnn.bench.simulators.resumable import Arrays, Report, Work, make_data

_RUNS_PER_PART = 5  # a few seconds of work

Run = Callable[[], Response]  # simulates one path on one element


def generate(
    plan: Plan,
    folder: str | Path,
    *,
    num_workers: int | None = None,
    report: Report = lambda done, total: None,
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
    return make_data(
        plan,
        versions(),
        partial(_prepare, plan),
        folder,
        runs_per_part=_RUNS_PER_PART,
        num_workers=num_workers,
        report=report,
    )


def _prepare(plan: Plan) -> Work:
    inputs = draw_inputs(plan)
    return Work(_all_runs(plan, inputs), _simulate_runs, partial(_collect, plan, inputs))


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


def _simulate_runs(runs: Sequence[Run]) -> Arrays:
    responses = [run() for run in runs]
    return {
        "stress": np.array([one.stress for one in responses], np.float32),
        "residual": np.array([one.residual for one in responses], np.float32),
        "newton_iterations": np.array([one.newton_iterations.max() for one in responses]),
    }


def _collect(plan: Plan, inputs: Inputs, whole: Arrays) -> tuple[Arrays, dict[str, float]]:
    stress, test_stress = np.split(whole["stress"], [plan.train])
    residual, test_residual = np.split(whole["residual"], [plan.train])
    arrays = {
        **inputs._asdict(),
        "stress": stress,
        "residual": residual,
        "test_stress": test_stress.reshape(plan.test, plan.sves, plan.steps, 3),
        "test_residual": test_residual.reshape(plan.test, plan.sves, plan.steps),
    }
    found = {
        "noise_to_signal": noise_to_signal(arrays["test_stress"]),
        "largest_residual": float(whole["residual"].max()),
        "most_newton_iterations": int(whole["newton_iterations"].max()),
    }
    return arrays, found


def noise_to_signal(test_stress: np.ndarray) -> float:
    """Return the noise of a material: rms std over elements, by rms mean over elements."""
    stress = test_stress.astype(np.float64)
    std, mean = stress.std(1, ddof=1), stress.mean(1)
    return float(np.sqrt(np.mean(std**2) / np.mean(mean**2)))
