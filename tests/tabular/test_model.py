"""A model of a table: divided honestly, saved whole, and recognising its own rows."""

import dataclasses
import hashlib
import json
import shutil
from collections import Counter
from pathlib import Path

import numpy as np
import pandas
import pytest

from alloys import TARGETS, alloys
from vebnn import PSGLD, Ensemble, JointRegressor, Training, VeBNNRegressor
from vebnn.serialization.files import write_bytes
from vebnn.serialization.folders import TABLE
from vebnn.tabular.advice import advise, coverage_verdict
from vebnn.tabular.effort import new_estimator
from vebnn.tabular.errors import TableError
from vebnn.tabular.model import TableModel
from vebnn.tabular.plan import plan_table
from vebnn.tabular.report.page import write_report
from vebnn.tabular.scores import TargetScore, score_targets

FILES = (
    *("history.json", "kept.safetensors", "table.json"),
    *("rows.safetensors", "model.json", "weights.safetensors"),
)


@pytest.fixture(scope="module")
def model(alloys_model: Path) -> TableModel:
    return TableModel.load(alloys_model)


def test_plan_holds_out_a_fifth_by_seed() -> None:
    first, second, other = (plan_table(alloys(), TARGETS, seed=seed) for seed in (0, 0, 1))
    assert len(first.held_out) == 16
    assert sorted([*first.held_out, *first.trained]) == list(range(80))
    np.testing.assert_array_equal(first.held_out, second.held_out)
    assert list(first.held_out) != list(other.held_out)
    assert len(plan_table(alloys(), TARGETS, hold_out=0).trained) == 80


def test_encoder_sees_only_the_training_rows() -> None:
    held_out = plan_table(alloys(), TARGETS).held_out
    frame = alloys()
    frame.loc[held_out[0], "alloy"] = "only held out"
    frame.loc[held_out[1], "temperature"] = 9_999.0
    plan = plan_table(frame, TARGETS)
    by_name = {column.name: column for column in plan.encoder.columns}
    assert "only held out" not in by_name["alloy"].categories
    assert by_name["temperature"].high < 500


def test_held_out_rows_are_named_by_their_place_in_the_table() -> None:
    frame = alloys()
    row = int(plan_table(frame, TARGETS).held_out[3])
    frame.loc[row, "temperature"] = np.inf
    with pytest.raises(TableError, match=f"row {row + 1} has inf"):
        plan_table(frame, TARGETS)


def test_constant_target() -> None:
    with pytest.raises(TableError, match="nothing to learn"):
        plan_table(alloys().assign(y=3.0), ["y"])


def test_model_recognises_the_rows_it_was_trained_on(model: TableModel) -> None:
    seen = model.was_trained_on(alloys())
    np.testing.assert_array_equal(np.flatnonzero(seen), plan_table(alloys(), TARGETS).trained)
    assert not model.was_trained_on(alloys(20, seed=9)).any()


def test_scores_of_the_fit_are_those_of_the_held_out_rows(model: TableModel) -> None:
    frame = alloys().iloc[plan_table(alloys(), TARGETS).held_out]
    p = model.predict(frame).prediction
    observed = frame[list(TARGETS)].to_numpy()
    errors = np.sqrt(np.mean((p.mean - observed) ** 2, axis=0))
    np.testing.assert_allclose([score.rmse for score in model.facts.scores], errors, rtol=1e-5)
    inside = np.abs(p.mean - observed) <= 1.959963984540054 * p.std
    np.testing.assert_allclose([score.coverage for score in model.facts.scores], inside.mean(0))


def test_saving_again_gives_the_same_files(
    model: TableModel, alloys_model: Path, tmp_path: Path
) -> None:
    model.save(tmp_path / "again")
    for path in alloys_model.iterdir():
        assert (tmp_path / "again" / path.name).read_bytes() == path.read_bytes()


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_jointly_trained_models_are_saved_and_reported(tmp_path: Path) -> None:
    engine = Ensemble(num_members=2, training=Training(num_epochs=20))
    plan = plan_table(alloys(40), TARGETS)
    model = TableModel.fit(JointRegressor(inference=engine, random_state=0), plan)
    model.save(tmp_path / "m")
    loaded = TableModel.load(tmp_path / "m")
    assert type(loaded.estimator) is JointRegressor
    np.testing.assert_array_equal(
        loaded.predict(alloys(5)).prediction.mean, model.predict(alloys(5)).prediction.mean
    )
    write_report(loaded, alloys(40), tmp_path / "r.html", data_name="a", model_name="m")


