import io
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from vebnn.bench.experiments import toy
from vebnn.datasets.toy import load_toy, true_mean, true_noise_std
from vebnn.prediction import Prediction


class Fake:
    """Answers like a fitted model whose mean, noise and ignorance we choose."""

    def __init__(self, shift: float = 0.0, noise_factor: float = 1.0, ignorance: Any = None) -> None:
        self.shift, self.noise_factor = shift, noise_factor
        self.ignorance = ignorance or (lambda x: np.zeros_like(x))

    def predict_distribution(self, X: np.ndarray) -> Prediction:
        x = X[:, 0]
        return Prediction(
            mean=true_mean(x) + self.shift,
            aleatoric_variance=(self.noise_factor * true_noise_std(x)) ** 2,
            epistemic_variance=self.ignorance(x) ** 2,
            load_components=lambda: None,
        )


def score(model: Fake, seed: int = 0) -> toy.Score:
    return toy.score(model, seed)  # type: ignore[arg-type]


def plain(table: Any) -> str:
    console = Console(file=io.StringIO(), width=80)
    console.print(table)
    return console.file.getvalue()  # type: ignore[attr-defined]


def row(seed: int, **numbers: float) -> dict:
    usual = {
        "mean_rmse": 0.4,
        "oracle_rmse": 0.4,
        "rmse_ratio": 1.0,
        "noise_error": 0.1,
        "coverage": 0.95,
        "epistemic_inside": 0.5,
        "epistemic_outside": 5.0,
        "epistemic_ratio": 10.0,
        "seconds": 12.0,
    }
    return {"seed": seed, **usual, **numbers}


def test_the_truth_scores_perfectly() -> None:
    found = score(Fake(ignorance=lambda x: np.where(x > 10, 3.0, 1e-9)))
    assert found.mean_rmse == 0
    assert found.noise_error == 0
    # Four standard errors of a share of 10,000.
    assert abs(found.coverage - 0.95) < 4 * np.sqrt(0.95 * 0.05 / toy.NUM_FRESH)
    assert found.epistemic_inside == pytest.approx(1e-9)
    assert found.epistemic_outside == pytest.approx(3.0)


def test_each_flaw_moves_its_own_number() -> None:
    assert score(Fake(shift=0.7)).mean_rmse == pytest.approx(0.7)
    assert score(Fake(noise_factor=1.25)).noise_error == pytest.approx(0.25)
    # N(0, 1) is inside ±1.96/2 with probability 0.673.
    assert score(Fake(noise_factor=0.5)).coverage == pytest.approx(0.673, abs=0.02)


def test_ratio_compares_outside_with_inside() -> None:
    found = score(Fake(ignorance=lambda x: np.where(x > 10, 6.0, 2.0)))
    assert found.epistemic_ratio == pytest.approx(3.0)


def test_fresh_observations_differ_between_seeds_and_repeat_within() -> None:
    assert score(Fake(), 1).coverage == score(Fake(), 1).coverage
    assert len({score(Fake(), seed).coverage for seed in range(4)}) > 1


def test_oracle_is_close_to_the_truth_and_improves_with_data() -> None:
    few, many = (toy.oracle_rmse(load_toy(size, random_state=0), 0) for size in (40, 200))
    assert 0.1 < many < 0.7
    assert many < few


@pytest.mark.parametrize(
    ("name", "good", "bad"),
    [
        ("rmse_ratio", 1.35, 1.36),
        ("noise_error", 0.18, 0.181),
        ("coverage", 0.93, 0.929),
        ("coverage", 0.97, 0.971),
        ("epistemic_ratio", 3.0, 2.9),
    ],
)
def test_limits(name: str, good: float, bad: float) -> None:
    assert toy.LIMITS[name].holds(good)
    assert not toy.LIMITS[name].holds(bad)


def test_table_has_seeds_mean_and_limits() -> None:
    text = plain(toy.bench_table([row(0, coverage=0.9), row(1, coverage=0.98)]))
    assert "0.940 ✓" in text  # the mean, within its limits
    for limit in ("≤ 1.35", "≤ 0.18", "0.93–0.97", "≥ 3"):
        assert limit in text
    assert "✗" not in text
    assert "0.250 ✗" in plain(toy.bench_table([row(0, noise_error=0.25)]))


def test_demo_table_says_it_in_words() -> None:
    text = plain(toy.demo_table(toy.Score(0.41, 0.12, 0.953, 0.5, 12.3, -1.7, -5.0)))
    for part in ("RMSE of the mean", "0.41", "12%", "95.3%", "12.30"):
        assert part in text


def test_row_has_all_columns_of_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    fake = Fake(shift=0.1, ignorance=lambda x: 1 + np.maximum(x - 10, 0))
    model = SimpleNamespace(predict_distribution=fake.predict_distribution, diagnostics_=None)
    regressor = SimpleNamespace(fit=lambda X, y: model)
    monkeypatch.setattr(toy, "VeBNNRegressor", lambda random_state: regressor)
    numbers = toy.score_seed(0)
    assert numbers["rmse_ratio"] == pytest.approx(0.1 / numbers["oracle_rmse"])
    assert plain(toy.bench_table([{"seed": 0, "seconds": 1.0, **numbers}]))


@pytest.mark.parametrize("seeds", [0, -3])
def test_no_seeds_is_an_error(seeds: int, tmp_path) -> None:
    with pytest.raises(ValueError, match="seeds must be at least 1"):
        toy.bench_toy(seeds, tmp_path / "rows.jsonl", Console(file=io.StringIO()))
