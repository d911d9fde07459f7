"""``vebnn simulate …``: data with known noise."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.progress import Progress

from vebnn.cli.groups import Interrupted, new_group
from vebnn.core.progress import progress_bar

if TYPE_CHECKING:
    from vebnn.bench.simulators.plasticity.plan import Plan

simulate = new_group("Simulate data with known noise. Rerun the same command to resume.")


@simulate.command("plasticity")
def simulate_plasticity(
    material: Annotated[int, typer.Option(help="1, or 2 with smaller elements and more noise.")] = 1,
    train: Annotated[int, typer.Option(help="Training paths, each on one element.")] = 1_000,
    test: Annotated[int, typer.Option(help="Test paths, each on all elements.")] = 100,
    sves: Annotated[int, typer.Option(help="Stochastic volume elements.")] = 50,
    grid: Annotated[int, typer.Option(help="Pixels along an edge of an element.")] = 64,
    steps: Annotated[int, typer.Option(help="Steps of a path.")] = 100,
    seed: Annotated[int, typer.Option(help="Seed of elements and paths.")] = 0,
    out: Annotated[Path, typer.Option(help="Folder for the files.")] = Path("plasticity"),
    workers: Annotated[
        int | None, typer.Option(help="Processes; one per core unless given.", min=1)
    ] = None,
    max_newton: Annotated[int, typer.Option(help="Newton iterations before a step fails.")] = 100,
    show: Annotated[
        bool, typer.Option("--show", help="Only draw elements, fields and responses to one path.")
    ] = False,
) -> None:
    """Simulate the stress of a composite under random strain paths.

    Writes material_1.npz (or 2) and a JSON file that describes it. Rerun the
    same command to resume after Ctrl-C or a kill.
    """
    from vebnn.bench.simulators.plasticity.plan import Plan
    from vebnn.bench.simulators.plasticity.solver import Solver

    plan = Plan(material, train, test, sves, grid, steps, seed, Solver(max_newton=max_newton))
    out.mkdir(parents=True, exist_ok=True)  # a wrong folder fails before the long run
    console = Console()
    bar = progress_bar("paths", console=console)
    if show:
        _show(plan, out, bar)
    else:
        _generate(plan, out, workers, bar)


def _generate(plan: "Plan", out: Path, workers: int | None, bar: Progress) -> None:
    import json

    from vebnn.bench.simulators.plasticity.generate import generate

    try:
        with bar:
            task = bar.add_task(plan.name, total=None)
            path = generate(
                plan,
                out,
                num_workers=workers,
                report=lambda done, total: bar.update(task, completed=done, total=total),
            )
            # Without a total the data set was already complete.
            bar.update(task, visible=bar.tasks[task].total is not None)
    except KeyboardInterrupt:
        raise Interrupted(
            f"Interrupted. Rerun the same command to resume; {out} keeps all results so far."
        ) from None
    found = json.loads(path.with_suffix(".json").read_bytes())["found"]
    bar.console.print(
        f"Noise: {found['noise_to_signal']:.1%} of the signal. Largest residual: "
        f"{found['largest_residual']:.2g} yield strains; most Newton iterations in a step: "
        f"{found['most_newton_iterations']}.\nThe data are in {path}, described in "
        f"{path.with_suffix('.json').name}.",
        highlight=False,
        soft_wrap=True,
    )


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
        bar.console.print(f"{picture} and {drawing}", highlight=False, soft_wrap=True)
