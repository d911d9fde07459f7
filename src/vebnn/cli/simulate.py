"""``vebnn simulate …``: data with known noise."""

import json
from collections.abc import Callable
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.progress import Progress

from vebnn.cli.groups import Interrupted, new_group
from vebnn.core.progress import progress_bar

if TYPE_CHECKING:
    from vebnn.bench.simulators.cells.plan import Plan as CellsPlan
    from vebnn.bench.simulators.plasticity.plan import Plan
    from vebnn.bench.simulators.resumable import DataPlan

Seed = Annotated[int, typer.Option(help="Seed of all random numbers.")]
Workers = Annotated[int | None, typer.Option(help="Processes; one per core unless given.", min=1)]

simulate = new_group("Simulate data with known noise. Rerun the same command to resume.")


@simulate.command("plasticity")
def simulate_plasticity(
    material: Annotated[int, typer.Option(help="1, or 2 with smaller elements and more noise.")] = 1,
    train: Annotated[int, typer.Option(help="Training paths, each on one element.")] = 1_000,
    test: Annotated[int, typer.Option(help="Test paths, each on all elements.")] = 100,
    sves: Annotated[int, typer.Option(help="Stochastic volume elements.")] = 50,
    grid: Annotated[int, typer.Option(help="Pixels along an edge of an element.")] = 64,
    steps: Annotated[int, typer.Option(help="Steps of a path.")] = 100,
    seed: Seed = 0,
    out: Annotated[Path, typer.Option(help="Folder for the files.")] = Path("plasticity"),
    workers: Workers = None,
    max_newton: Annotated[int, typer.Option(help="Newton iterations before a step fails.")] = 100,
    show: Annotated[
        bool, typer.Option("--show", help="Only draw elements, fields and responses to one path.")
    ] = False,
) -> None:
    """Simulate the stress of a composite under random strain paths.

    Writes material_1.npz (or 2) and a JSON file that describes it. Rerun the
    same command to resume after Ctrl-C or a kill.
    """
    from vebnn.bench.simulators.plasticity.generate import generate
    from vebnn.bench.simulators.plasticity.plan import Plan
    from vebnn.bench.simulators.plasticity.solver import Solver

    plan = Plan(material, train, test, sves, grid, steps, seed, Solver(max_newton=max_newton))
    out.mkdir(parents=True, exist_ok=True)  # a wrong folder fails before the long run
    bar = progress_bar("paths", console=Console())
    if show:
        _show(plan, out, bar)
        return
    found, _ = _generate(generate, plan, out, workers, bar)
    _print(
        bar,
        f"Noise: {found['noise_to_signal']:.1%} of the signal. Largest residual: "
        f"{found['largest_residual']:.2g} yield strains; most Newton iterations in a step: "
        f"{found['most_newton_iterations']}.\n" + _where(plan, out),
    )


@simulate.command("cells")
def simulate_cells(
    train: Annotated[int, typer.Option(help="Training images.")] = 10_000,
    validation: Annotated[int, typer.Option(help="Validation images.")] = 2_000,
    test: Annotated[int, typer.Option(help="Test images.")] = 10_000,
    size: Annotated[int, typer.Option(help="Pixels along an edge of an image; at most 256.")] = 64,
    seed: Seed = 0,
    out: Annotated[Path, typer.Option(help="Folder for the files.")] = Path("cells"),
    workers: Workers = None,
    show: Annotated[bool, typer.Option("--show", help="Only draw examples.")] = False,
) -> None:
    """Draw microscope images of 1 to 200 cell nuclei.

    Writes cells.npz and a JSON file that describes it. Rerun the same command
    to resume after Ctrl-C or a kill.
    """
    from vebnn.bench.simulators.cells.generate import generate
    from vebnn.bench.simulators.cells.plan import Plan

    plan = Plan(train, validation, test, size, seed)
    out.mkdir(parents=True, exist_ok=True)  # a wrong folder fails before the long run
    bar = progress_bar("images", console=Console())
    if show:
        _show_cells(plan, out, bar)
        return
    found, speed = _generate(generate, plan, out, workers, bar)
    means = ", ".join(f"{mean:.0f} ({counts})" for counts, mean in found["mean_intensity"].items())
    measured = f"{speed:.0f} images per second. " if speed else ""
    _print(bar, f"{measured}Mean pixel (nuclei): {means}.\n{_where(plan, out)}")


def _generate(
    generate: Callable[..., Path], plan: "DataPlan", out: Path, workers: int | None, bar: Progress
) -> tuple[dict[str, Any], float | None]:
    """Return the figures found, and the runs per second, if they were enough to measure it."""
    reports: list[tuple[float, int]] = []
    task = bar.add_task(plan.name, total=None)

    def report(done: int, total: int) -> None:
        reports.append((monotonic(), done))
        bar.update(task, completed=done, total=total)

    try:
        with bar:
            path = generate(plan, out, num_workers=workers, report=report)
            bar.update(task, visible=bool(reports))
    except KeyboardInterrupt:
        raise Interrupted(
            f"Interrupted. Rerun the same command to resume; {out} keeps all results so far."
        ) from None
    found = json.loads(path.with_suffix(".json").read_bytes())["found"]
    if len(reports) < 3:
        return found, None
    # From the first finished part on: to start the workers takes seconds.
    (start, before), (end, after) = reports[1], reports[-1]
    return found, (after - before) / (end - start)


def _where(plan: "DataPlan", out: Path) -> str:
    return f"The data are in {out / plan.name}.npz, described in {plan.name}.json."


def _print(bar: Progress, words: str) -> None:
    bar.console.print(words, highlight=False, soft_wrap=True)


def _show(plan: "Plan", out: Path, bar: Progress) -> None:
    from vebnn.bench.figures.plasticity import plot_fields, plot_realisations
    from vebnn.bench.simulators.plasticity.plan import draw_inputs, draw_weights
    from vebnn.bench.simulators.plasticity.solver import simulate
    from vebnn.plots.style import save_figure

    inputs = draw_inputs(plan)
    weights = draw_weights(plan, inputs.centres)
    path = inputs.test_strain[0]
    with bar:
        responses = [
            simulate(weight, path, plan.solver, name=f"test path 0 on SVE {number}")
            for number, weight in enumerate(bar.track(weights, description=plan.name))
        ]
    figures = {
        "fields": plot_fields(plan.structure, inputs.centres[:3], responses[:3], weights[:3]),
        "paths": plot_realisations(path, [one.stress for one in responses]),
    }
    for name, figure in figures.items():
        picture, drawing = save_figure(figure, out, f"{plan.name}_{name}")
        _print(bar, f"{picture} and {drawing}")


def _show_cells(plan: "CellsPlan", out: Path, bar: Progress) -> None:
    from vebnn.bench.figures.cells import plot_examples
    from vebnn.plots.style import save_figure

    picture, drawing = save_figure(plot_examples(plan.size, plan.seed), out, plan.name)
    _print(bar, f"{picture} and {drawing}")
