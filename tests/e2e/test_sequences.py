"""From a long table of sequences to predictions, a report and a page, by the real command line."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pytest
from playwright.sync_api import Browser

from tests.support.commands import one_sentence, run
from tests.support.serving import serving
from tests.support.springs import springs
from tests.support.watched import Watched
from vebnn.tabular.model import TableModel
from vebnn.tabular.service.app import create_app

FIT = ["fit", "springs.csv", "--target", "force", "--sequence", "test", "--step", "t"]


@pytest.fixture(scope="module")
def fitted(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The real command, once for all tests."""
    here = tmp_path_factory.mktemp("springs")
    springs().to_csv(here / "springs.csv", index=False)
    # This engine compiles less than the default does.
    finished = run(*FIT, "--effort", "quick", "--inference", "psgld", cwd=here)
    assert finished.returncode == 0, finished.stderr
    finished.folder = here
    return finished


@pytest.fixture
def here(fitted: Any, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(fitted.folder)
    return fitted.folder


def test_fit_says_what_it_does(fitted: Any) -> None:
    assert fitted.stderr == ""
    for words in (
        "in 14 sequences: ",
        "test: 14 sequences of 6 to 10 rows, in the order of t, which is no input.",
        "rows without 'force': not scored, but a part of the history.",
        "rows it was not trained on",
        "vebnn report springs.model springs.csv --out report.html",
        "vebnn predict springs.model NEW.csv --out predictions.csv",
    ):
        assert words in fitted.stdout
    assert "vebnn suggest" not in fitted.stdout


def test_predictions_are_in_the_order_of_the_file(call, here: Path, tmp_path: Path) -> None:
    new = springs(4, seed=1, gaps=False).drop(columns="force")
    new.to_csv(tmp_path / "new.csv", index=False)
    mixed = new.sample(frac=1, random_state=0)
    mixed.to_csv(tmp_path / "mixed.csv", index=False)
    out = str(tmp_path / "p.csv")
    finished = call("predict", "springs.model", str(tmp_path / "new.csv"), "--out", out)
    assert finished.returncode == 0, finished.stderr
    table = pandas.read_csv(out)
    assert list(table.columns[:3]) == ["row", "test", "t"]
    np.testing.assert_allclose(table["std"], np.hypot(table["aleatoric_std"], table["epistemic_std"]))
    finished = call("predict", "springs.model", str(tmp_path / "mixed.csv"), "--json")
    rows = pandas.DataFrame((answer := json.loads(finished.stdout))["rows"])
    assert (
        "test: the rows of 4 of 4 sequences were not in the order of t; they were sorted."
        in (answer["notices"])
    )
    assert list(zip(rows["test"], rows["t"], strict=True)) == list(
        zip(mixed["test"], mixed["t"], strict=True)
    )
    np.testing.assert_allclose(rows["mean"], table["mean"].iloc[mixed.index], rtol=1e-5)
    # The estimator itself, asked for one whole sequence.
    model = TableModel.load("springs.model")
    first = new[new["test"] == "T00"]
    direct = model.estimator.predict_distribution(model.encoder.encode(first).matrix.padded())
    np.testing.assert_allclose(direct.mean[0, :, 0], table["mean"][: len(first)], rtol=1e-4, atol=1e-5)


def test_evaluate_knows_the_sequences_it_was_trained_on(call, here: Path) -> None:
    found = json.loads(call("evaluate", "springs.model", "springs.csv", "--json").stdout)
    facts = TableModel.load("springs.model").facts
    assert (found["trained_on"], found["scored"]) == (facts.num_trained, facts.num_held_out)
    assert found["scores"][0]["rmse"] == pytest.approx(facts.scores[0].rmse, rel=1e-4)
    assert found["scores"][0]["num_sequences"] == 3
    # Another number of steps before: still known.
    springs().groupby("test").head(5).to_csv("beginnings.csv", index=False)
    found = json.loads(call("evaluate", "springs.model", "beginnings.csv", "--json").stdout)
    assert found["trained_on"] == found["rows"] - found["scored"] > 40


def test_dry_run_writes_nothing(call, here: Path) -> None:
    found = json.loads(call(*FIT, "--out", "other.model", "--dry-run", "--json").stdout)
    assert (found["rows"], found["group"], found["rounds"]) == (springs()["force"].count(), None, 1)
    assert found["sequence"] == {"sequence": "test", "step": "t", "step_as_input": False}
    assert not Path("other.model").exists()


@pytest.mark.parametrize(("width", "scheme"), [(390, "dark"), (1400, "light")])
def test_report_in_a_browser(
    call, here: Path, browser: Browser, tmp_path: Path, width: int, scheme: str
) -> None:
    evil = "<img src=x onerror=alert(1)>"
    springs().replace({"test": {"T00": evil}}).to_csv(tmp_path / "evil.csv", index=False)
    path = tmp_path / "r.html"
    finished = call("report", "springs.model", str(tmp_path / "evil.csv"), "--out", str(path))
    assert finished.returncode == 0, finished.stderr
    watched = Watched(browser, scheme)
    watched.page.set_viewport_size({"width": width, "height": 900})
    page = watched.open_report(path)
    assert page.locator(".grid .figure").count() == 3  # the held-out sequences
    assert page.locator(".grid .figure .trace").count() >= 3 * 3
    table = page.get_by_label("Sequences the model knows least about force")
    assert table.locator("tbody tr").count() == 12
    assert page.evaluate("document.documentElement.scrollWidth") == width
    assert watched.complaints == []
    page.close()


def test_page_predicts_pasted_rows(browser: Browser, here: Path) -> None:
    watched = Watched(browser)
    page = watched.page
    model = TableModel.load("springs.model")
    with serving(create_app(model)) as address:
        page.goto(address)
        # The page starts with a training sequence.
        page.wait_for_selector("section.target svg")
        assert page.get_by_label("Rows, as CSV").input_value() == model.encoder.example
        assert not page.locator("#choice").is_visible()  # there is one sequence
        pasted = springs(2, seed=3, gaps=False)
        page.get_by_label("Rows, as CSV").fill(pasted.to_csv(index=False))
        page.get_by_role("button", name="Predict").click()
        page.wait_for_selector("#choice", state="visible")
        page.get_by_label("test", exact=True).select_option("T01")
        mean = float(page.locator("section.target").get_attribute("data-mean"))
        assert mean == pytest.approx(float(model.predict(pasted).prediction.mean[-1]), rel=1e-4)
        length = int(np.sum(pasted["test"] == "T01"))
        assert page.locator("section.target circle").count() == length  # measured values
        page.get_by_label("Rows, as CSV").fill("test,t,load\nA,0,1\n")
        page.get_by_role("button", name="Predict").click()
        page.get_by_text("The table lacks 'metal'").wait_for()
        page.close()
    # The browser itself notes the refused request.
    assert [line for line in watched.complaints if "422" not in line] == []


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([*FIT[:4], "--sequence", "test"], "need --sequence COLUMN"),
        ([*FIT, "--time", "t"], "of sequences whole ones are held out"),
        ([*FIT, "--images", "."], "Leave out --images or --sequence"),
        ([*FIT[:5], "id", "--step", "t"], "no column 'id' for sequence"),
        (["predict", "springs.model", "no-id.csv"], "The table lacks 'test'"),
        (["predict", "springs.model", "twice.csv"], "both have '0'"),
        (["suggest", "springs.model", "springs.csv"], "not measured one by one"),
    ],
)
def test_wrong_input_is_one_sentence(call, here: Path, arguments: list[str], words: str) -> None:
    springs().drop(columns="test").to_csv("no-id.csv", index=False)
    springs().assign(t=0).to_csv("twice.csv", index=False)
    assert words in one_sentence(call(*arguments))
