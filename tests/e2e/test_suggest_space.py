"""What to measure next in a space that a file describes, by the real command line."""

import json
from pathlib import Path

import pandas
import pytest

from alloys import TARGETS
from tests.support.commands import Finished, one_sentence
from vebnn.tabular.model import TableModel

SPACE = """
constraints = ["temperature + 2 * ageing <= 500"]
cost = "1 + temperature / 100"
[columns]
alloy = { values = ["A356", "7075"], cost = [0, 5] }
temperature = { range = [20, 600], step = 10 }
ageing = { range = [1, 40], step = 1 }
annealed = false
"""


@pytest.fixture
def ask(call, alloys_model: Path, tmp_path: Path):
    (tmp_path / "space.toml").write_text(SPACE)

    def ask(*arguments: str) -> Finished:
        return call("suggest", str(alloys_model), *arguments, COLUMNS="160")

    return ask


def test_candidates_are_inside_the_space(ask, tmp_path: Path, alloys_model: Path) -> None:
    space, out = str(tmp_path / "space.toml"), tmp_path / "next.csv"
    finished = ask("--space", space, "--n", "3", "--target", TARGETS[0], "--out", str(out))
    assert finished.returncode == 0, finished.stderr
    assert "Measure next: 3 of " in finished.stdout
    assert "candidates, for strength_MPa" in finished.stdout
    assert "of the points tried meet the constraints" in finished.stdout
    assert "the epistemic variance, per unit of cost" in finished.stdout
    assert finished.stdout.count("ignorance ") == 3  # a reason per row
    assert f"vebnn add {alloys_model} {out}" in finished.stdout
    table = pandas.read_csv(out)
    assert table["row"].tolist() == [1, 2, 3]
    assert (table["temperature"] + 2 * table["ageing"] <= 500).all()
    assert set(table["alloy"]) <= {"A356", "7075"}
    assert not table["annealed"].any()
    assert table[list(TARGETS)].isna().all(axis=None)  # to be filled in
    cost = 1 + table["temperature"] / 100 + table["alloy"].map({"A356": 0, "7075": 5})
    assert table["cost"].tolist() == pytest.approx(cost.tolist())
    first, model = table.iloc[[0]], TableModel.load(alloys_model)
    variance = model.predict(first).prediction.epistemic_variance[0, 0]
    assert first["score"].item() == pytest.approx(variance / cost[0], rel=1e-4)


def test_the_starting_file_is_a_space(ask, tmp_path: Path) -> None:
    path = tmp_path / "new.toml"
    finished = ask("--write-space", str(path))
    assert finished.returncode == 0, finished.stderr
    assert f"--space {path}" in finished.stdout
    found = json.loads(ask("--space", str(path), "--n", "2", "--json").stdout)
    assert len(found["rows"]) == 2
    assert found["rows"][0]["reason"].startswith(f"{TARGETS[0]}: ")
    assert "4,096 candidates are spread evenly over the space." in found["notices"]
    before = path.read_bytes()
    assert "There is a file" in one_sentence(ask("--write-space", str(path)))
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("ageing <= 500", "age <= 500", "names 'age', which is no column"),
        ("ageing <= 500", "ageing <= 0", "meets the constraint 'temperature + 2 * ageing <= 0'"),
        ("cost = [0, 5]", "cost = 5", "cost of 'alloy' must be a list"),
        ("annealed = false", "", "lacks 'annealed'"),
        ("[20, 600]", "[20 600]", "line 6"),
    ],
)
def test_a_wrong_space_is_one_sentence(ask, tmp_path: Path, old: str, new: str, words: str) -> None:
    path = tmp_path / "space.toml"
    path.write_text(SPACE.replace(old, new))
    assert words in one_sentence(ask("--space", str(path)))


def test_options_that_contradict_each_other(ask, tmp_path: Path) -> None:
    path = str(tmp_path / "space.toml")
    assert "Leave one of them out" in one_sentence(ask(path, "--space", path))
    assert "number of candidates" in one_sentence(ask("--space", path, "--n", "100000"))
    bound = ("--how", "confidence_bound", "--target", TARGETS[0])
    assert "cannot be divided by a `cost`" in one_sentence(ask("--space", path, *bound))


def test_images_have_no_space(call, discs_model: Path, tmp_path: Path) -> None:
    words = ("suggest", str(discs_model), "--write-space", str(tmp_path / "space.toml"))
    assert "which have no --space" in one_sentence(call(*words))
