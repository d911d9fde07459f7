"""``vebnn fit --target-kind``, and what later commands make of it."""

import json
from pathlib import Path

import numpy as np
import pandas
import pytest

from tests.support.commands import Finished, one_sentence, run
from vebnn.tabular.model import TableModel
from vebnn.tabular.plan import plan_table
from vebnn.tabular.report.effects import effects_of
from vebnn.tabular.report.figures import predicted_and_observed, reliability
from vebnn.tabular.report.findings import find_out

WORDS = ("--effort", "quick", "--inference", "map")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("kinds")
    rng = np.random.default_rng(2)
    size = rng.uniform(20, 200, 80)
    price = 50 * size * np.exp(0.8 * rng.standard_normal(80))
    visits = rng.poisson(size / 60)
    frame = pandas.DataFrame({"size": size, "price": price, "visits": visits})
    frame.to_csv(folder / "houses.csv", index=False)
    return folder


@pytest.fixture(scope="module")
def fit(folder: Path) -> Finished:
    targets = ("--target", "price", "--target", "visits")
    kinds = ("--target-kind", "positive", "--target-kind", "count")
    finished = run("fit", "houses.csv", *targets, *kinds, *WORDS, "--out", "m", "--json", cwd=folder)
    assert finished.returncode == 0, finished.stderr
    return finished


def test_ranges_are_never_below_zero(fit: Finished, folder: Path, call) -> None:
    scores = json.loads(fit.stdout)["scores"]
    assert [score["below_zero"] for score in scores] == [0, 0]
    out = folder / "p.csv"
    arguments = (str(folder / "m"), str(folder / "houses.csv"), "--out", str(out), "--level", "0.999")
    assert call("predict", *arguments).returncode == 0
    table = pandas.read_csv(out)
    assert (table["price_lower"] > 0).all()
    assert (table["visits_lower"] >= 0).all()
    assert (table["visits_upper"] % 1 == 0).all()


def test_scores_are_in_the_units_of_the_table(fit: Finished, folder: Path, call) -> None:
    """The log-likelihood of a log-normal target, and its coverage, by hand from the predictions."""
    out = folder / "q.csv"
    model, data = str(folder / "m"), str(folder / "houses.csv")
    assert call("predict", model, data, "--out", str(out)).returncode == 0
    found = json.loads(call("evaluate", model, data, "--json").stdout)["scores"][0]
    fitted = json.loads(fit.stdout)["scores"][0]
    assert found["tll"] == pytest.approx(fitted["tll"], rel=1e-5)
    table, rows = pandas.read_csv(out), pandas.read_csv(folder / "houses.csv")
    low, high = table["price_lower"], table["price_upper"]
    mean, std = (np.log(low) + np.log(high)) / 2, (np.log(high) - np.log(low)) / (2 * 1.959964)
    log_prob = -np.log(rows["price"] * std * np.sqrt(2 * np.pi))
    log_prob -= ((np.log(rows["price"]) - mean) / std) ** 2 / 2
    inside = (rows["price"] >= low) & (rows["price"] <= high)
    held_out = plan_table(rows, ["price", "visits"]).held_out
    assert np.mean(log_prob[held_out]) == pytest.approx(found["tll"], rel=1e-4)
    assert np.mean(inside[held_out]) == pytest.approx(found["coverage"])


def test_impossible_rows_are_one_sentence(fit: Finished, folder: Path, call) -> None:
    rows = pandas.read_csv(folder / "houses.csv")
    rows.loc[3, "price"] = 0.0
    rows.to_csv(folder / "zero.csv", index=False)
    sentence = one_sentence(call("evaluate", str(folder / "m"), str(folder / "zero.csv")))
    assert "'price' must be numbers above 0" in sentence
    assert "Got 0 in row 4" in sentence
    zero = ("fit", str(folder / "zero.csv"), "--target", "price", "--target-kind", "positive")
    assert one_sentence(call(*zero)) == sentence


def test_report_shows_possible_ranges(fit: Finished, folder: Path) -> None:
    model = TableModel.load(folder / "m")
    findings = find_out(model, pandas.read_csv(folder / "houses.csv"), "houses.csv")
    price = findings.targets[0]
    _, bars, *_ = predicted_and_observed(findings, price)["data"]
    assert (np.array(bars["y"]) - np.array(bars["error_y"]["arrayminus"]) > 0).all()
    *_, curve = reliability(findings, price)["data"]
    inside = (price.observed >= price.ranges[0]) & (price.observed <= price.ranges[1])
    assert curve["y"][-1] == pytest.approx(np.mean(inside[findings.evaluation.scored]))
    assert all((one.mean > 0).all() for one in effects_of(model))
