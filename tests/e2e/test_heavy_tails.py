"""``vebnn fit --heavy-tails``, and what later commands make of it."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pytest
from scipy import stats

from tests.support.commands import Finished, one_sentence, run
from vebnn.tabular.model import TableModel

WORDS = ("--target", "force", "--effort", "quick", "--inference", "laplace", "--rounds", "2")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("heavy")
    rng = np.random.default_rng(2)
    depth = rng.uniform(0, 4, 120)
    force = 10 * depth + rng.standard_t(2.5, 120)
    frame = pandas.DataFrame({"depth": depth, "force": force, "error": 0.1})
    frame.to_csv(folder / "rows.csv", index=False)
    return folder


@pytest.fixture(scope="module")
def fit(folder: Path) -> Finished:
    words = ("--heavy-tails", "--drop", "error", "--out", "m", "--json")
    finished = run("fit", "rows.csv", *WORDS, *words, cwd=folder)
    assert finished.returncode == 0, finished.stderr
    return finished


def student(freedom: float, mean: np.ndarray, std: np.ndarray) -> Any:
    return stats.t(freedom, mean, std * np.sqrt((freedom - 2) / freedom))


def over_means(mean: np.ndarray, std: np.ndarray, function: Callable) -> np.ndarray:
    """Return the expectation of a function of a Gaussian mean (Gauss-Hermite quadrature)."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(60)
    return weights @ function(mean + nodes[:, None] * std) / weights.sum()


def test_scores_are_those_of_the_student_t(fit: Finished, folder: Path, call) -> None:
    """The log-likelihood by hand, from the table of predictions."""
    found = json.loads(fit.stdout)
    (freedom,) = found["degrees_of_freedom"]
    assert 2.5 <= freedom < 10
    model, data = str(folder / "m"), str(folder / "rows.csv")
    scores = json.loads(call("evaluate", model, data, "--json").stdout)["scores"][0]
    assert scores["tll"] == pytest.approx(found["scores"][0]["tll"], rel=1e-5)
    loaded = TableModel.load(folder / "m")
    new = loaded.evaluate(pandas.read_csv(data))
    p, y = new.prediction, new.table.observed[new.scored, 0]
    noise = p.aleatoric_std
    density = over_means(p.mean, p.epistemic_std, lambda mean: student(freedom, mean, noise).pdf(y))
    assert scores["tll"] == pytest.approx(np.log(density).mean(), rel=1e-4)


def test_the_range_of_a_table_is_that_of_the_student_t(fit: Finished, folder: Path, call) -> None:
    out = folder / "p.csv"
    model, data = str(folder / "m"), str(folder / "rows.csv")
    assert call("predict", model, data, "--out", str(out)).returncode == 0
    table, (freedom,) = pandas.read_csv(out), json.loads(fit.stdout)["degrees_of_freedom"]
    parts = ("mean", "aleatoric", "epistemic", "upper")
    mean, noise, epistemic, upper = (table.filter(like=part).iloc[:, 0].to_numpy() for part in parts)
    below = over_means(mean, epistemic, lambda mean: student(freedom, mean, noise).cdf(upper))
    np.testing.assert_allclose(below, 0.975, atol=1e-5)


def test_the_table_of_scores_and_the_report_have_them(fit: Finished, folder: Path, call) -> None:
    model, data, page = str(folder / "m"), str(folder / "rows.csv"), folder / "report.html"
    assert "degrees of freedom of the noise" in call("evaluate", model, data).stdout
    assert call("report", model, data, "--out", str(page)).returncode == 0
    assert "heavy_tails" in page.read_text()


def test_what_does_not_go_together_is_one_sentence(folder: Path) -> None:
    out = folder / "refused"
    words = ("--heavy-tails", "--calibrate", "common", "--out", str(out), "--json")
    finished = run("fit", "rows.csv", *WORDS, *words, cwd=folder)
    assert 'must be "conformal"' in one_sentence(finished)
    assert not out.exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--calibrate", "common"], 'must be "conformal"'),
        (["--target-kind", "positive"], "is for real targets"),
        (["--rounds", "1"], "two rounds or more"),
        (["--inference", "map"], "engine with several draws"),
    ],
)
def test_a_dry_run_refuses_what_the_fit_would(folder: Path, call, words, message) -> None:
    frame = pandas.read_csv(folder / "rows.csv").drop(columns="error").abs()
    frame.to_csv(folder / "above_zero.csv", index=False)
    data = str(folder / "above_zero.csv")
    finished = call("fit", data, "--target", "force", "--heavy-tails", "--dry-run", "--json", *words)
    assert message in one_sentence(finished)


def test_rows_are_added_by_a_new_fit(fit: Finished, folder: Path, call, tmp_path: Path) -> None:
    model, new = tmp_path / "m", tmp_path / "new.csv"
    shutil.copytree(folder / "m", model)
    rng = np.random.default_rng(3)
    depth = rng.uniform(0, 4, 10)
    frame = pandas.DataFrame({"depth": depth, "force": 10 * depth + rng.standard_t(2.5, 10)})
    frame.to_csv(new, index=False)
    answer = call("add", str(model), str(new), "--json")
    assert answer.returncode == 0, answer.stderr
    notice = "Student-t noise is learned from the beginning: all was fitted again."
    assert notice in json.loads(answer.stdout)["notices"]
    loaded = TableModel.load(model)
    assert loaded.facts.num_trained == 106
    assert loaded.estimator.degrees_of_freedom_[0] < 10
