"""From a model and a file of candidates to the rows to measure next, by the real command line."""

import json
from pathlib import Path

import numpy as np
import pandas
import pytest
from scipy import stats

from alloys import TARGETS, alloys
from tests.support.commands import Finished, one_sentence, run
from vebnn.tabular.candidates import best_so_far, suggest_rows
from vebnn.tabular.model import TableModel

POOL = alloys(12, seed=1).drop(columns=[*TARGETS, "machine"])
POOL.loc[1, "temperature"] = 650.0  # far outside of what the model was trained on
STRENGTH = TARGETS[0]


@pytest.fixture(scope="module")
def model(alloys_model: Path) -> TableModel:
    return TableModel.load(alloys_model)


@pytest.fixture
def pool(tmp_path: Path) -> Path:
    POOL.to_csv(tmp_path / "pool.csv", index=False)
    return tmp_path / "pool.csv"


@pytest.fixture
def ask(call, alloys_model: Path, pool: Path):
    def ask(*arguments: str, columns: int = 160) -> Finished:
        return call("suggest", str(alloys_model), str(pool), *arguments, COLUMNS=str(columns))

    return ask


def answers(finished: Finished) -> dict:
    assert finished.returncode == 0, finished.stderr
    return json.loads(finished.stdout)


def test_first_row_is_the_one_it_knows_least_about(ask, model: TableModel) -> None:
    found = answers(ask("--n", "3", "--target", STRENGTH, "--json"))
    prediction = model.predict(POOL).prediction
    ignorance = prediction.epistemic_variance[:, 0]
    assert ignorance[1] > 10 * np.median(ignorance)
    least_known = int(np.argmax(ignorance))
    assert found["rows"][0]["row"] == least_known + 1
    assert found["rows"][0]["sample"] == POOL["sample"][least_known]
    assert found["rows"][0]["score"] == pytest.approx(ignorance.max())
    assert found["rows"][0][f"{STRENGTH}_mean"] == pytest.approx(prediction.mean[least_known, 0])
    assert len({row["row"] for row in found["rows"]}) == 3
    assert (found["how"], found["target"], found["out"]) == ("epistemic", STRENGTH, None)
    assert "temperature: 1 value outside the training range" in found["notices"][0]


def test_later_rows_know_what_the_first_will_teach(ask, model: TableModel) -> None:
    # A measurement of row i takes C[j, i]² / (C[i, i] + noise) from the variance of row j.
    first, second = answers(ask("--n", "2", "--target", STRENGTH, "--json"))["rows"]
    prediction = model.predict(POOL).prediction
    covariance = np.cov(prediction.draws[..., 0].T.astype(float), bias=True)
    i = first["row"] - 1
    noise = prediction.aleatoric_variance[i, 0]
    left = np.diag(covariance) - covariance[:, i] ** 2 / (covariance[i, i] + noise)
    left[i] = -np.inf
    assert second["row"] == np.argmax(left) + 1
    assert second["score"] == pytest.approx(left.max(), rel=1e-3)


def test_improvement_is_over_the_best_training_row(ask, model: TableModel, alloys_csv: Path) -> None:
    arguments = ("--how", "expected_improvement", "--goal", "maximise", "--target", STRENGTH)
    found = answers(ask(*arguments, "--n", "1", "--json"))
    frame = pandas.read_csv(alloys_csv)
    trained = frame[model.was_trained_on(frame)]
    best = model.predict(trained).prediction.mean[:, 0].max()
    assert found["best"] == pytest.approx(best, rel=1e-5)
    assert f"taken to be {best:.4g}" in found["notices"][-1]
    assert "64 of 64 training rows" in found["notices"][-1]
    (low,) = answers(ask(*arguments, "--n", "1", "--best", "200", "--json"))["rows"]
    mean, std = low[f"{STRENGTH}_mean"], low[f"{STRENGTH}_epistemic_std"]
    z = (mean - 200) / std
    assert low["score"] == pytest.approx((mean - 200) * stats.norm.cdf(z) + std * stats.norm.pdf(z))


def test_best_of_the_smallest(model: TableModel) -> None:
    low, high = (best_so_far(model, goal, target=STRENGTH) for goal in ("minimise", "maximise"))
    assert low < 150 < 400 < high


def test_confidence_bound(ask) -> None:
    arguments = ("--how", "confidence_bound", "--target", STRENGTH, "--n", "1", "--json")
    (row,) = answers(ask(*arguments))["rows"]
    expected = -row[f"{STRENGTH}_mean"] + 2 * row[f"{STRENGTH}_epistemic_std"]
    assert row["score"] == pytest.approx(expected)
    assert answers(ask(*arguments, "--goal", "maximise"))["rows"][0]["row"] != row["row"]


