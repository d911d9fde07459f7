"""The comparison of methods, with models whose answers we choose."""

import io
import json
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
from rich.console import Console
from scipy import stats

from vebnn import MLP
from vebnn.bench.experiments import sweep, toy_methods
from vebnn.bench.experiments.sweep import PANELS
from vebnn.bench.experiments.toy_methods import CURVE_AT
from vebnn.bench.experiments.toy_settings import make_toy_model
from vebnn.bench.figures.convergence import plot_convergence
from vebnn.bench.methods import ALL, METHODS, Method
from vebnn.datasets.toy import true_mean, true_noise_std
from vebnn.datasets.toy_score import score_toy
from vebnn.prediction import Prediction


class Fake:
    """Knows the truth, but for a factor on the noise that tells strategies apart."""

    fits: ClassVar[list[int]] = []

    def __init__(self, factor: float, ignorance: float, shift: float = 0.0) -> None:
        self.factor, self.ignorance, self.shift = factor, ignorance, shift

    def fit(self, X: np.ndarray, y: np.ndarray) -> "Fake":
        Fake.fits.append(len(X))
        return self

    def predict_distribution(self, X: np.ndarray) -> Prediction:
        x = X[:, 0]
        return Prediction(
            mean=true_mean(x) + self.shift,
            aleatoric_variance=(self.factor * true_noise_std(x)) ** 2,
            epistemic_variance=np.full_like(x, self.ignorance**2),
            load_components=lambda: None,
        )


@pytest.fixture
def real() -> None:
    """Mark a test that needs the estimators."""


