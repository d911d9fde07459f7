import io
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from rich.console import Console

from vebnn.bench.experiments import two_modes
from vebnn.bench.figures.two_modes import plot_two_modes
from vebnn.bench.render.terminal import print_sheet
from vebnn.datasets.two_modes import load_two_modes, true_modes
from vebnn.prediction import Components, Modes, Prediction


def modes(x: np.ndarray, shift: float = 0.0, factor: float = 1.0, order=(0, 1)) -> Modes:
    truth = true_modes(x)
    parts = (truth.mean + shift, factor * truth.std, 0.1 * truth.std, truth.weight)
    return Modes(*(part[list(order)] for part in parts))


def fake_row(std_error: float = 0.05) -> dict:
    truth = true_modes(np.array([two_modes.SLICE_AT]))
    components = Components(truth.mean[None], truth.std[None] ** 2, truth.weight[None])
    at = Prediction(np.zeros(1), np.ones(1), np.zeros(1), lambda: components)
    numbers = dict.fromkeys(("mean_error", "std_error", "weight_error", "ignorance"), std_error)
    return {
        **numbers,
        **{f"slice_{name}": value for name, value in numbers.items()},
        "log_likelihood": -1.3,
        "one_mode": -2.3,
        "true_log_likelihood": -1.28,
        "r_hat": 1.1,
        "branches": two_modes.branches_of(modes(two_modes.INSIDE)),
        "slice": two_modes.slice_of(at),
    }


def printed(console: Console) -> str:
    return console.file.getvalue()  # type: ignore[attr-defined]


def test_the_truth_has_no_errors_whatever_the_labels() -> None:
    for order in ((0, 1), (1, 0)):
        found = two_modes.mode_errors(modes(two_modes.INSIDE, order=order), two_modes.INSIDE)
        assert found == {
            **dict.fromkeys(("mean_error", "std_error", "weight_error"), 0),
            "ignorance": pytest.approx(0.1),
        }


def test_each_flaw_moves_its_own_number() -> None:
    at_zero = np.array([0.0])  # means 2.5 and −1.5: a distance of 4
    assert two_modes.mode_errors(modes(at_zero, shift=0.4), at_zero)["mean_error"] == pytest.approx(0.1)
    assert two_modes.mode_errors(modes(at_zero, factor=0.8), at_zero)["std_error"] == pytest.approx(0.2)


def test_slice_is_the_mixtures_density() -> None:
    cut = fake_row()["slice"]
    density = np.interp(cut["mean"], cut["y"], cut["density"])
    # The height of a Gaussian peak times the weight of its mode.
    np.testing.assert_allclose(density, [0.6 / 0.4, 0.4 / 0.6] / np.sqrt(2 * np.pi), rtol=0.01)


def test_bench_draws_prints_and_resumes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []
    monkeypatch.setattr(two_modes, "score_seed", lambda seed: calls.append(seed) or fake_row())
    for _ in range(2):
        console = Console(file=io.StringIO(), width=80)
        rows = two_modes.bench_two_modes(2, tmp_path / "rows.jsonl", console, tmp_path / "figures")
    assert calls == [0, 1]  # the second run computes nothing
    assert [row["seed"] for row in rows] == [0, 1]
    for part in ("0.050 ✓", "≤ 0.1", "-1.30", "-2.30", "two-modes.png"):
        assert part in printed(console)
    assert (tmp_path / "figures" / "two-modes.png").read_bytes().startswith(b"\x89PNG")
    ElementTree.parse(tmp_path / "figures" / "two-modes.svg")


def test_a_broken_limit_is_marked() -> None:
    console = Console(file=io.StringIO(), width=80)
    print_sheet(two_modes.seeds_sheet([{"seed": 0, "seconds": 1.0, **fake_row(0.12)}]), console)
    assert "0.120 ✗" in printed(console)


def test_figure_shows_branches_and_slice() -> None:
    row = fake_row()
    figure = plot_two_modes(load_two_modes(100), row["branches"], row["slice"])
    left, right = figure.axes
    truth = true_modes(two_modes.INSIDE)
    lines = [line.get_ydata() for line in left.lines if len(line.get_ydata()) == len(two_modes.INSIDE)]
    # Two predicted means, two true ones, and the edges of two true bands.
    assert len(lines) == 8
    for mean in truth.mean:
        assert sum(np.allclose(line, mean, atol=1e-4) for line in lines) == 2
    assert right.get_title("left") == "The slice at x = 4"
    labels = {text.get_text() for panel in (left, right) for text in panel.get_legend().get_texts()}
    assert labels == {"data", "noise", "epistemic", "predicted mean", "truth", "predicted"}


@pytest.mark.parametrize("seeds", [0, -1])
def test_no_seeds_is_an_error(seeds: int, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="`seeds` must be a whole number of at least 1"):
        two_modes.bench_two_modes(seeds, tmp_path / "rows", Console(file=io.StringIO()), tmp_path)
