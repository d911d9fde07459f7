"""Algorithm 1 as a whole: rounds, variants, interruption."""

import jax
import numpy as np
import pytest

from tests.support.settings import quick
from vebnn import GRU, PSGHMC, PSGLD, Training, VeBNNRegressor
from vebnn.strategies.cooperative import algorithm, fold_stopping, steps
from vebnn.strategies.cooperative.rounds import MOST_ROUNDS
from vebnn.training import Observer, followed_by
from vebnn.training.checkpoint import Checkpoint

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
    assert stages.expected == [stages.names, stages.names[2:], stages.names[4:]]
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
    assert stages.expected[0] == stages.names
    assert model.chosen_round_ == 2
    assert [one.number for one in model.rounds_] == [1, 2]
    assert np.isfinite([one.validation_nll for one in model.rounds_]).all()


def test_cross_fitting_learns_new_residuals_for_every_round(data, stages):
    model = quick(rounds=2, verbose=1).fit(*data)
    assert "Round 2 · Step 1" in stages.names
    assert stages.expected[0] == stages.names
    assert len(model.rounds_) == 2


@pytest.mark.parametrize("residuals", ["in_sample", "posterior"])
def test_chains_continue_in_the_next_round_only_if_it_uses_their_residuals(
    data, monkeypatch, residuals
):
    runs = []

    def keep(engine, key, problem, stage):
        runs.append((problem.starts, run(engine, key, problem, stage)))
        return runs[-1][1]

    run = PSGLD.run
    monkeypatch.setattr(PSGLD, "run", keep)
    quick(rounds=2, residuals=residuals, choose_round="last").fit(*data)
    (first_starts, first), (second_starts, _) = runs
    ends = jax.tree.map(lambda leaf: leaf[:, -1], first.draws)
    expected = ends if residuals == "posterior" else first_starts
    jax.tree.map(np.testing.assert_array_equal, second_starts, expected)


def test_folds_stop_the_variance_network_of_sequences_and_many_rows(data, monkeypatch):
    folds = []

    def keep(*arguments, fold, **more):
        folds.append(fold)
        return train_variance(*arguments, fold=fold, **more)

    train_variance = steps.train_variance
    monkeypatch.setattr(steps, "train_variance", keep)
    quick().fit(*data)
    monkeypatch.setattr(fold_stopping, "FEWEST_ROWS", len(data[0]))
    quick(num_folds=2).fit(*data)
    quick(residuals="in_sample").fit(*data)
    paths = np.random.default_rng(1).normal(size=(12, 5, 2))
    recurrent = {"network": GRU((4,)), "variance_network": GRU((3,))}
    quick(**recurrent, num_folds=3).fit(paths, paths.sum(axis=2, keepdims=True))
    few, enough, in_sample, sequences = folds
    assert few is None
    assert set(enough) == {0, 1}
    assert in_sample is None
    assert sorted(sequences) == [0] * 4 + [1] * 4 + [2] * 4


def test_later_rounds_can_use_residuals_of_the_bayesian_network(data, stages, monkeypatch):
    learned = []

    def keep(key, start, loss, residuals, *rest, **more):
        learned.append(residuals)
        return train_variance(key, start, loss, residuals, *rest, **more)

    train_variance = steps.train_variance
    monkeypatch.setattr(steps, "train_variance", keep)
    settings = {"residuals": "posterior", "variance_inference": "map", "variance_loss": "gamma"}
    model = quick(rounds=2, verbose=1, **settings).fit(*data)
    assert "Round 2 · Step 1" not in stages.names
    first, second = learned
    # Round 1 is cross-fitted, and the networks of the folds do not agree; round 2 is not.
    assert (first.offset > 0).all()
    assert (second.offset == 0).all()
    once = quick(rounds=1, **settings).fit(*data)
    draws = once.predict_distribution(data[0]).draws
    expected = (((draws - data[1]) / np.std(data[1])) ** 2).mean(0)
    np.testing.assert_allclose(second.squared[:, 0], expected, rtol=1e-3, atol=1e-6)
    assert model.chosen_round_ == 2
    np.testing.assert_array_equal(
        once.predict(data[0]), quick(rounds=1, residuals="cross_fit").fit(*data).predict(data[0])
    )


