"""A made-up table with a cause for each part of a prediction, and pictures of a model of it.

The yield of a furnace follows the temperature. It scatters with the speed, and few runs had a pressure
above 3 bar. ``python examples/furnace.py`` fits the table and two small examples, prints what the model
says about three runs, and writes two pictures to ``docs/images``.
"""

from pathlib import Path

import numpy as np
import pandas
from matplotlib.figure import Figure

from vebnn import GRU, Ensemble, Training, VeBNNRegressor
from vebnn.datasets.toy import load_toy
from vebnn.plots import (
    plot_chains,
    plot_explanation,
    plot_parity,
    plot_prediction,
    plot_reliability,
    plot_sequence,
    plot_uncertainties,
)

IMAGES = Path(__file__).parents[1] / "docs" / "images"
RUNS = pandas.DataFrame(
    {"temperature": [980.0, 850.0, 850.0], "speed": [3.0, 8.5, 3.0], "pressure": [1.5, 1.5, 7.0]},
    index=["hot", "fast", "high pressure"],
)


def furnace(num_rows: int = 300, seed: int = 0) -> tuple[pandas.DataFrame, pandas.Series]:
    """Return runs of a furnace, and their yield in percent."""
    rng = np.random.default_rng(seed)
    seldom = rng.random(num_rows) < 0.05
    runs = pandas.DataFrame(
        {
            "temperature": rng.uniform(700, 1000, num_rows),
            "speed": rng.uniform(1, 9, num_rows),
            "pressure": np.where(seldom, rng.uniform(3, 8, num_rows), rng.uniform(1, 3, num_rows)),
        }
    )
    bend = 70 + 12 * np.tanh((runs["temperature"] - 850) / 60) + 0.5 * runs["pressure"]
    noise = 0.4 * np.exp(0.25 * runs["speed"]) * rng.normal(size=num_rows)
    return runs, (bend + noise).rename("yield")


def springs(num_tests: int = 40, num_steps: int = 30) -> tuple[np.ndarray, np.ndarray]:
    """Return load histories and the force of a spring that slips, with noise."""
    rng = np.random.default_rng(0)
    loads = np.cumsum(rng.normal(0, 0.5, (num_tests, num_steps)), axis=1)
    force, before, found = np.zeros(num_tests), np.zeros(num_tests), []
    for load in loads.T:
        force = np.clip(force + load - before, -1, 1)
        before = load
        found.append(force + rng.normal(0, 0.1, num_tests))
    return loads[..., None], np.stack(found, axis=1)[..., None]


def main() -> None:
    """Fit, print and draw."""
    runs, percent = furnace()
    model = VeBNNRegressor(random_state=0).fit(runs[:240], percent[:240])
    prediction = model.predict_distribution(runs[240:])

    curve = load_toy(80)
    of_curve = VeBNNRegressor(random_state=0).fit(*curve)
    loads, forces = springs()
    training = Training(num_epochs=600, learning_rate=1e-2, patience=150)
    of_springs = VeBNNRegressor(
        GRU((24,)),
        variance_network=GRU((8,)),
        inference=Ensemble(5, training),
        mean_training=training,
        variance_training=training,
        random_state=0,
    ).fit(loads[:30], forces[:30])

    gallery = Figure(figsize=(13.5, 8.2), layout="constrained", facecolor="white")
    (a, b, c), (d, e, f) = gallery.subplots(2, 3)
    plot_prediction(of_curve, *curve, ax=a)
    plot_parity(prediction, percent[240:], ax=b)
    plot_reliability(prediction, percent[240:], ax=c)
    plot_uncertainties(prediction, runs["speed"][240:], ax=d)
    plot_sequence(of_springs.predict_distribution(loads[30:]), 0, forces[30:], ax=e)
    e.set_ylabel("force")
    plot_chains(model, ax=f)
    gallery.savefig(IMAGES / "plots.png", dpi=100)

    explanation = model.explain(RUNS)
    for number, name in enumerate(RUNS.index):
        for output in ("mean", "aleatoric_std", "epistemic_std"):
            print(f"{name}: {explanation.reason(number, output)}")
    print(explanation.to_frame().round(2))
    height = 2.5
    pages = Figure(figsize=(10, height * len(RUNS)), layout="constrained", facecolor="white")
    for number, (name, part) in enumerate(zip(RUNS.index, pages.subfigures(len(RUNS)), strict=True)):
        part.suptitle(name, x=0.01, ha="left", weight="bold")
        plot_explanation(explanation, number, axes=part.subplots(1, 3, sharey=True))
    pages.savefig(IMAGES / "explanations.png", dpi=100)


if __name__ == "__main__":
    main()
