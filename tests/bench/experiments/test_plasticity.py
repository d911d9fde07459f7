"""The plasticity experiment, with models whose answers we choose."""

import io
import json
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from rich.console import Console
from scipy import stats

from tests.support.commands import run
from vebnn import GRU, Ensemble, MCDropout, Training
from vebnn.bench.comparison.measures import USUAL
from vebnn.bench.experiments import plasticity, plasticity_settings
from vebnn.bench.experiments.plasticity_claims import claims
from vebnn.bench.experiments.plasticity_settings import (
    PLASTICITY_PRESETS,
    Lengths,
    make_model,
    quick_lengths,
)
from vebnn.bench.methods import METHODS
from vebnn.datasets.plasticity import Plasticity
from vebnn.prediction import Prediction

STEPS = 12


def made_up(material: int, folder: Path | None = None) -> Plasticity:
    rng = np.random.default_rng(material)
    strain, test_strain = rng.normal(size=(30, STEPS, 3)), rng.normal(size=(4, STEPS, 3))
    scale = np.array([2.0, 2.0, 1.0])
    return Plasticity(
        strain=strain,
        stress=strain * scale,
        test_strain=test_strain,
        test_mean=test_strain * scale,
        test_std=np.full(test_strain.shape, 0.1 * material),
        units={},
        source=Path("made up"),
    )


class Fake:
    """Knows the truth, but for a shift of the mean and a factor on the noise."""

    fits: ClassVar[list[tuple]] = []
    held_out: ClassVar[list[int]] = []
    diagnostics_ = None

    def __init__(self, method: str, **changes) -> None:
        self.method, self.changes = method, changes

    def fit(self, X: np.ndarray, y: np.ndarray, X_val: Any = (), y_val: Any = ()) -> "Fake":
        Fake.held_out.append(len(X_val))
        Fake.fits.append((self.method, len(X), X[0, 0, 0]))
        self.num_paths = len(X)
        self.noise_std = 0.1 if np.isclose(X[0, 0, 0], made_up(1).strain).any() else 0.2
        return self

    def predict_distribution(self, X: np.ndarray) -> Prediction:
        cooperative = self.method.startswith("VeBNN")
        worse = self.changes.get("variance_loss") is not None
        noise = self.noise_std * (1.1 if cooperative and not worse else 1.5)
        ignorance = 0.0 if self.method == "ME (MSE)" else 1 / self.num_paths
        mean = X[..., :3] * [2.0, 2.0, 1.0]
        return Prediction(
            mean=mean * 1.01,
            aleatoric_variance=np.full_like(mean, noise**2),
            epistemic_variance=np.full_like(mean, ignorance**2),
            load_components=lambda: None,
        )


@pytest.fixture(autouse=True)
def fake(monkeypatch: pytest.MonkeyPatch) -> None:
    Fake.fits, Fake.held_out = [], []
    make = lambda method, preset, num_paths, seed, **more: Fake(method.name, **more)  # noqa: E731
    monkeypatch.setattr(plasticity, "make_model", make)
    monkeypatch.setattr(plasticity, "load_plasticity", made_up)


