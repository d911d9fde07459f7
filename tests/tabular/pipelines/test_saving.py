"""Pipelines that were saved: whole, without code, and as models of tables."""

import copy
import json
import os
import pickle
import signal
import subprocess
import sys
import zipfile
from hashlib import sha256
from pathlib import Path

import httpx
import numpy as np
import pandas
import pytest
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor
from sklearn.exceptions import NotFittedError
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

from tests.support.commands import one_sentence, run
from tests.support.serving import serve_command
from tests.support.settings import BRIEF, quick, quick_joint
from vebnn import Ensemble, JointRegressor, load_pipeline, predict_distribution, save_pipeline
from vebnn.serialization.folders import MODEL, PIPELINE, TABLE
from vebnn.tabular.errors import TableError
from vebnn.tabular.files import read_table
from vebnn.tabular.model import TableModel
from vebnn.tabular.saving import load_model_and_rows

pytestmark = pytest.mark.usefixtures("quick_compilation")
FILES = TABLE.names | MODEL.names | PIPELINE.names
PARTS = ("mean", "aleatoric_std", "epistemic_std")
SHORT = {"num_folds": 2, "rounds": 1, "inference": Ensemble(2, BRIEF), "mean_training": BRIEF}
SHORT |= {"variance_training": BRIEF}


def alloys(number: int = 60, seed: int = 0) -> pandas.DataFrame:
    """Return strengths around 100, of three alloys."""
    rng = np.random.default_rng(seed)
    load, alloy = rng.uniform(200, 400, number), rng.choice(["Al", "Cu", "Ti"], number)
    offset = np.select([alloy == "Al", alloy == "Cu"], [0.0, 0.4], 0.8)
    strength = np.exp(4 + offset + load / 400 + 0.1 * rng.standard_normal(number))
    return pandas.DataFrame({"load": load, "alloy": alloy, "strength": strength})


def pipeline_of(regressor, *, number=StandardScaler, unknown: str = "ignore") -> Pipeline:
    encoder = OneHotEncoder(handle_unknown=unknown)
    columns = [("number", number(), ["load"]), ("category", encoder, ["alloy"])]
    return Pipeline([("columns", ColumnTransformer(columns)), ("regressor", regressor)])


def through_logarithms(regressor) -> TransformedTargetRegressor:
    return TransformedTargetRegressor(pipeline_of(regressor), func=np.log, inverse_func=np.exp)


def brief() -> JointRegressor:
    return quick_joint(inference=Ensemble(2, BRIEF))


MODELS = {
    "a pipeline": lambda: pipeline_of(quick(**SHORT)),
    "logarithms": lambda: through_logarithms(brief()),
}


@pytest.fixture(
    scope="module", params=["logarithms", pytest.param("a pipeline", marks=pytest.mark.slow)]
)
def saved(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory):
    """A fitted composition, and the folder it was saved to, beside files of rows."""
    folder = tmp_path_factory.mktemp("pipelines")
    frame = alloys()
    X, y = frame[["load", "alloy"]], frame["strength"]
    model = MODELS[request.param]().fit(X, y)
    save_pipeline(model, folder / "model", X, y)
    alloys(seed=1).to_csv(folder / "new.csv", index=False)
    frame.to_csv(folder / "old.csv", index=False)
    pandas.concat([frame, alloys(seed=1)]).to_csv(folder / "both.csv", index=False)
    return model, folder


@pytest.fixture(scope="module")
def fitted() -> tuple[Pipeline, pandas.DataFrame, pandas.Series]:
    frame = alloys()
    X, y = frame[["load", "alloy"]], frame["strength"]
    return pipeline_of(brief()).fit(X, y), X, y


def test_it_predicts_bit_for_bit_after_loading(saved) -> None:
    model, folder = saved
    assert {path.name for path in (folder / "model").iterdir()} == FILES
    again, new = load_pipeline(folder / "model"), alloys(seed=1)
    assert type(again) is type(model)
    np.testing.assert_array_equal(again.predict(new), model.predict(new))
    found, direct = predict_distribution(again, new), predict_distribution(model, new)
    for part in PARTS:
        np.testing.assert_array_equal(getattr(found, part), getattr(direct, part))


def test_the_model_of_a_table_predicts_what_the_pipeline_predicts(saved) -> None:
    model, folder = saved
    table, new = TableModel.load(folder / "model"), alloys(seed=1)
    found, direct = table.predict(new).prediction, predict_distribution(model, new)
    for part in PARTS:
        np.testing.assert_array_equal(getattr(found, part), getattr(direct, part))
    assert table.targets == ("strength",)
    assert table.relevance is None
    assert table.facts.targets[0].mean == pytest.approx(alloys()["strength"].mean())
    both = read_table(folder / "both.csv")  # digits of numbers have been lost
    assert table.was_trained_on(both).tolist() == [True] * 60 + [False] * 60
    error = new["strength"] - direct.mean
    assert table.evaluate(new).scores[0].rmse == pytest.approx(np.sqrt(np.mean(error**2)))


