"""How accurate the plasticity simulator is by its grid, and what a path costs.

    python benchmarks/plasticity.py

The same paths on the same elements are run on four grids; the finest is the reference. Times are
processor times, in a process with one thread.
"""

import time
from typing import NamedTuple

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

from vebnn.bench.simulators.plasticity import simulate
from vebnn.bench.simulators.plasticity.generate import noise_to_signal
from vebnn.bench.simulators.plasticity.plan import Plan, draw_inputs, draw_weights
from vebnn.core.workers import spread

GRIDS = (32, 64, 128, 256)
PATHS, ELEMENTS = 2, 4


class Task(NamedTuple):
    """One path on one element."""

    place: tuple[int, int]  # numbers of path and element
    weight: np.ndarray
    path: np.ndarray


def run(task: Task) -> tuple[np.ndarray, float]:
    """Simulate once to compile, and once to measure; return stresses and processor seconds."""
    simulate(task.weight, np.zeros_like(task.path))
    started = time.process_time()
    stress = simulate(task.weight, task.path).stress
    return stress, time.process_time() - started


def on_grid(material: int, grid: int) -> tuple[np.ndarray, float]:
    """Return stresses, (paths, elements, steps, 3), and the median time of a path."""
    plan = Plan(material, test=PATHS, sves=ELEMENTS, grid=grid)
    inputs = draw_inputs(plan)
    weights = draw_weights(plan, inputs.centres)
    tasks = [
        Task((number, sve), weight, path)
        for number, path in enumerate(inputs.test_strain)
        for sve, weight in enumerate(weights)
    ]
    stress, seconds = np.empty((PATHS, ELEMENTS, plan.steps, 3)), []
    name = f"material {material}, {grid}²"
    for task, found in track(spread(run, tasks), name, total=len(tasks), transient=True):
        stress[task.place] = found[0]
        seconds.append(found[1])
    return stress, float(np.median(seconds))


def main() -> None:
    """Print the table."""
    columns = ("material", "grid", "error of one path", "bias", "noise", f"by {GRIDS[-1]}²", "seconds")
    table = Table(
        *columns,
        title=f"{PATHS} paths on {ELEMENTS} elements, against {GRIDS[-1]}²",
        title_justify="left",
    )
    for material in (1, 2):
        found = {grid: on_grid(material, grid) for grid in GRIDS}
        truth, _ = found[GRIDS[-1]]
        for grid, (stress, seconds) in found.items():
            error = np.linalg.norm(stress - truth) / np.linalg.norm(truth)
            # The factor that brings the stresses closest to those of the finest grid, less one.
            bias = np.vdot(stress, truth) / np.vdot(truth, truth) - 1
            noise = noise_to_signal(stress)
            table.add_row(
                str(material),
                f"{grid}²",
                f"{error:.1%}",
                f"{bias:+.1%}",
                f"{noise:.1%}",
                f"{noise / noise_to_signal(truth):.2f}",
                f"{seconds:.2f}",
            )
        table.add_section()
    Console().print(table)


if __name__ == "__main__":
    main()
