"""Fit, suggest in a space, measure, add, and look at the history: by the real command line."""

import json
import shutil
from pathlib import Path

import numpy as np
import pandas
import pytest
from playwright.sync_api import Browser

from alloys import TARGETS
from tests.support.commands import one_sentence
from vebnn.tabular.model import TableModel

SPACE = """
[columns]
alloy = { values = ["A356", "6061", "7075"] }
temperature = { range = [20, 700], step = 5 }
ageing = { range = [1, 40], step = 1 }
annealed = { values = [true, false] }
"""
FILES = {"model.json", "weights.safetensors", "table.json", "rows.safetensors"}
KEPT = {"history.json", "kept.safetensors"}


def measured(table: pandas.DataFrame, seed: int) -> pandas.DataFrame:
    """Fill in what examples/alloys.py would have measured."""
    rng, temperature = np.random.default_rng(seed), table["temperature"].to_numpy()
    at_room_temperature = table["alloy"].map({"A356": 200, "6061": 280, "7075": 480}).to_numpy()
    noise = rng.normal(size=len(table)) * (4 + temperature / 40)
    strength = at_room_temperature - 0.4 * (temperature - 20) + noise
    elongation = 5 + temperature / 30 + rng.normal(size=len(table))
    return table.assign(**{TARGETS[0]: strength.round(1), TARGETS[1]: elongation.round(2)})


@pytest.fixture(scope="module")
def folder(alloys_model: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a model of its own, and a space whose upper half it has never seen."""
    here = tmp_path_factory.mktemp("loop")
    shutil.copytree(alloys_model, here / "alloys.model")
    (here / "space.toml").write_text(SPACE)
    return here


def test_ignorance_shrinks(call, folder: Path, browser: Browser, monkeypatch) -> None:
    monkeypatch.chdir(folder)
    model = "alloys.model"
    finished = call("suggest", model, "--space", "space.toml", "--n", "10", "--out", "next.csv")
    assert finished.returncode == 0, finished.stderr
    new = measured(pandas.read_csv("next.csv"), seed=1)
    assert new["temperature"].max() > 600  # it asks for what it does not know
    new.to_csv("next.csv", index=False)
    before = TableModel.load(model)

    answer = call("add", model, "next.csv", "--space", "space.toml", "--json")
    assert answer.returncode == 0, answer.stderr
    found = json.loads(answer.stdout)
    assert (found["added"], found["known"], found["continued"]) == (10, 0, True)
    error = new[TARGETS[0]] - before.predict(new).prediction.mean[:, 0]
    assert found["new"][0]["rmse"] == pytest.approx(np.sqrt(np.mean(error**2)), rel=1e-4)
    for at in range(2):
        high = (found[f"ignorance_{when}"][at]["high"] for when in ("before", "after"))
        assert next(high) > 1.5 * next(high)

    after = TableModel.load(model)
    assert after.facts.num_trained == before.facts.num_trained + 10
    assert after.was_trained_on(new).all()
    there = new.assign(temperature=650)
    stds = [one.predict(there).prediction.epistemic_std[:, 0].mean() for one in (before, after)]
    assert stds[1] < 0.7 * stds[0]
    assert {path.name for path in Path(model).iterdir()} == FILES | KEPT

    # The same file again changes nothing.
    weights = Path(model, "weights.safetensors").read_bytes()
    again = call("add", model, "next.csv")
    assert again.returncode == 0, again.stderr
    assert "knows all 10 rows; nothing was changed" in again.stdout
    assert Path(model, "weights.safetensors").read_bytes() == weights

    shown = call("history", model, "--out", "history.html")
    assert shown.returncode == 0, shown.stderr
    assert "over space.toml" in shown.stdout
    assert "next.csv" in shown.stdout
    _check_page(browser, folder / "history.html")


def _check_page(browser: Browser, path: Path) -> None:
    problems: list[str] = []
    for width, scheme in ((1_400, "light"), (390, "dark")):
        page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
        page.on("console", lambda message: problems.append(message.text))
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.goto(path.as_uri())
        page.wait_for_selector("html[data-drawn='4']")  # two figures for each target
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.locator("tbody tr").count() == 2
        assert "fell from" in page.inner_text("main")
        page.close()
    assert problems == []


def test_what_cannot_be_added(call, alloys_model: Path, folder: Path, tmp_path: Path) -> None:
    model, results = str(alloys_model), tmp_path / "results.csv"
    contents = {path.name: path.read_bytes() for path in alloys_model.iterdir()}
    new = measured(pandas.read_csv(alloys_model.with_name("alloys.csv"), dtype={"alloy": str}), seed=2)
    new.drop(columns=TARGETS[1]).to_csv(results, index=False)
    assert f"{TARGETS[1]!r}" in one_sentence(call("add", model, str(results)))
    new.drop(columns="alloy").to_csv(results, index=False)
    assert "lacks 'alloy'" in one_sentence(call("add", model, str(results)))
    assert "No rows were added" in one_sentence(call("history", model))
    assert {path.name: path.read_bytes() for path in alloys_model.iterdir()} == contents

    without = tmp_path / "without.model"
    shutil.copytree(alloys_model, without)
    for name in KEPT:
        (without / name).unlink()
    new.to_csv(results, index=False)
    assert "keeps no rows" in one_sentence(call("add", str(without), str(results)))
    damaged = tmp_path / "damaged.model"
    shutil.copytree(alloys_model, damaged)
    content = bytearray((damaged / "kept.safetensors").read_bytes())
    content[-1] ^= 1
    (damaged / "kept.safetensors").write_bytes(bytes(content))
    assert "is missing, truncated or was edited" in one_sentence(
        call("add", str(damaged), str(results))
    )


def test_the_model_stays_until_the_new_one_is_whole(
    call, alloys_model: Path, tmp_path: Path, monkeypatch
) -> None:
    model, results = tmp_path / "m.model", tmp_path / "results.csv"
    shutil.copytree(alloys_model, model)
    table = pandas.read_csv(alloys_model.with_name("alloys.csv"), dtype={"alloy": str})
    measured(table, seed=2).to_csv(results, index=False)
    contents = {path.name: path.read_bytes() for path in model.iterdir()}

    def interrupted(*_, **__) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("vebnn.tabular.additions.adding.add_rows", interrupted)
    finished = call("add", str(model), str(results))
    assert finished.returncode == 130
    assert "The model is as it was" in finished.stderr
    assert {path.name: path.read_bytes() for path in model.iterdir()} == contents

    def replaced(loaded: TableModel, *_, **__) -> TableModel:
        content = (model / "table.json").read_bytes()
        (model / "table.json").write_bytes(content + b" ")
        return loaded

    monkeypatch.setattr("vebnn.tabular.additions.adding.add_rows", replaced)
    finished = call("add", str(model), str(results))
    assert finished.returncode == 2
    assert "replaced by another program during the training" in finished.stderr
    assert (model / "table.json").read_bytes() == contents["table.json"] + b" "


def test_images_cannot_be_added(call, discs_model: Path) -> None:
    table = str(discs_model.with_name("labels.csv"))
    assert "keeps no rows" in one_sentence(call("add", str(discs_model), table))