@pytest.fixture
def undrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Drawing takes longer than all else."""
    monkeypatch.setattr(plasticity, "save_figures", lambda *_: [])


def bench(folder: Path, **changes) -> tuple[list[dict], str]:
    console = Console(file=io.StringIO(), width=220)
    arguments = {
        "materials": [1, 2],
        "sizes": [5, 20],
        "names": ["ME (MSE)", "MVE (pSGLD)", "VeBNN (pSGLD)"],
        "repeats": [2],
        "preset": "quick",
        "ablation": None,
        "path": folder / "rows.jsonl",
        "folder": folder,
        "console": console,
        "jobs": 1,
    }
    rows = plasticity.bench_plasticity(**(arguments | changes))
    return rows, console.file.getvalue()  # type: ignore[attr-defined]


def test_figures_are_drawn(tmp_path: Path) -> None:
    _, text = bench(tmp_path, materials=[2], repeats=[1])
    for name in ("plasticity-2", "plasticity-2-paths", "plasticity-2-reliability"):
        assert (tmp_path / f"{name}.png").read_bytes().startswith(b"\x89PNG")
        assert f"{name}.png" in text


@pytest.mark.usefixtures("undrawn")
def test_every_case_is_run_and_none_twice(tmp_path: Path) -> None:
    rows, text = bench(tmp_path)
    assert len(rows) == len(Fake.fits) == 2 * 2 * 3 * 2
    assert "WA of VeBNN (pSGLD)" in text
    assert "epistemic ECE" in text
    assert "material 2, 20 paths" in text
    again, same = bench(tmp_path)
    assert len(Fake.fits) == 24
    assert again == rows
    assert same[same.index("Rows:") :] == text[text.index("Rows:") :]
    # A model that sees more paths sees the same ones first.
    of_repeat = {(size, first) for method, size, first in Fake.fits if method == "ME (MSE)"}
    assert len({first for size, first in of_repeat}) == 4  # two materials, two repeats


def test_sizes_may_have_repeats_of_their_own(tmp_path: Path) -> None:
    rows, text = bench(tmp_path, materials=[1], repeats=[3, 1])
    fits = [(row["num_paths"], row["repeat"]) for row in rows if row["method"] == "ME (MSE)"]
    assert sorted(fits) == [(5, 0), (5, 1), (5, 2), (20, 0)]
    assert "plasticity-1.png" in text


@pytest.mark.usefixtures("undrawn")
def test_scores_by_hand(tmp_path: Path) -> None:
    rows, _ = bench(tmp_path, materials=[1], sizes=[20], repeats=[1])
    by_method = {row["method"]: row for row in rows}
    ours, data = by_method["VeBNN (pSGLD)"], made_up(1)
    scale = data.stress.reshape(-1, 3).std(0)
    assert ours["rmse_percent"] == pytest.approx(1.0)
    distance = np.sqrt((0.01 * data.test_mean / scale) ** 2 + (0.01 / scale) ** 2)
    assert ours["wasserstein"] == pytest.approx(distance.mean())
    assert ours["noise_ratio"] == pytest.approx(1.1)
    assert ours["noise_std"] == pytest.approx(0.11)
    std = (1 / 20) / scale
    densities = stats.norm.logpdf(0.01 * data.test_mean / scale, scale=std)
    assert ours["epistemic_log_likelihood"] == pytest.approx(densities.mean())
    assert ours["epistemic_interval_length"] == pytest.approx(np.mean(2 * 1.959964 * std), rel=1e-5)
    inside = np.abs(0.01 * data.test_mean) <= 1.959964 * (1 / 20)
    assert ours["epistemic_coverage"] == pytest.approx(inside.mean())
    assert len(ours["reliability"]) == 9
    assert by_method["ME (MSE)"]["epistemic_coverage"] is None
    np.testing.assert_allclose(ours["curve"]["aleatoric_std"], 0.11)
    np.testing.assert_allclose(ours["curve"]["mean"], 1.01 * data.test_mean[0, :, 1], rtol=1e-3)
    assert ours["component"] == "22"
    in_stress = np.sqrt((0.01 * data.test_mean) ** 2 + 0.01**2)
    assert ours["wasserstein_mpa"] == pytest.approx(in_stress.mean())


@pytest.mark.usefixtures("undrawn")
def test_verdicts(tmp_path: Path) -> None:
    _, text = bench(tmp_path)
    assert "lower than MVE (pSGLD)" in text
    assert "within 5 % of ME (MSE) 1.00 %" in text
    assert "shrinks with more paths" in text
    assert (
        "noise of material 2 over material 1 by VeBNN (pSGLD) 2.00, within 15 % of the true 2.00"
        in text
    )
    assert "NOT" not in text
    row = {"material": 1, "num_paths": 5, "rmse_percent": 5.0, "wasserstein": 0.2, "epistemic_std": 1.0}
    joint = row | {"method": "MVE (Ensembles)", "wasserstein": 0.1}
    mean_only = row | {"method": "ME (MSE)", "rmse_percent": 4.0}
    lines = claims([row | {"method": "VeBNN (pSGLD)"}, joint, mean_only])
    assert "WA of VeBNN (pSGLD) 0.2000, NOT lower than MVE (Ensembles) 0.1000" in lines[0]
    assert "NOT within 5 %" in lines[1]


@pytest.mark.usefixtures("undrawn")
def test_ablations_change_one_thing_of_vebnn(tmp_path: Path) -> None:
    rows, text = bench(tmp_path, names=[], ablation="loss", materials=[1], sizes=[5])
    assert {name for name, _, _ in Fake.fits} == {"VeBNN (pSGLD)"}
    assert [row["method"] for row in rows[:4]] == ["Gamma", "Gaussian", "β-NLL", "Natural"]
    wasserstein = text[text.index("WA (↓)") : text.index("noise ratio")].splitlines()
    assert next(line for line in wasserstein if "Gamma" in line).split()[-1] == "1.00"  # its rank
    sizes = plasticity.ABLATIONS["size"]
    assert len(sizes) == 8
    assert sizes["2 × 128"] == {"variance_network": GRU((128, 128))}
    assert plasticity.ABLATIONS["rounds"]["K = 5"]["rounds"] == 5
    natural = plasticity.ABLATIONS["loss-in-sample"]["Natural"]
    assert natural == {"variance_loss": "natural", "residuals": "in_sample"}


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"sizes": [31]}, r"at most 30, the training paths of material 1\. Got 31"),
        ({"sizes": []}, r"at least one material and one number of paths"),
        ({"repeats": [0]}, r"The `repeats` must be a whole number of at least 1"),
        ({"repeats": [3, 2, 1]}, r"one number, or one for each of the 2 sizes. Got 3"),
        ({"preset": "slow"}, r"The `preset` must be one of 'paper', 'standard', 'quick'. Got 'slow'"),
        (
            {"ablation": "depth"},
            r"must be one of 'loss', 'loss-in-sample', 'rounds', 'size'",
        ),
        ({"ablation": "loss"}, r"An ablation varies VeBNN \(pSGLD\) alone\. Got methods ME"),
        ({"names": ["VeBNN"]}, r"There is no method 'VeBNN'"),
    ],
)
def test_bad_arguments_before_anything_is_fitted(tmp_path: Path, changes: dict, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        bench(tmp_path, **changes)
    assert not Fake.fits


@pytest.mark.usefixtures("undrawn")
def test_the_paper_sets_more_paths_aside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plasticity_settings, "RESERVED", 8)
    bench(tmp_path, materials=[1], sizes=[20, 30], names=["ME (MSE)"], repeats=[1], preset="paper")
    assert Fake.held_out == [8, 0]  # with all 30 paths, there are no more


def test_standard_inputs_have_their_changes() -> None:
    assert plasticity_settings.inputs_of("quick", np.ones((1, 2, 3))).shape == (1, 2, 3)
    found = plasticity_settings.inputs_of("standard", np.ones((1, 2, 3)))
    np.testing.assert_array_equal(found[0], [[1] * 6, [1] * 3 + [0] * 3])
    ours = make_model(METHODS["VeBNN (pSGLD)"], "standard", 100, 0)
    assert ours.network == GRU((64, 64), linear=True)
    assert ours.noise_within is None
    for preset in ("quick", "paper"):
        before = make_model(METHODS["VeBNN (pSGLD)"], preset, 100, 0)
        assert before.noise_within == "independent"


def test_the_papers_settings() -> None:
    ours = make_model(METHODS["VeBNN (pSGLD)"], "paper", 800, 3)
    assert ours.network == GRU((128, 128))
    assert ours.variance_network == GRU((8, 8))
    assert (ours.rounds, ours.residuals, ours.random_state) == (2, "in_sample", 3)
    assert ours.inference.burn_in + ours.inference.thinning * ours.inference.num_samples == 2_000
    joint = make_model(METHODS["MVE (Ensembles)"], "paper", 800, 0)
    assert joint.inference == Ensemble(5, Training(2_000, batch_size=1_000))
    dropped = make_model(METHODS["VeBNN (MC-Dropout)"], "paper", 800, 0)
    assert isinstance(dropped.inference, MCDropout)
    assert dropped.network == GRU((128, 128), dropout_rate=0.02)
    with pytest.raises(ValueError, match="would take days"):
        make_model(METHODS["VeBNN (NUTS)"], "paper", 800, 0)


@pytest.mark.usefixtures("quick_compilation")
def test_a_real_model_goes_all_the_way(monkeypatch: pytest.MonkeyPatch) -> None:
    tiny = Training(num_epochs=3)
    chain = {"num_samples": 4, "burn_in": 2, "thinning": 1}
    monkeypatch.setattr(plasticity_settings, "quick_lengths", lambda _: Lengths(tiny, tiny, chain))
    small = {"network": GRU((30,), dropout_rate=0.02), "variance_network": GRU((2,)), "num_folds": 2}
    monkeypatch.setattr(plasticity, "make_model", make_model)
    changes = {"VeBNN (MC-Dropout)": {"variance_loss": "natural", **small}}
    row = plasticity.score_case("quick", changes, None, 1, 8, "VeBNN (MC-Dropout)", 0)
    assert 0 < row["rmse_percent"] < 1_000
    assert row["epistemic_coverage"] is not None
    assert len(row["curve"]["mean"]) == STEPS
    after, names = row["steps"][-1], [one["step"] for one in row["steps"]]
    assert names == ["Step 1", *(f"Round {k} · Step {n}" for k in (1, 2) for n in (2, 3))]
    assert after["wasserstein"] == row["wasserstein"]
    assert row["steps"][0]["epistemic_coverage"] is None
    json.dumps(row, allow_nan=False)


@pytest.mark.parametrize("name", [name for name in METHODS if "NUTS" not in name])
def test_every_method_has_settings_that_its_estimator_takes(name: str) -> None:
    for preset in PLASTICITY_PRESETS:
        make_model(METHODS[name], preset, 50, 0)._strategy(50)


def test_quick_has_more_steps_for_more_paths() -> None:
    few, many = quick_lengths(50), quick_lengths(200)
    # Twice the steps for four times the paths, in epochs that are four times as long.
    assert few.training.num_epochs == 2 * many.training.num_epochs
    assert few.chain["burn_in"] == 2 * many.chain["burn_in"]


def test_the_command_says_what_is_wrong(tmp_path: Path) -> None:
    finished = run("bench", "plasticity", "--sizes", "fifty", cwd=tmp_path)
    assert finished.returncode != 0
    assert "--sizes must be whole numbers" in finished.stderr
    assert "Traceback" not in finished.stderr
    assert not list(tmp_path.iterdir())


@pytest.mark.usefixtures("undrawn")
def test_rows_of_other_data_are_kept_apart(tmp_path: Path) -> None:
    few = {"materials": [1], "sizes": [5], "repeats": [1]}
    ours, _ = bench(tmp_path, **few)
    theirs, _ = bench(tmp_path, **few, source=tmp_path / "authors")
    assert len(Fake.fits) == len(ours) + len(theirs)
    assert [row["settings"]["data"] for row in theirs] == [str(tmp_path / "authors")] * len(theirs)


@pytest.mark.usefixtures("undrawn")
def test_fields_are_in_every_row(tmp_path: Path) -> None:
    bench(tmp_path, materials=[1], sizes=[5], repeats=[1])
    for line in (tmp_path / "rows.jsonl").read_text().splitlines():
        assert set(USUAL["plasticity"]) <= json.loads(line).keys()
