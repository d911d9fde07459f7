"""``vebnn demo``: the paper's one-dimensional example."""

import warnings
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console


def demo(
    out: Annotated[Path, typer.Option(help="Folder for the figure.")] = Path("demo"),
    seed: Annotated[int, typer.Option(help="Seed of the data and the model.")] = 0,
) -> None:
    """Learn the paper's one-dimensional example and draw its Figure 1 (about a minute)."""
    from vebnn.bench.experiments import toy
    from vebnn.plots import plot_steps, save_figure

    console = Console()
    out.mkdir(parents=True, exist_ok=True)  # what cannot be written is said before the long fit
    with warnings.catch_warnings(record=True) as notes:
        warnings.simplefilter("always", UserWarning)
        found = toy.demo(seed)
    picture, drawing = save_figure(plot_steps(found.model, found.data), out, "vebnn-demo")
    console.print(toy.demo_table(found.score))
    for note in notes:
        console.print(f"Note: {note.message}", highlight=False, soft_wrap=True)
    console.print(f"The figure is in {picture} and {drawing}.", highlight=False, soft_wrap=True)
