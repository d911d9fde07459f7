import io
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from rich.console import Console

from vebnn.bench.experiments import active
from vebnn.bench.render.terminal import print_sheet
from vebnn.datasets.toy import true_mean, true_noise_std
from vebnn.prediction import Components, Prediction


class Fake:
    """Knows the truth but for a hole around x = 3, and as much noise as there is."""

    def __init__(self, seed: int) -> None:
        self.seed = seed

    def fit(self, X: np.ndarray, y: np.ndarray) -> "Fake":
        self.X, self.y = X, y
        return self

    def predict_distribution(self, X: np.ndarray) -> Prediction:
        x = X[:, 0]
        # Directions of ignorance that no two places share.
        frequencies = np.arange(1, 41)
        hole = np.exp(-((x - 3) ** 2))
        draws = true_mean(x) + hole * np.sin(np.outer(frequencies, x))
        return Prediction(
            mean=true_mean(x) + 1 / len(self.X),
            aleatoric_variance=true_noise_std(x) ** 2,
            epistemic_variance=draws.var(0),
            load_components=lambda: Components.of_draws(draws, true_noise_std(x)[None] ** 2),
        )


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(active, "new_model", Fake)


@pytest.fixture
def console() -> Console:
    return Console(file=io.StringIO(), width=110)


@pytest.mark.usefixtures("fake")
def test_a_curve_has_the_error_of_every_round() -> None:
    row = active.learn(0, "random")
    np.testing.assert_allclose(row["rmse"], 1 / active.SIZES)
    assert len(row["asked"]) == len(set(row["asked"])) == active.SIZES[-1] - active.SIZES[0]
    assert set(row["asked"]) <= set(active.POOL)


@pytest.mark.usefixtures("fake")
def test_each_method_asks_where_its_score_is() -> None:
    asked = {method: np.array(active.learn(0, method)["asked"]) for method in active.ACQUISITIONS}
    for method in ("epistemic", "bald"):
        assert np.abs(asked[method] - 3).max() < 2.5  # in the hole
    assert asked["total"].min() > 8.8  # the 24 noisiest places there are
    assert np.ptp(asked["random"]) > 5


@pytest.mark.usefixtures("fake")
def test_measurements_are_new_ones_with_noise(monkeypatch: pytest.MonkeyPatch) -> None:
    models = []
    monkeypatch.setattr(active, "new_model", lambda seed: models.append(Fake(seed)) or models[-1])
    active.learn(3, "total")
    last = models[-1]
    assert [len(model.X) for model in models] == list(active.SIZES)
    assert {model.seed for model in models} == {3}
    surprise = (last.y - true_mean(last.X[:, 0])) / true_noise_std(last.X[:, 0])
    assert len(set(surprise)) == len(last.y)
    assert 0.5 < surprise.std() < 1.6


@pytest.mark.usefixtures("fake")
def test_bench_writes_rows_and_figure_and_is_resumed(tmp_path: Path, console: Console) -> None:
    path = tmp_path / "new" / "curves.jsonl"
    rows = active.bench_active(2, path, console)
    assert len(rows) == len(path.read_text().splitlines()) == 2 * len(active.ACQUISITIONS)
    assert (path.parent / "curves.png").read_bytes().startswith(b"\x89PNG")
    assert (path.parent / "curves.svg").exists()
    text = console.file.getvalue()  # type: ignore[attr-defined]
    for part in ("epistemic", "bald", "total", "random", "2 seeds", str(path)):
        assert part in text
    before = path.read_bytes()
    assert active.bench_active(2, path, console) == rows
    assert path.read_bytes() == before


def test_table_compares_seed_by_seed(console: Console) -> None:
    flat = np.ones((3, active.NUM_ROUNDS + 1))
    errors = {"epistemic": flat, "total": flat * np.array([[2.0], [3.0], [0.4]])}
    asked = {"epistemic": np.array([1.0, 9.0]), "total": np.array([8.0, 8.5, 9.0, 1.0])}
    print_sheet(active.methods_sheet(errors, asked), console)
    lines = console.file.getvalue().splitlines()  # type: ignore[attr-defined]
    (total,) = [line for line in lines if line.split()[:1] == ["total"]]
    # Curve 1.80; behind by 1, 2 and −0.6: 0.80 on average, with standard error √(1.72/3).
    for part in ("1.80", "0.80 ± 0.76", "2/3", "75%"):
        assert part in total
    (reference,) = [line for line in lines if line.split()[:1] == ["epistemic"]]
    assert "±" not in reference
    assert "50%" in reference


def test_no_seeds_is_an_error(tmp_path: Path, console: Console) -> None:
    with pytest.raises(ValueError, match=r"`seeds` must be a whole number of at least 1. Got 0"):
        active.bench_active(0, tmp_path / "rows.jsonl", console)


def test_the_model_is_a_real_one() -> None:
    model = active.new_model(4)
    assert model.random_state == 4
    assert SimpleNamespace(**model.get_params()).inference == active.ENGINE