def test_explanations_add_up_in_the_units_of_y(saved) -> None:
    model, folder = saved
    new = alloys(seed=1).head(3)
    found = TableModel.load(folder / "model").explain(new)
    assert found.features == ("load", "alloy")
    base, values, predicted = found.output("mean", "strength")
    np.testing.assert_allclose(predicted, predict_distribution(model, new).mean)
    np.testing.assert_allclose(base + values.sum(1), predicted)
    background = predict_distribution(model, alloys()).mean  # of all 60 rows, which are kept
    assert base == pytest.approx(background.mean())


def test_the_command_line_from_end_to_end(saved) -> None:
    model, folder = saved
    direct = predict_distribution(model, alloys(seed=1))
    finished = run("predict", "model", "new.csv", "--out", "p.csv", cwd=folder)
    assert finished.returncode == 0, finished.stderr
    table = pandas.read_csv(folder / "p.csv")
    np.testing.assert_allclose(table["mean"], direct.mean, rtol=1e-6)
    np.testing.assert_allclose(table["epistemic_std"], direct.epistemic_std, rtol=1e-3)
    np.testing.assert_allclose(table[["lower", "upper"]].T, direct.interval(0.95), rtol=1e-4)
    report = run("report", "model", "new.csv", "--out", "r.html", cwd=folder)
    assert report.returncode == 0, report.stderr
    assert "trained on 60 of 60 rows" in (folder / "r.html").read_text()


@pytest.mark.slow
def test_the_other_commands(saved) -> None:
    model, folder = saved
    scores = json.loads(run("evaluate", "model", "new.csv", "--json", cwd=folder).stdout)
    lower, upper = predict_distribution(model, new := alloys(seed=1)).interval(0.95)
    inside = (lower <= new["strength"]) & (new["strength"] <= upper)
    assert scores["scores"][0]["coverage"] == pytest.approx(inside.mean())
    assert (scores["trained_on"], scores["fresh"]) == (0, True)
    old = run("evaluate", "model", "old.csv", cwd=folder)
    assert "trained on all of these rows" in old.stdout
    chosen = run("suggest", "model", "new.csv", "--n", "2", "--out", "s.csv", cwd=folder)
    assert chosen.returncode == 0, chosen.stderr
    assert set(pandas.read_csv(folder / "s.csv")["alloy"]) <= {"Al", "Cu", "Ti"}
    assert "keeps no rows" in one_sentence(run("add", "model", "new.csv", cwd=folder))


@pytest.mark.slow
def test_the_service_answers(saved) -> None:
    model, folder = saved
    rows = alloys(seed=1)[["load", "alloy"]].head(2)
    with serve_command(folder / "model") as (address, _):
        asked = {"rows": rows.to_dict("records")}
        answer = httpx.post(f"{address}/predict", json=asked, timeout=60).json()
        features = httpx.get(f"{address}/model").json()["features"]
        reason = httpx.post(f"{address}/explain", json=asked, timeout=60).json()
    means = [one["strength"]["mean"] for one in answer["predictions"]]
    np.testing.assert_allclose(means, predict_distribution(model, rows).mean, rtol=1e-5)
    assert [one["kind"] for one in features] == ["number", "category"]
    assert set(features[1]["categories"]) == {"Al", "Cu", "Ti"}
    assert set(reason["explanations"][0]["strength"]["mean"]["values"]) == {"load", "alloy"}


def test_of_a_search_the_best_pipeline_is_saved(tmp_path: Path) -> None:
    frame = alloys()
    X, y = frame[["load", "alloy"]], frame[["strength"]].rename(columns={"strength": "stress"})
    y["strain"] = frame["load"] / 2
    search = GridSearchCV(pipeline_of(brief()), {"columns__number__with_mean": [True]}, refit=True)
    search.best_estimator_ = clone(search.estimator).fit(X, y)  # as its fit leaves it
    save_pipeline(search, tmp_path / "model", X, y)
    again = load_pipeline(tmp_path / "model")
    np.testing.assert_array_equal(again.predict(X), search.best_estimator_.predict(X))
    assert TableModel.load(tmp_path / "model").targets == ("stress", "strain")


