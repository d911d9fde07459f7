"""Algorithm 1 as a whole: rounds, variants, interruption."""

import numpy as np
import pytest

from settings import quick
from vebnn.observers import Checkpoint

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, (90, 1))
    return X, np.sin(X[:, 0]) + (0.1 + 0.1 * np.abs(X[:, 0])) * rng.normal(size=90)


def test_rounds_repeat_steps_2_and_3(data, stages):
    model = quick(rounds=2, residuals="in_sample", verbose=1).fit(*data)
    assert stages.names == [
        "Step 1",
        "Round 1 · Step 2",
        "Round 1 · Step 3",
        "Round 2 · Step 2",
        "Round 2 · Step 3",
    ]
    assert [one.number for one in model.rounds_] == [1, 2]
    assert np.isfinite([one.log_marginal_likelihood for one in model.rounds_]).all()
    assert np.isfinite([one.validation_nll for one in model.rounds_]).all()


def test_the_mean_variant_runs_step_3_once(data, stages):
    model = quick(rounds=2, residuals="in_sample", iterate="mean", verbose=1).fit(*data)
    assert stages.names == [
        "Step 1",
        "Round 1 · Step 2",
        "Round 2 · Step 1",
        "Round 2 · Step 2",
        "Round 2 · Step 3",
    ]
    assert model.chosen_round_ == 2
    assert [one.number for one in model.rounds_] == [1, 2]
    assert np.isfinite([one.validation_nll for one in model.rounds_]).all()


def test_cross_fitting_learns_new_residuals_for_every_round(data, stages):
    model = quick(rounds=2, verbose=1).fit(*data)
    assert "Round 2 · Step 1" in stages.names
    assert len(model.rounds_) == 2


def test_a_refit_sees_all_rows(data, stages):
    quick(refit=True, verbose=1).fit(*data)
    assert stages.names[:2] == ["Step 1", "Step 1 · all rows"]


@pytest.mark.parametrize("pieces", [1, 3])
def test_an_interrupted_fit_goes_on_where_it_was(data, tmp_path, monkeypatch, pieces):
    folder = tmp_path / "checkpoint"
    whole = quick().fit(*data)
    report = Checkpoint.report
    seen = []

    def interrupted(self, *arguments):
        report(self, *arguments)
        seen.append(arguments[0])
        if len(seen) == pieces:
            raise KeyboardInterrupt

    monkeypatch.setattr(Checkpoint, "report", interrupted)
    with pytest.raises(KeyboardInterrupt):
        quick(checkpoint=folder).fit(*data)
    assert list(folder.iterdir())
    monkeypatch.setattr(Checkpoint, "report", report)
    resumed = quick(checkpoint=folder).fit(*data)
    np.testing.assert_array_equal(resumed.predict(data[0]), whole.predict(data[0]))
    # Nothing is left behind once the work is done.
    assert not folder.exists()


def test_a_checkpoint_of_other_data_is_refused(data, tmp_path, monkeypatch):
    def interrupted(self, stage, state, done, total, message):
        self._unwritten = (stage, state)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Checkpoint, "report", interrupted)
        with pytest.raises(KeyboardInterrupt):
            quick(checkpoint=tmp_path / "c").fit(*data)
    with pytest.raises(ValueError, match="made with other data, settings or random_state"):
        quick(checkpoint=tmp_path / "c").fit(data[0], -data[1])