def test_a_refit_sees_all_rows(data, stages):
    quick(refit=True, verbose=1).fit(*data)
    assert stages.names[:2] == ["Step 1", "Step 1 · all rows"]
    assert stages.expected[0] == stages.names


def test_the_best_learning_rate_trains_step_1(data, stages):
    # One is far too small; the other is that of the settings and gives the same bits as no choice.
    rates = (1e-6, quick().mean_training.learning_rate)
    model = quick(learning_rates=rates, verbose=1).fit(*data)
    assert stages.names[:2] == ["Step 1 · learning rates", "Step 1"]
    assert stages.num_runs["Step 1 · learning rates"] == 2
    assert stages.expected[0] == stages.names
    plain = quick().fit(*data)
    np.testing.assert_array_equal(model.predict(data[0]), plain.predict(data[0]))
    slow = quick(learning_rates=rates[:1]).fit(*data)
    assert (slow.predict(data[0]) != plain.predict(data[0])).any()


@pytest.fixture(scope="module")
def by_gamma(data):
    return quick().fit(*data).predict_distribution(data[0]).aleatoric_std


@pytest.mark.parametrize("variance_loss", ["nll", "beta_nll", "natural"])
def test_step_2_with_another_loss(data, variance_loss, by_gamma, tmp_path):
    model = quick(variance_loss=variance_loss).fit(*data)
    prediction = model.predict_distribution(data[0])
    # The same noise in another way: near that of the Gamma, and not the same.
    ratio = prediction.aleatoric_std / by_gamma
    assert 0.5 < np.median(ratio) < 2
    assert (ratio != 1).all()
    model.save(tmp_path / "model")
    loaded = VeBNNRegressor.load(tmp_path / "model")
    assert loaded.variance_loss == variance_loss
    there = loaded.predict_distribution(data[0])
    np.testing.assert_array_equal(there.aleatoric_std, prediction.aleatoric_std)
    np.testing.assert_array_equal(there.draws, prediction.draws)


def test_wrong_choices_get_a_sentence(data):
    with pytest.raises(ValueError, match="`variance_loss` must be one of 'gamma', 'gamma_half'"):
        quick(variance_loss="mse").fit(*data)
    with pytest.raises(ValueError, match="`learning_rates` must be a tuple"):
        quick(learning_rates=1e-3).fit(*data)


@pytest.mark.parametrize("pieces", [1, 3])
def test_an_interrupted_fit_is_resumed(data, tmp_path, monkeypatch, pieces):
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
    # A finished fit deletes its checkpoint.
    assert not folder.exists()


def test_a_checkpoint_of_other_data_is_refused(data, tmp_path, monkeypatch):
    def interrupted(self, stage, state, done, total, message):
        self._unwritten = (stage, state)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Checkpoint, "report", interrupted)
        with pytest.raises(KeyboardInterrupt):
            quick(checkpoint=tmp_path / "c").fit(*data)
    with pytest.raises(ValueError, match="made with other data, settings, random_state"):
        quick(checkpoint=tmp_path / "c").fit(data[0], -data[1])


def test_rounds_end_when_the_noise_has_settled(data):
    model = quick(inference=PSGHMC(num_samples=4, burn_in=100, thinning=5, num_chains=2)).fit(*data)
    noise = [one.typical_noise_std for one in model.rounds_]
    changes = np.abs(np.diff(np.log(noise)))
    assert len(noise) >= 3
    assert (changes[1:-1] >= steps.SETTLED).all()
    assert changes[-1] < steps.SETTLED or len(noise) == MOST_ROUNDS
    assert model.chosen_round_ == len(noise)


