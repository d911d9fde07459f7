from pathlib import Path

import numpy as np
import pytest

from trust import coverage
from trust.invariance import prove_invariance
from trust.promises import Proof
from vebnn import VeBNNRegressor


def test_short_form(quick_compilation, tmp_path: Path) -> None:
    """Models too small to keep promises of accuracy keep those of units and order."""
    promises, figures = coverage.prove(short=True)
    Proof(coverage.TITLE, promises, figures, {}).write(tmp_path / "coverage.json")
    assert all(one.kept for one in promises[-3:]), promises
    assert [len(figures[name]) for name in ("coverage", "pure_noise", "without_noise")] == [2, 1, 1]
    assert {row["varying"] for row in figures["coverage"]} == {False, True}
    assert 0.5 < np.mean([row["coverage"] for row in figures["coverage"]]) <= 1
    assert figures["invariance"]["mirrored"] < 1


def test_the_full_form_uses_the_defaults(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []

    def fit(self: VeBNNRegressor, X: np.ndarray, y: np.ndarray) -> VeBNNRegressor:
        seen.append(self.get_params())
        raise InterruptedError

    monkeypatch.setattr(VeBNNRegressor, "fit", fit)
    with pytest.raises(InterruptedError):
        coverage.prove(short=False)
    assert seen == [VeBNNRegressor(random_state=0).get_params()]


class Guess:
    """Predicts mean 0 and std ``width``; in a table of other units it does not follow."""

    def __init__(self, width: float) -> None:
        self.width = width

    def predict(self, X: np.ndarray, return_std: bool) -> tuple[np.ndarray, np.ndarray]:
        return np.arange(len(X)) * self.width, np.full(len(X), self.width)


def test_a_model_that_depends_on_units_and_order_is_found_out() -> None:
    promises, _ = prove_invariance(lambda X, y, seed: Guess(1.0), 0)  # type: ignore[arg-type, return-value]
    assert [one.kept for one in promises] == [False, False, False]
