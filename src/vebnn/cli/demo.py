"""``vebnn demo``: the paper's one-dimensional example."""

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table

if TYPE_CHECKING:
    from vebnn.datasets.toy_score import ToyScore


def demo(
    out: Annotated[Path, typer.Option(help="Folder for the figure.")] = Path("demo"),
    seed: Annotated[int, typer.Option(help="Seed of the data and the model.")] = 0,
    preset: Annotated[str, typer.Option(help="standard (the defaults) or paper.")] = "standard",
) -> None:
    """Learn the paper's one-dimensional example and draw its Figure 1 (about a minute)."""
    from vebnn.core.arguments import require_one_of, require_whole
    from vebnn.datasets.toy import load_toy
    from vebnn.datasets.toy_score import score_toy
    from vebnn.estimators import VeBNNRegressor
    from vebnn.plots import plot_steps, save_figure
    from vebnn.presets import paper

    require_whole("seed", seed, 0)
    require_one_of("preset", preset, ("standard", "paper"))
    settings = paper("toy") if preset == "paper" else {}
    console = Console()
    out.mkdir(parents=True, exist_ok=True)  # fails before the long fit, not after it
    data = load_toy(200, random_state=seed)
    with warnings.catch_warnings(record=True) as notes:
        warnings.simplefilter("always", UserWarning)
        model = VeBNNRegressor(**settings, random_state=seed, verbose=1).fit(data.X, data.y)
        score = score_toy(model.predict_distribution, seed)
    picture, drawing = save_figure(plot_steps(model, data), out, "vebnn-demo")
    console.print(score_table(score))
    for note in notes:
        console.print(f"Note: {note.message}", highlight=False, soft_wrap=True)
    console.print(f"The figure is in {picture} and {drawing}.", highlight=False, soft_wrap=True)


def score_table(score: "ToyScore") -> Table:
    """Return the scores of the demo beside their ideal values."""
    table = Table(title="What the model learned from 200 points in [0, 10]", title_justify="left")
    table.add_column("question")
    table.add_column("answer", justify="right")
    table.add_column("ideal", justify="right", style="dim")
    table.add_row("RMSE of the mean on [0, 10]", f"{score.mean_rmse:.2f}", "0")
    table.add_row("Error of the noise std on [0, 10]", f"{score.noise_error:.0%}", "0%")
    table.add_row("Coverage of 95 % intervals on fresh data", f"{score.coverage:.1%}", "95%")
    table.add_row("Epistemic std inside the data, [0, 10]", f"{score.epistemic_inside:.2f}", "small")
    table.add_row("Epistemic std outside, [13, 14]", f"{score.epistemic_outside:.2f}", "large")
    table.add_row(
        "True means outside, in epistemic 95 % intervals", f"{score.outside_coverage:.1%}", "95%"
    )
    return table
