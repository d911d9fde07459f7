"""Scores of every step inside one fit."""

import io
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from tests.support.settings import quick
from vebnn.bench.experiments import rounds
from vebnn.bench.figures.bars import plot_bars
from vebnn.bench.figures.rounds import plot_steps, plot_trajectory
from vebnn.bench.methods import METHODS
from vebnn.bench.steps import fit_by_steps, round_and_step
from vebnn.datasets.uci import UCI
from vebnn.metrics import rmse

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def test_every_step_has_its_name_seconds_and_scores(rng: np.random.Generator) -> None:
    X = rng.uniform(-2, 2, (60, 1))
    y = np.sin(X[:, 0]) + 0.1 * rng.normal(size=60)
    model = quick(rounds=2, residuals="in_sample", choose_round="last")
    found = fit_by_steps(model, lambda predict: {"rmse": rmse(y, predict(X).mean)}, X, y)
    names = [one["step"] for one in found]
    assert names == ["Step 1", *(f"Round {k} · Step {n}" for k in (1, 2) for n in (2, 3))]
    assert [round_and_step(name) for name in names] == [(0, 1), (1, 2), (1, 3), (2, 2), (2, 3)]
    assert all(one["seconds"] >= 0 for one in found)
    assert found[-1]["rmse"] == rmse(y, model.predict(X))
    assert found[0]["rmse"] == found[1]["rmse"] != found[2]["rmse"]  # Step 2 leaves the mean alone
    joint = METHODS["ME (MSE)"].make(training=quick().mean_training, random_state=0)
    assert fit_by_steps(joint, lambda predict: {}, X, y) == []


def test_trajectories_are_drawn_where_there_is_a_score() -> None:
    steps = [
        {"step": "Step 1", "rmse": 3.0, "coverage": None},
        {"step": "Round 1 · Step 2", "rmse": 3.0, "coverage": None},
        {"step": "Round 1 · Step 3", "rmse": 2.0, "coverage": 0.9},
    ]
    figure = plot_trajectory([{"steps": steps}] * 2, {"rmse": "RMSE", "coverage": "coverage"})
    first, second = figure.axes
    assert [list(line.get_ydata()) for line in first.lines] == [[3.0, 2.0]] * 2
    assert [list(line.get_xdata()) for line in second.lines] == [[1]] * 2
    (panel,) = plot_steps({"trained": steps}, "rmse", "RMSE").axes
    assert [len(line.get_ydata()) for line in panel.lines] == [3, 1, 1, 1]


def test_the_study_of_rounds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, (60, 1))
    data = UCI(X, np.sin(X[:, 0]) + 0.1 * rng.normal(size=60), ("x",), ("y",))
    monkeypatch.setattr(rounds, "load_uci", lambda name: data)
    small = quick().get_params()
    keys = ("inference", "mean_training", "variance_training", "network", "variance_network")
    changes = {name: small[name] for name in keys} | {"residuals": "in_sample"}
    monkeypatch.setattr(rounds, "arguments", lambda *_: changes)
    shown = Console(file=io.StringIO(), width=150)
    path = tmp_path / "rows.jsonl"
    what = ["energy"], ["trained", "untrained"]
    rows = rounds.bench_rounds(*what, 2, 1, "paper", path, tmp_path, shown)
    text = shown.file.getvalue()  # type: ignore[attr-defined]
    assert [row["variant"] for row in rows] == ["trained", "untrained"]
    trained, untrained = (row["steps"] for row in rows)
    assert len(trained) == len(untrained) == 5
    assert untrained[0]["test_rmse"] > 2 * trained[0]["test_rmse"]
    assert json.loads(path.read_text().splitlines()[0])["settings"] == {"preset": "paper", "rounds": 2}
    assert (tmp_path / "rounds-energy.png").exists()
    assert f"{trained[-1]['validation_nll']:.3f}" in text
    again = rounds.bench_rounds(*what, 2, 1, "paper", path, tmp_path, shown)
    assert again == rows  # not fitted again
    for wrong in (["energy"], ["half"]), ([], ["trained"]):
        with pytest.raises(ValueError, match=r"one of 'trained', 'untrained'|at least one data"):
            rounds.bench_rounds(*wrong, 2, 1, "paper", path, tmp_path, shown)


@pytest.mark.parametrize("preset", ["paper", "standard"])
def test_the_variants_change_one_thing(preset: str) -> None:
    plain = rounds.arguments(rounds.METHOD, preset, 500)
    models = [
        rounds.METHOD.make(**rounds.varied(plain, variant, 500))._strategy(500)
        for variant in rounds.VARIANTS
    ]
    usual, untrained, corrected = models
    assert untrained.mean_training.num_epochs == 0
    assert untrained.engine == usual.engine
    assert replace(usual.engine, correction=True) == corrected.engine
    assert corrected.mean_training == usual.mean_training


def test_a_bar_for_every_variant() -> None:
    rows = [{"method": name, "rmse": value} for name in ("1 × 8", "2 × 8") for value in (1.0, 3.0)]
    (axes,) = plot_bars(rows, {"rmse": "RMSE"}).axes
    assert [bar.get_height() for bar in axes.patches] == [2.0, 2.0]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["1 × 8", "2 × 8"]