def test_other_files_are_not_overwritten(model: TableModel, tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(FileExistsError, match="holds other files"):
        model.save(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]
    with pytest.raises(FileExistsError, match="is a file"):
        model.save(tmp_path / "thesis.tex")


@pytest.mark.parametrize(
    "name",
    [*("kept.safetensors", "table.json"), *("rows.safetensors", "model.json", "weights.safetensors")],
)
@pytest.mark.parametrize("damage", ["edited", "truncated", "missing"])
def test_damaged_models_are_refused(alloys_model: Path, tmp_path: Path, name: str, damage: str) -> None:
    folder = tmp_path / "model"
    shutil.copytree(alloys_model, folder)
    content = (folder / name).read_bytes()
    if damage == "missing":
        (folder / name).unlink()
    else:
        cut = content[: len(content) // 2]
        (folder / name).write_bytes(cut if damage == "truncated" else content.replace(b"0", b"1", 1))
    with pytest.raises(ValueError, match=r"missing|truncated|changed"):
        TableModel.load(folder)


def test_loading_reads_and_hashes_each_file_once(alloys_model: Path, monkeypatch) -> None:
    contents = {path.read_bytes(): path.name for path in alloys_model.iterdir()}
    reads, hashes = Counter(), Counter()
    read_bytes, sha256 = Path.read_bytes, hashlib.sha256
    monkeypatch.setattr(Path, "read_bytes", lambda self: reads.update([self.name]) or read_bytes(self))
    monkeypatch.setattr(
        "vebnn.serialization.folders.sha256",
        lambda content: hashes.update([contents.get(content)]) or sha256(content),
    )
    TableModel.load(alloys_model)
    assert reads == dict.fromkeys(FILES, 1)
    # None: each of the three descriptions holds a checksum of its own body.
    assert hashes == dict.fromkeys(FILES[1:], 1) | {None: 3}


def test_models_of_the_future(alloys_model: Path, tmp_path: Path) -> None:
    description = json.loads((alloys_model / "table.json").read_bytes())
    (tmp_path / "table.json").write_text(json.dumps(description | {"format": 6}))
    with pytest.raises(ValueError, match=r"format 6; .* reads formats 1 to 5"):
        TableModel.load(tmp_path)


def test_models_from_before_there_was_calibration(
    model: TableModel, alloys_model: Path, tmp_path: Path
) -> None:
    shutil.copytree(alloys_model, tmp_path / "model")
    body = json.loads((alloys_model / "table.json").read_bytes())["table"]
    for name, value in (("calibration", None), ("num_calibrated", 0)):
        assert body["facts"].pop(name) == value
    (tmp_path / "model" / "table.json").write_bytes(TABLE.seal(body, 1))
    (tmp_path / "model" / "history.json").unlink()  # of another table.json
    assert TableModel.load(tmp_path / "model").facts == model.facts


def test_plan_keeps_rows_to_calibrate_on() -> None:
    without, plan = (plan_table(alloys(), TARGETS, calibrate=how) for how in (None, "common"))
    assert len(plan.calibrated) == 13  # a fifth of the 64 that are not held out
    np.testing.assert_array_equal(plan.held_out, without.held_out)
    assert sorted([*plan.trained, *plan.calibrated, *plan.held_out]) == list(range(80))
    assert len(without.calibrated) == 0
    with pytest.raises(TableError, match=r"'conformal' needs at least 19 .* Got 13 .* these are 91\."):
        plan_table(alloys(), TARGETS, calibrate="conformal")
    with pytest.raises(TableError, match="Got 18 rows, a fifth of the 90"):
        plan_table(alloys(90), TARGETS, calibrate="conformal", hold_out=0)
    assert len(plan_table(alloys(91), TARGETS, calibrate="conformal", hold_out=0).calibrated) == 19
    with pytest.raises(TableError, match=r"'separate' needs at least 10 rows .* Got 8 rows"):
        plan_table(alloys(40), TARGETS, calibrate="separate", hold_out=0)


def test_efforts_stretch_every_length() -> None:
    normal = new_estimator(100, inference="psghmc", effort="normal")
    assert normal.get_params() == VeBNNRegressor().get_params()
    quick = new_estimator(100, inference="psgld", effort="quick")
    whole = PSGLD.for_rows(100)
    assert quick.inference.burn_in == whole.burn_in // 4
    total = whole.burn_in + 40 * whole.thinning
    shorter = quick.inference.burn_in + 40 * quick.inference.thinning
    # The step size falls to a tenth over the run, however long it is.
    assert whole.decay**total == pytest.approx(0.1)
    assert quick.inference.decay**shorter == pytest.approx(0.1, rel=0.1)
    ensemble = new_estimator(100, inference="ensemble", effort="thorough")
    assert ensemble.inference.training.num_epochs == 4 * Ensemble.for_rows(100).training.num_epochs


def a_score(**changes) -> TargetScore:
    plain = TargetScore("y", 100, 1.0, 4.0, -1.0, 0.95, 0.95, 1.0, 0.5)
    return plain._replace(**changes)


@pytest.mark.parametrize(
    ("coverage", "num_rows", "verdict"),
    # The standard error of a coverage is √(0.95 · 0.05 / rows): 0.022 for 100 rows, 0.0069 for 1,000.
    [(0.95, 100, "honest"), (0.90, 100, "honest"), (0.90, 1000, "narrow"), (0.99, 1000, "wide")],
)
def test_coverage_is_judged_by_what_chance_can_do(coverage, num_rows, verdict) -> None:
    assert coverage_verdict(a_score(coverage=coverage, num_rows=num_rows)) == verdict


def test_advice() -> None:
    assert "80 % of the variance is noise" in " ".join(advise((a_score(),)))
    assert "more rows would help" in " ".join(advise((a_score(epistemic_std=3.0),)))
    assert "hardly better" in " ".join(advise((a_score(rmse=3.9),)))
    assert "--effort thorough" in " ".join(advise((), mixed=False))
    narrow = (a_score(coverage=0.7),)
    assert "--calibrate common" in " ".join(advise(narrow))
    assert "--calibrate" not in " ".join(advise(narrow, calibrated=True))


def test_scores_by_hand(model: TableModel) -> None:
    p = model.predict(alloys(3)).prediction
    (first, _) = score_targets(p, p.mean + p.std, TARGETS, (0.0, 0.0))
    assert first.rmse == pytest.approx(np.sqrt(np.mean(p.std[:, 0] ** 2)))
    assert first.coverage == 1
    # One standard deviation off: log N = −½ − log(std √2π).
    assert first.tll == pytest.approx(np.mean(-0.5 - np.log(p.std[:, 0] * np.sqrt(2 * np.pi))))


def test_predictions_keep_identifiers_but_need_none(model: TableModel) -> None:
    new = alloys(4, seed=2).drop(columns=["sample", "machine", *TARGETS])
    table = model.prediction_table(new, model.predict(new).prediction)
    assert list(table["row"]) == [1, 2, 3, 4]
    assert "sample" not in table
    assert isinstance(table, pandas.DataFrame)


def test_predictions_of_chains_that_disagree_have_a_notice(
    model: TableModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    new = alloys(4, seed=2)
    for r_hat, noticed in ((1.1, False), (1.3, True)):
        diagnostics = model.estimator.diagnostics_._replace(r_hat=np.full(5, r_hat))
        monkeypatch.setattr(model.estimator, "diagnostics_", diagnostics)
        assert any("spread of an ensemble" in one for one in model.predict(new).notices) == noticed


def test_identifiers_never_take_the_name_of_a_prediction(model: TableModel) -> None:
    frame = alloys(3).rename(columns={"sample": "strength_MPa_mean"})
    encoder = dataclasses.replace(model.encoder, identifiers=("strength_MPa_mean",))
    prediction = model.predict(alloys(3)).prediction
    table = dataclasses.replace(model, encoder=encoder).prediction_table(frame, prediction)
    assert table.columns.is_unique
    np.testing.assert_array_equal(table["strength_MPa_mean"], prediction.mean[:, 0])
    assert list(table["identifier_strength_MPa_mean"]) == list(frame["strength_MPa_mean"])


def test_a_save_writes_to_one_temporary_folder(model: TableModel, tmp_path: Path, monkeypatch) -> None:
    """What a killed save leaves is then found by its name, and deleted."""
    beside: list[set[str]] = []

    def note(path: Path, content: bytes) -> None:
        beside.append({one.name[:3] for one in path.parent.parent.iterdir()})
        write_bytes(path, content)

    monkeypatch.setattr("vebnn.serialization.folders.write_bytes", note)
    model.save(tmp_path / "m")
    assert beside == [{".m."}] * len(FILES)