def test_an_array_has_numbered_columns(tmp_path: Path, sine) -> None:
    X, y = sine
    model = make_pipeline(StandardScaler(), brief()).fit(X, y)
    save_pipeline(model, tmp_path / "model", X, y)
    table = TableModel.load(tmp_path / "model")
    found = table.predict(pandas.DataFrame(X, columns=["x0", "x1"])).prediction
    np.testing.assert_array_equal(found.mean, model.predict(X))
    assert table.targets == ("y",)


def test_gaps_and_unseen_texts_go_to_the_pipeline(tmp_path: Path) -> None:
    frame = alloys()
    frame.loc[::7, "load"], frame.loc[::9, "alloy"] = np.nan, np.nan
    X, y = frame[["load", "alloy"]], frame["strength"]
    model = pipeline_of(brief(), number=SimpleImputer).fit(X, y)
    save_pipeline(model, tmp_path / "model", X, y)
    table = TableModel.load(tmp_path / "model")
    new = pandas.DataFrame({"load": [300.0, np.nan, 300.0], "alloy": [np.nan, "Al", "steel"]})
    found = table.predict(new)
    np.testing.assert_array_equal(found.prediction.mean, model.predict(new))
    assert any("'steel', never seen in training" in notice for notice in found.notices)


def test_new_gaps_are_refused(saved) -> None:
    _, folder = saved
    table = TableModel.load(folder / "model")
    for gap in ({"load": [np.nan], "alloy": ["Al"]}, {"load": [300.0], "alloy": [None]}):
        with pytest.raises(TableError, match=r"is missing in 1 row, first in row 1, but had no gaps"):
            table.predict(pandas.DataFrame(gap))


KILLED = """
import os, signal, sys
from vebnn.serialization.folders import Format
from vebnn.tabular.model import TableModel
model, seal = TableModel.load(sys.argv[1]), Format.seal
def kill(self, *arguments):
    if self.name == "pipeline":
        os.kill(os.getpid(), signal.SIGKILL)
    return seal(self, *arguments)
Format.seal = kill
model.save(sys.argv[2])
"""


def test_killed_halfway_it_leaves_nothing(tmp_path: Path, saved) -> None:
    model, source = saved[0], saved[1] / "model"
    folder = tmp_path / "model"
    command = [sys.executable, "-c", KILLED, str(source), str(folder)]
    killed = subprocess.run(command, check=False, timeout=120)
    assert killed.returncode == -signal.SIGKILL
    assert not folder.exists()
    assert list(tmp_path.iterdir())  # what it has written, under a temporary name
    frame = alloys()
    save_pipeline(model, folder, frame[["load", "alloy"]], frame["strength"])
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


def test_a_refused_pipeline_leaves_nothing(tmp_path: Path, fitted) -> None:
    model, X, y = fitted
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "mine.txt").write_text("mine")
    with pytest.raises(FileExistsError, match="holds other files"):
        save_pipeline(model, tmp_path / "notes", X, y)
    folder = tmp_path / "model"
    with pytest.raises(ValueError, match=r"The `y` must have the 60 rows of `X`. Got 59."):
        save_pipeline(model, folder, X, y[:59])
    with pytest.raises(ValueError, match=r"another name than a column of `X`. Got 'load' twice."):
        save_pipeline(model, folder, X, y.rename("load"))
    with pytest.raises(ValueError, match=r"must be a DataFrame or an array .*Got list"):
        save_pipeline(model, folder, X.values.tolist(), y)
    with pytest.raises(TypeError, match=r"an estimator of vebnn, .*Got LinearRegression"):
        save_pipeline(pipeline_of(LinearRegression()).fit(X, y), folder, X, y)
    with pytest.raises(NotFittedError):
        save_pipeline(pipeline_of(brief()), folder, X, y)
    with_lambda = make_pipeline(FunctionTransformer(lambda rows: rows), model[-1])
    with pytest.raises(ValueError, match="The `model` must hold nothing but what can be read again"):
        save_pipeline(with_lambda, folder, X[["load"]], y)
    dated = X.assign(load=pandas.Timestamp("2020-01-01"))
    with pytest.raises(TableError, match=r"'load' must hold numbers or text, .*Got Timestamp"):
        save_pipeline(model, folder, dated, y)
    assert [path.name for path in tmp_path.iterdir()] == ["notes"]


def test_networks_of_your_own_are_refused(tmp_path: Path, fitted) -> None:
    model, X, y = fitted
    model = copy.deepcopy(model)
    model[-1].network = (lambda key, shape: None, lambda weights, x: x)
    with pytest.raises(ValueError, match=r"vebnn's own parts, .*Got another 'network'"):
        save_pipeline(model, tmp_path / "model", X, y)