@pytest.fixture(autouse=True)
def fake(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    Fake.fits = []
    if "real" in request.fixturenames:
        return

    def make(self: Method, **more: int) -> Fake:
        noise = 1.1 if self.strategy == "cooperative" else 1.5
        return Fake(noise, 0.0 if self.engine is None else 0.5, shift=0.25)

    monkeypatch.setattr(Method, "make", make)


def console() -> Console:
    return Console(file=io.StringIO(), width=200)


def printed(console: Console) -> str:
    return console.file.getvalue()  # type: ignore[attr-defined]


def test_all_methods_are_compared_and_drawn(tmp_path: Path) -> None:
    where = console()
    rows = toy_methods.bench_methods(["all"], 2, tmp_path / "rows.jsonl", tmp_path, where)
    assert {row["method"] for row in rows} == {name for name in METHODS if "=" not in name}
    assert len(rows) == 2 * len(ALL) == len(Fake.fits)
    text = printed(where)
    for name in ALL:
        assert name in text
    better = next(line for line in text.splitlines() if "VeBNN better" in line)
    assert "pSGLD (0.100 against 0.500)" in better
    assert "VeBNN worse" not in text
    assert (tmp_path / "strategies.png").read_bytes().startswith(b"\x89PNG")


def test_a_second_run_fits_nothing_and_says_the_same(tmp_path: Path) -> None:
    texts = []
    for _ in range(2):
        where = console()
        names = ["ve bnn (PSGLD)", "MVE (pSGLD)"]
        toy_methods.bench_methods(names, 1, tmp_path / "rows.jsonl", tmp_path, where)
        texts.append(printed(where)[printed(where).index("Toy:") :])
    assert len(Fake.fits) == 2
    assert texts[0] == texts[1]


def test_unknown_methods_get_a_sentence_before_anything_is_fitted(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="There is no method 'VeBNN'"):
        toy_methods.bench_methods(["VeBNN"], 1, tmp_path / "rows.jsonl", tmp_path, console())
    with pytest.raises(ValueError, match="at least one method"):
        toy_methods.bench_methods([], 1, tmp_path / "rows.jsonl", tmp_path, console())
    assert not Fake.fits


def test_the_likelihoods_are_those_of_fresh_noise() -> None:
    found = score_toy(Fake(1.0, 0.0).predict_distribution, seed=0)
    # The expected log-density of a Gaussian under itself, −½ log(2πe σ²), averaged over x.
    inside = np.linspace(0, 10, 10_001)
    expected = -stats.norm(scale=true_noise_std(inside)).entropy().mean()
    assert found.tll_inside == pytest.approx(expected, abs=0.03)
    outside = np.concatenate([np.linspace(-4, 0, 5_001), np.linspace(10, 14, 5_001)])
    expected = -stats.norm(scale=true_noise_std(outside)).entropy().mean()
    assert found.tll_outside == pytest.approx(expected, abs=0.1)


@pytest.mark.parametrize(("epistemic", "share"), [(0.5, 0.0), (0.52, 1.0)])
def test_truths_outside_are_counted_by_epistemic_intervals(epistemic: float, share: float) -> None:
    # Means off by one are inside ± 1.96 · 0.52, and outside ± 1.96 · 0.5. Noise does not count.
    found = score_toy(Fake(5.0, epistemic, shift=1.0).predict_distribution, seed=0)
    assert found.outside_coverage == share


def test_sweep_runs_every_size_and_resumes(tmp_path: Path) -> None:
    path, where = tmp_path / "rows.jsonl", console()
    noises = ["heteroscedastic", "homoscedastic"]
    rows = sweep.bench_sweep(noises, [], 2, path, tmp_path, where)
    assert len(rows) == len(Fake.fits) == 2 * (7 * 3 + 6 * 4)
    assert min(Fake.fits) == 5
    assert max(Fake.fits) == 500
    for noise in noises:
        for name in (f"sweep-{noise}", f"sweep-{noise}-fits"):
            assert (tmp_path / f"{name}.png").read_bytes().startswith(b"\x89PNG")
    # Half of the rows are lost; the second run brings them back, and prints the same tables.
    lines = path.read_text().splitlines(True)
    path.write_text("".join(lines[: len(lines) // 2]))
    again = console()
    sweep.bench_sweep(noises, [], 2, path, tmp_path, again)
    assert len(Fake.fits) == len(rows) + len(lines) - len(lines) // 2
    assert printed(again) == printed(where)
    one = json.loads(lines[0])
    assert one["mean_rmse"] == pytest.approx(0.25)
    assert one["epistemic_tll"] is None  # a single network


def test_sweep_scores_ignorance_against_the_truth() -> None:
    row = sweep.score_size("standard", "heteroscedastic", "VeBNN (pSGLD)", 5, 0)
    assert row["epistemic_tll"] == pytest.approx(stats.norm(scale=0.5).logpdf(0.25))
    assert row["noise_rmse"] == pytest.approx(0.1 * np.sqrt(0.09 * (1 + 100 / 3)), rel=0.05)


def test_medians_and_ranges_are_drawn() -> None:
    values = {5: (1.0, 5.0, 2.0), 50: (0.5, 0.1, 0.3)}
    rows = [
        {"method": name, "num_rows": size, **dict.fromkeys(PANELS, value), **changes}
        for name, changes in (("VeBNN (pSGLD)", {}), ("MVE (NLL)", {"epistemic_tll": None}))
        for size, some in values.items()
        for value in some
    ]
    figure = plot_convergence(rows, "num_rows", PANELS, "training points")
    lines = [axes.get_lines() for axes in figure.axes]
    assert [len(one) for one in lines] == [2, 2, 1, 2]
    np.testing.assert_allclose(lines[0][0].get_ydata(), [2.0, 0.3])
    band = figure.axes[0].collections[0].get_paths()[0].vertices[:, 1]
    assert (band.min(), band.max()) == (0.1, 5.0)


def test_the_canonical_figure_has_beta_nll_and_two_steps() -> None:
    curve = {name: [1.0] * len(CURVE_AT) for name in ("mean", "aleatoric_std", "epistemic_std")}
    steps = [{"step": name, "curve": curve} for name in ("Step 1", "Round 1 · Step 2")]
    rows = [
        {"method": "MVE (β-NLL=0.5)", "seed": 0, "curve": curve},
        {"method": "VeBNN (pSGLD)", "seed": 0, "curve": curve, "steps": steps},
    ]
    (figure,) = toy_methods.figures_of(rows).values()
    titles = [axes.get_title(loc="left") for axes in figure.axes]
    assert titles == ["MVE (β-NLL=0.5)", "mean network", "and variance"]
    assert not toy_methods.figures_of(rows[1:])


@pytest.mark.usefixtures("real")
def test_the_preset_of_the_paper_has_its_networks_and_lengths() -> None:
    ours = make_toy_model("VeBNN (pSGLD)", "paper", 3)
    assert ours.network == MLP((256, 256), "tanh")
    assert ours.variance_network == MLP((5,), "tanh")
    assert (ours.rounds, ours.residuals, ours.random_state) == (2, "in_sample", 3)
    joint = make_toy_model("MVE (β-NLL=0.5)", "paper", 0)
    assert (joint.network, joint.beta) == (MLP((256, 256), "tanh"), 0.5)
    assert joint.training.num_epochs == 20_000
    assert repr(make_toy_model("MVE (pSGLD)", "standard", 1)) == repr(
        METHODS["MVE (pSGLD)"].make(random_state=1)
    )
    with pytest.raises(ValueError, match="`preset` must be one of 'standard', 'paper'"):
        make_toy_model("MVE (pSGLD)", "quick", 0)


def test_presets_have_rows_of_their_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(toy_methods, "make_toy_model", lambda name, *_: METHODS[name].make())
    for preset in ("standard", "paper"):
        arguments = ["MVE (pSGLD)"], 1, tmp_path / "rows.jsonl", tmp_path, console()
        toy_methods.bench_methods(*arguments, preset)
    assert len(Fake.fits) == 2
