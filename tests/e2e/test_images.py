"""From a folder of images and a file of labels to predictions, by the real command line."""

import json
import shutil
from pathlib import Path

import numpy as np
import pandas
import pytest
from playwright.sync_api import Browser

from tests.support.commands import one_sentence
from tests.support.discs import write_discs
from tests.support.watched import Watched
from vebnn import VeBNNRegressor
from vebnn.tabular.model import TableModel


@pytest.fixture
def here(discs_model: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the model, its images and their labels."""
    monkeypatch.chdir(discs_model.parent)
    return discs_model.parent


@pytest.fixture
def new(tmp_path: Path) -> pandas.DataFrame:
    """Six other discs, in a folder of their own."""
    return write_discs(tmp_path / "new", 6, seed=1)


def test_fit_says_what_it_does(discs_fit) -> None:
    assert discs_fit.stderr == ""
    for words in (
        "40 rows: 32 to train on, 8 held out.",
        "16 × 16 pixels, grey",
        "Left out, because only images are used: 'operator'.",
        "On 8 rows it was not trained on",
        "typical epistemic std",
        "vebnn report discs.model labels.csv --images discs --out report.html",
        "vebnn predict discs.model --images NEW --out predictions.csv",
        "vebnn suggest discs.model --images CANDIDATES",
        "The model is in discs.model",
    ):
        assert words in discs_fit.stdout


def test_model_holds_no_code_and_bytes_of_few_images(discs_model: Path) -> None:
    names = {path.name for path in discs_model.iterdir()}
    assert names == {"model.json", "weights.safetensors", "table.json", "rows.safetensors"}
    model = TableModel.load(discs_model)
    assert isinstance(model.estimator, VeBNNRegressor)
    assert model.sample.dtype == np.uint8
    assert model.sample.shape == (32, 16, 16, 1)


def test_predict_a_folder_or_a_file(call, here: Path, new: pandas.DataFrame, tmp_path: Path) -> None:
    folder, out = str(tmp_path / "new"), str(tmp_path / "p.csv")
    finished = call("predict", "discs.model", "--images", folder, "--out", out)
    assert finished.returncode == 0, finished.stderr
    table = pandas.read_csv(out)
    assert list(table["file"]) == list(new["file"])
    np.testing.assert_allclose(table["std"], np.hypot(table["aleatoric_std"], table["epistemic_std"]))
    model = TableModel.load(here / "discs.model")
    prediction = model.predict(model.encoder.reading(tmp_path / "new").encode(new)).prediction
    np.testing.assert_allclose(table["mean"], prediction.mean, rtol=1e-6)
    # A file may name some of them, in another order.
    new.iloc[[4, 1]][["file"]].to_csv(tmp_path / "some.csv", index=False)
    some = call("predict", "discs.model", str(tmp_path / "some.csv"), "--images", folder, "--json")
    rows = json.loads(some.stdout)["rows"]
    assert [row["file"] for row in rows] == list(new["file"].iloc[[4, 1]])
    np.testing.assert_allclose([row["mean"] for row in rows], table["mean"].iloc[[4, 1]], rtol=1e-5)


def test_evaluate_knows_the_images_it_was_trained_on(call, here: Path) -> None:
    found = json.loads(
        call("evaluate", "discs.model", "labels.csv", "--images", "discs", "--json").stdout
    )
    assert (found["trained_on"], found["scored"], found["fresh"]) == (32, 8, True)
    scores = TableModel.load(here / "discs.model").facts.scores
    # Blocks of other sizes are added up in another order.
    assert found["scores"][0]["rmse"] == pytest.approx(scores[0].rmse, rel=1e-4)


def test_model_knows_an_image_by_its_bytes(call, here: Path, tmp_path: Path) -> None:
    labels = pandas.read_csv("labels.csv")
    for name in labels["file"]:
        shutil.copy(f"discs/{name}", tmp_path / f"copy_of_{name}")
    labels["file"] = "copy_of_" + labels["file"]
    labels.to_csv(tmp_path / "copies.csv", index=False)
    arguments = [str(tmp_path / "copies.csv"), "--images", str(tmp_path), "--json"]
    assert json.loads(call("evaluate", "discs.model", *arguments).stdout)["trained_on"] == 32


def test_suggest_images_to_label(call, here: Path, new: pandas.DataFrame, tmp_path: Path) -> None:
    finished = call("suggest", "discs.model", "--images", str(tmp_path / "new"), "-n", "1", "--json")
    assert finished.returncode == 0, finished.stderr
    (row,) = json.loads(finished.stdout)["rows"]
    predicted = call("predict", "discs.model", "--images", str(tmp_path / "new"), "--json")
    rows = json.loads(predicted.stdout)["rows"]
    assert row["file"] == max(rows, key=lambda one: one["epistemic_std"])["file"]


@pytest.mark.parametrize(("width", "scheme"), [(390, "dark"), (1400, "light")])
def test_report_in_a_browser(
    call, here: Path, browser: Browser, tmp_path: Path, width: int, scheme: str
) -> None:
    # A file name is shown as text, whatever it says.
    evil = "<img src=x onerror=alert(1)>.png"
    shutil.copytree("discs", tmp_path / "discs")
    labels = pandas.read_csv("labels.csv")
    model = TableModel.load(here / "discs.model")
    rows = model.encoder.reading(Path("discs")).encode(labels)
    first = int(np.argmax(model.predict(rows).prediction.epistemic_std))
    (tmp_path / "discs" / labels["file"][first]).rename(tmp_path / "discs" / evil)
    labels.loc[first, "file"] = evil
    labels.to_csv(tmp_path / "labels.csv", index=False)
    arguments = [str(tmp_path / "labels.csv"), "--images", str(tmp_path / "discs")]
    finished = call("report", "discs.model", *arguments, "--out", str(tmp_path / "r.html"))
    assert finished.returncode == 0, finished.stderr
    watched = Watched(browser, scheme)
    watched.page.set_viewport_size({"width": width, "height": 900})
    page = watched.open_report(tmp_path / "r.html")
    assert page.locator(".gallery").count() == 2
    cards = page.locator(".gallery").first.locator("li")
    assert cards.count() == 12
    assert evil in cards.first.inner_text()
    assert page.evaluate("[...document.images].every(one => one.naturalWidth === 16)")
    # Nothing is wider than the screen, and no number than its card.
    assert page.evaluate("document.documentElement.scrollWidth") == width
    lines = "[...document.querySelectorAll('.gallery dl div')]"
    assert page.evaluate(f"{lines}.every(one => one.scrollWidth <= one.clientWidth)")
    assert watched.complaints == []
    page.close()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["fit", "labels.csv", "-t", "radius", "--images", "nowhere"], "no folder nowhere of images"),
        (["fit", "labels.csv", "-t", "radius", "--images", "discs.model"], "No column names files"),
        (["fit", "labels.csv", "-t", "operator", "--images", "discs"], "must hold numbers"),
        (["fit", "labels.csv", "-t", "radius", "--image-size", "8"], "Add --images"),
        (["predict", "discs.model"], "trained on images. Add --images"),
        (["predict", "discs.model", "labels.csv"], "trained on images. Add --images"),
        (["evaluate", "discs.model", "labels.csv", "--images", "nowhere"], "no folder nowhere"),
        (["predict", "discs.model", "--images", "discs.model"], "holds no image"),
        (["serve", "discs.model"], "service takes tables only"),
    ],
)
def test_wrong_input_is_one_sentence(call, here: Path, arguments: list[str], words: str) -> None:
    assert words in one_sentence(call(*arguments))


def test_models_of_tables_take_no_images(
    call, here: Path, alloys_model: Path, alloys_csv: Path
) -> None:
    sentence = one_sentence(call("predict", str(alloys_model), str(alloys_csv), "--images", "discs"))
    assert sentence.endswith("was trained on a table. Leave out --images.")
    assert "needs a file of rows" in one_sentence(call("predict", str(alloys_model)))