def test_rounds_that_do_not_settle_end(data, monkeypatch):
    monkeypatch.setattr(steps, "SETTLED", 0.0)
    monkeypatch.setattr(steps, "most_rounds", lambda num_rows: 4 if num_rows == len(data[0]) else 1)
    model = quick(inference=PSGHMC(num_samples=4, burn_in=5, num_chains=2)).fit(*data)
    assert len(model.rounds_) == 4


def test_the_noise_of_fold_networks_is_not_compared_with_that_of_draws(data, monkeypatch):
    monkeypatch.setattr(steps, "SETTLED", np.inf)
    model = quick(inference=PSGHMC(num_samples=4, burn_in=5, num_chains=2)).fit(*data)
    assert len(model.rounds_) == 3
    assert len(model.update(*data).rounds_) == 1  # its chains have learned noise before
    monkeypatch.setattr(algorithm, "MANY", len(data[0]) - 1)
    assert len(model.fit(*data).rounds_) == 2


def test_the_noise_keeps_the_unit_of_the_first_round(data, monkeypatch):
    units = []

    def keep(*arguments, scale, **more):
        units.append(scale)
        return sample_variance(*arguments, scale=scale, **more)

    sample_variance = steps.sample_variance
    monkeypatch.setattr(steps, "sample_variance", keep)
    engine = PSGHMC(num_samples=4, burn_in=100, thinning=5, num_chains=2)
    quick(inference=engine, variance_inference=engine, rounds=3).fit(*data)
    assert len(units) == 3
    assert all(unit is units[0] for unit in units)


class Steps(Observer):
    """Keeps the fit as it is after every step."""

    def __init__(self):
        self.found = {}

    def finish(self, step, so_far):
        self.found[step] = so_far()


@pytest.mark.parametrize("residuals", ["in_sample", "posterior"])
def test_an_observer_sees_the_fit_after_every_step(data, residuals):
    X, y = data
    steps = Steps()
    with followed_by(steps):
        model = quick(rounds=2, residuals=residuals, choose_round="last").fit(X, y)
    names = ["Step 1", *(f"Round {k} · Step {n}" for k in (1, 2) for n in (2, 3))]
    assert list(steps.found) == names
    start, noise, first, again, last = (
        model.with_fitted(steps.found[name]).predict_distribution(X) for name in names
    )
    final = model.predict_distribution(X)
    for field in ("mean", "aleatoric_variance", "epistemic_variance"):
        np.testing.assert_array_equal(getattr(last, field), getattr(final, field))
    # Step 1: a mean with constant noise, of the size of its residuals.
    assert not start.epistemic_variance.any()
    assert np.ptp(start.aleatoric_variance) < 1e-6 * start.aleatoric_variance[0]
    if residuals == "in_sample":
        size = np.mean((start.mean - y) ** 2)
        np.testing.assert_allclose(start.aleatoric_variance, size, rtol=1e-3)
    # Step 2 changes the noise alone, Step 3 the mean alone.
    np.testing.assert_array_equal(noise.mean, start.mean)
    np.testing.assert_array_equal(first.aleatoric_variance, noise.aleatoric_variance)
    np.testing.assert_array_equal(again.mean, first.mean)
    assert first.epistemic_variance.all()
    assert np.ptp(noise.aleatoric_variance) > 0
    model.fit(X, y)
    assert list(steps.found) == names  # outside the block, nobody follows


def test_step_1_can_be_skipped(data):
    steps = Steps()
    with followed_by(steps):
        model = quick(rounds=1, residuals="in_sample", mean_training=Training(0), verbose=1).fit(*data)
    untrained = steps.found["Step 1"].mean
    again = quick(rounds=1, residuals="in_sample", mean_training=Training(0)).fit(*data)
    jax.tree.map(np.testing.assert_array_equal, untrained, again.fitted_.mean)
    assert model.fitted_.mean_history.shape == (0, 2)
    # The chains of Step 3 still find the mean.
    assert np.corrcoef(model.predict(data[0]), data[1])[0, 1] > 0.8