def test_codes_as_numbers_are_refused_with_a_way_out(tmp_path: Path) -> None:
    frame = alloys()
    codes = frame["alloy"].map({"Al": 1, "Cu": 2, "Ti": 5})
    X, y = frame[["load"]].assign(alloy=codes), frame["strength"]
    with pytest.raises(ValueError, match=r"must take every number .*give codes as text"):
        save_pipeline(pipeline_of(brief(), unknown="error").fit(X, y), tmp_path / "model", X, y)
    X = X.assign(alloy=codes.astype(str))
    model = pipeline_of(brief(), unknown="error").fit(X, y)
    save_pipeline(model, tmp_path / "model", X, y)
    X.to_csv(tmp_path / "rows.csv", index=False)  # where they are numbers again
    table, rows = load_model_and_rows(tmp_path / "model", tmp_path / "rows.csv")
    np.testing.assert_array_equal(table.predict(rows).prediction.mean, model.predict(X))


def test_a_column_that_files_cannot_hold_is_refused(tmp_path: Path) -> None:
    frame = alloys()
    X = frame[["load"]].assign(alloy=frame["alloy"].where(frame["alloy"] != "Ti", None))
    model = pipeline_of(brief(), unknown="error").fit(X, frame["strength"])
    with pytest.raises(ValueError, match=r"as they are read from files, .* None as NaN. Got"):
        save_pipeline(model, tmp_path / "model", X, frame["strength"])


@pytest.mark.parametrize("name", sorted(FILES))
def test_an_edited_or_absent_file_is_refused(name: str, tmp_path: Path, fitted) -> None:
    model, X, y = fitted
    save_pipeline(model, tmp_path / "model", X, y)
    path = tmp_path / "model" / name
    content = path.read_bytes()
    middle = len(content) // 2
    path.write_bytes(content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :])
    for load in (load_pipeline, TableModel.load):
        with pytest.raises(ValueError, match=r"edited|format"):
            load(tmp_path / "model")
    path.unlink()
    for load in (load_pipeline, TableModel.load):
        with pytest.raises(ValueError, match="missing"):
            load(tmp_path / "model")


def put(folder: Path, content: bytes) -> None:
    """Exchange the composition, and make its checksum right."""
    (folder / "composition.skops").write_bytes(content)
    sealed = json.loads((folder / "pipeline.json").read_text())["pipeline"]
    sealed["composition"] = sha256(content).hexdigest()
    (folder / "pipeline.json").write_bytes(PIPELINE.seal(sealed))


class Evil:
    def __reduce__(self):
        return os.mkdir, ("executed",)


def test_a_pickle_is_refused_and_never_executed(tmp_path: Path, fitted, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    model, X, y = fitted
    save_pipeline(model, "model", X, y)
    put(Path("model"), pickle.dumps(Evil()))
    with pytest.raises(ValueError, match=r"composition.skops cannot be read \(BadZipFile"):
        load_pipeline("model")
    save_pipeline(model, "model", X, y)
    evil = np.empty(1, object)
    evil[0] = Evil()
    arrays = Path("evil.npy")
    np.save(arrays, evil, allow_pickle=True)
    source = zipfile.ZipFile("model/composition.skops")
    with zipfile.ZipFile("evil.zip", "w") as target:
        for name in source.namelist():
            content = arrays.read_bytes() if name.endswith(".npy") else source.read(name)
            target.writestr(name, content)
    put(Path("model"), Path("evil.zip").read_bytes())
    with pytest.raises(ValueError, match=r"composition.skops cannot be read \(ValueError: .*pickle"):
        load_pipeline("model")
    with pytest.raises(ValueError, match="cannot be read"):
        TableModel.load("model")
    assert not Path("executed").exists()


class Halved(TransformerMixin, BaseEstimator):
    """A transformer of one's own."""

    def fit(self, X, y=None):
        return self

    def transform(self, X):
        return X.assign(load=X["load"] / 2)


def test_own_transformers_must_be_trusted_by_name(tmp_path: Path, fitted) -> None:
    model, X, y = fitted
    model = Pipeline([("halved", Halved()), *model.steps])
    save_pipeline(model, tmp_path / "model", X, y)
    name = f"{Halved.__module__}.Halved"
    for load in (load_pipeline, TableModel.load):
        with pytest.raises(ValueError, match=f"asks for code that is not trusted: {name}. If you know"):
            load(tmp_path / "model")
    again = load_pipeline(tmp_path / "model", trusted=[name])
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    assert not np.array_equal(again.predict(X), fitted[0].predict(X))


def test_another_model_is_no_pipeline(tmp_path: Path, fitted) -> None:
    fitted[0][-1].save(tmp_path / "model")
    with pytest.raises(ValueError, match=r"no saved pipeline in .*pipeline.json is missing"):
        load_pipeline(tmp_path / "model")