def test_file_has_all_columns_of_the_rows(ask, pool: Path, tmp_path: Path) -> None:
    out = tmp_path / "next.parquet"
    finished = ask("--n", "4", "--out", str(out), "--how", "bald")
    assert finished.returncode == 0, finished.stderr
    table = pandas.read_parquet(out)
    there = pandas.read_csv(pool).iloc[table["row"] - 1].reset_index(drop=True)
    pandas.testing.assert_frame_equal(table[list(POOL)], there, check_dtype=False)
    assert list(table.columns[-3:]) == [f"{TARGETS[1]}_upper", "score", "reason"]
    assert (np.diff(table["score"]) <= 0).all()
    assert f"are in {out}" in finished.stdout
    assert "nats, added up over targets" in finished.stdout


def test_reason_names_the_column_that_is_unlike_the_training_rows(ask, model: TableModel) -> None:
    finished = ask("--n", "1", "--target", STRENGTH)
    found = model.explain(POOL.iloc[[1]])
    base, values, predicted = found.output("epistemic_std", STRENGTH)
    assert found.features[np.argmax(values[0])] == "temperature"  # 650, where training ends at 400
    words = f"ignorance {predicted[0] / base:.2g} × typical, mostly from temperature"
    assert f"\n  row 2: {words}\n" in finished.stdout
    (row,) = answers(ask("--n", "1", "--json"))["rows"]
    assert row["reason"].startswith(f"{STRENGTH}: {words}. {TARGETS[1]}: ignorance")


def test_reason_for_an_optimum_is_also_the_mean(model: TableModel) -> None:
    found = suggest_rows(model, POOL, 1, "confidence_bound", target=STRENGTH)
    assert found.reasons[0].startswith("mean ")
    assert "; ignorance " in found.reasons[0]


def test_names_that_are_taken(model: TableModel) -> None:
    table = suggest_rows(model, POOL.assign(row="mine", score="mine"), 2).table
    assert set(table["row"]) == set(table["score"]) == {"mine"}
    assert table["suggested_row"].iloc[0] == 2
    assert table["suggested_score"].dtype == float


@pytest.mark.parametrize(
    ("columns", "there", "absent"), [(80, "sample", "annealed"), (160, "annealed", "…")]
)
def test_columns_that_fit_are_shown(ask, columns: int, there: str, absent: str) -> None:
    finished = ask("--n", "2", columns=columns)
    lines = finished.stdout.splitlines()
    title = next(at for at, line in enumerate(lines) if line.startswith("Measure next: 2 of 12 rows"))
    end = next(
        at for at, line in enumerate(lines) if line.startswith("The model knows least about these rows")
    )
    table = "\n".join(lines[title:end])
    assert max(len(line) for line in lines[title:end]) <= columns
    assert there in table
    assert absent not in table
    for words in ("row", "mean", "aleatoric", "epistemic", "score", *TARGETS):
        assert words in table


def test_a_process_of_its_own(alloys_model: Path, pool: Path) -> None:
    finished = run("suggest", str(alloys_model), "pool.csv", "-n", "1", cwd=pool.parent)
    assert finished.returncode == 0, finished.stderr
    assert finished.stderr == ""
    assert "S-0001" in finished.stdout
    assert "rows above" not in finished.stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--n", "13"), "at most the size of the pool, 12. Got 13"),
        (("--n", "0"), "at least 1. Got 0"),
        (("--how", "magic"), "'epistemic', 'bald'"),
        (("--how", "expected_improvement"), f"'{STRENGTH}', '{TARGETS[1]}'. Got none"),
        (("--target", "hardness"), "Got 'hardness'"),
        (("--goal", "maximise"), "Got --how epistemic"),
        (("--how", "confidence_bound", "--goal", "up"), "Got 'up'"),
        (("--how", "bald", "--best", "3"), "Got --how bald"),
        (("--how", "expected_improvement", "--best", "nan"), "Got nan"),
        (("--out", "next.docx"), ".parquet or .feather"),
    ],
)
def test_bad_input_is_one_sentence(ask, arguments: tuple[str, ...], words: str, pool: Path) -> None:
    assert words in one_sentence(ask(*arguments))
    assert [path.name for path in pool.parent.iterdir()] == ["pool.csv"]


def test_candidates_that_lack_a_column(ask, pool: Path) -> None:
    POOL.drop(columns="alloy").to_csv(pool, index=False)
    assert "lacks 'alloy'" in one_sentence(ask())
