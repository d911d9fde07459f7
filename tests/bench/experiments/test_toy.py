import io
from types import SimpleNamespace

import numpy as np
import pytest
from rich.console import Console

from tests.support.toy_model import ToyModel
from vebnn.bench.experiments import toy
from vebnn.bench.render.sheet import Sheet
from vebnn.bench.render.terminal import print_sheet
from vebnn.datasets.toy import load_toy


def plain(sheet: Sheet) -> str:
    console = Console(file=io.StringIO(), width=80)
    print_sheet(sheet, console)
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
        "outside_coverage": 0.9,
        "seconds": 12.0,
    }
    return {"seed": seed, **usual, **numbers}


def test_oracle_is_close_to_the_truth_and_improves_with_data() -> None:
    few, many = (toy.oracle_rmse(load_toy(size, random_state=0), 0) for size in (40, 200))
    assert 0.1 < many < 0.7
    assert many < few


@pytest.mark.parametrize(
    ("name", "good", "bad"),
    [
        ("rmse_ratio", 1.0, 1.01),
        ("noise_error", 0.12, 0.121),
        ("coverage", 0.94, 0.939),
        ("coverage", 0.96, 0.961),
        ("epistemic_ratio", 3.0, 2.9),
        ("outside_coverage", 0.8, 0.799),
    ],
)
def test_limits(name: str, good: float, bad: float) -> None:
    assert toy.COLUMNS[name].limit
    assert toy.COLUMNS[name].holds(good)
    assert not toy.COLUMNS[name].holds(bad)


def test_table_has_seeds_mean_and_limits() -> None:
    text = plain(toy.seeds_sheet([row(0, coverage=0.9), row(1, coverage=0.98)]))
    assert "0.940 ✓" in text  # the mean, within its limits
    for limit in ("≤ 1", "≤ 0.12", "0.94–0.96", "≥ 3", "≥ 0.8"):
        assert limit in text
    assert "✗" not in text
    assert "0.250 ✗" in plain(toy.seeds_sheet([row(0, noise_error=0.25)]))


def test_row_has_all_columns_of_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    fake = ToyModel(shift=0.1, ignorance=lambda x: 1 + np.maximum(x - 10, 0))
    model = SimpleNamespace(predict_distribution=fake.predict_distribution, diagnostics_=None)
    regressor = SimpleNamespace(fit=lambda X, y: model)
    monkeypatch.setattr(toy, "VeBNNRegressor", lambda random_state: regressor)
    numbers = toy.score_seed(0)
    assert numbers["rmse_ratio"] == pytest.approx(0.1 / numbers["oracle_rmse"])
    assert plain(toy.seeds_sheet([{"seed": 0, "seconds": 1.0, **numbers}]))


@pytest.mark.parametrize("seeds", [0, -3])
def test_no_seeds_is_an_error(seeds: int, tmp_path) -> None:
    with pytest.raises(ValueError, match="`seeds` must be a whole number of at least 1"):
        toy.bench_toy(seeds, tmp_path / "rows.jsonl", Console(file=io.StringIO()))
