"""An update: chains go on with more rows, in the units of the first fit."""

import dataclasses

import jax
import numpy as np
import pytest

from tests.support.settings import quick, quick_joint
from vebnn import MLP, PSGHMC, VeBNNRegressor
from vebnn.inference import Posterior

pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.usefixtures("quick_compilation"),
]
SHORT = PSGHMC(num_samples=20, burn_in=200, thinning=5, num_chains=2)


def small(**changes) -> VeBNNRegressor:
    plain = {"inference": SHORT, "variance_inference": SHORT, "residuals": "posterior", "rounds": 1}
    return quick(**(plain | changes))


@pytest.fixture(scope="module")
def rows():
    """Rows whose second half is where the first half is not."""
    rng = np.random.default_rng(0)
    x = np.concatenate([rng.uniform(-2, 0, 40), rng.uniform(0, 2, 40)])
    return x[:, None], 20 + 5 * np.sin(2 * x) + rng.normal(0, 0.5, 80)


@pytest.fixture(scope="module")
def first(rows):
    X, y = rows
    return small().fit(X[:40], y[:40])


def again(first: VeBNNRegressor) -> VeBNNRegressor:
    same = object.__new__(VeBNNRegressor)
    same.__dict__ = vars(first).copy()
    return same


def test_ignorance_shrinks_where_new_rows_are(rows, first) -> None:
    model, there = again(first), np.array([[1.0], [1.5], [1.9]])
    before = model.predict_distribution(there)
    assert model.update(*rows) is model
    after = model.predict_distribution(there)
    assert (after.epistemic_std < 0.5 * before.epistemic_std).all()
    truth = 20 + 5 * np.sin(2 * there[:, 0])
    assert np.abs(after.mean - truth).max() < np.abs(before.mean - truth).max()
    assert np.abs(after.mean - truth).max() < 1.5


def test_chains_of_both_networks_start_where_they_ended(rows, first, monkeypatch) -> None:
    runs: list[tuple] = []

    def keep(engine, key, problem, stage) -> Posterior:
        runs.append((stage.name, problem.starts, run(engine, key, problem, stage)))
        return runs[-1][2]

    run = PSGHMC.run
    monkeypatch.setattr(PSGHMC, "run", keep)
    again(first).update(*rows)
    names = [name for name, _, _ in runs]
    assert names == ["Settling · Step 3", "Round 1 · Step 2", "Round 1 · Step 3"]  # and no Step 1
    (_, settling, settled), (_, noise, _), (_, last, _) = runs
    jax.tree.map(np.testing.assert_array_equal, settling, _ends(first.fitted_.posterior.draws))
    jax.tree.map(np.testing.assert_array_equal, last, _ends(settled.draws))
    # Draws of the noise are pooled: 2 chains of 20.
    of_noise = jax.tree.map(lambda leaf: leaf[[19, 39]], first.fitted_.noise.draws)
    jax.tree.map(np.testing.assert_array_equal, noise, of_noise)


def _ends(draws):
    return jax.tree.map(lambda leaf: leaf[:, -1], draws)


def test_units_are_those_of_the_first_fit(rows, first) -> None:
    X, y = rows
    model = again(first).update(X, y)
    for name in ("x_units_", "y_units_"):
        for mine, theirs in zip(getattr(model, name), getattr(first, name), strict=True):
            np.testing.assert_array_equal(mine, theirs)
    np.testing.assert_array_equal(model.fitted_.noise.scale, first.fitted_.noise.scale)
    assert model.y_units_.centre == pytest.approx(y[:40].mean())


def test_a_saved_model_goes_on_as_the_original(rows, first, tmp_path) -> None:
    first.save(tmp_path / "model")
    loaded, original = VeBNNRegressor.load(tmp_path / "model"), again(first)
    for model in (loaded, original):
        model.update(*rows)
    X = np.linspace(-2, 2, 9)[:, None]
    np.testing.assert_array_equal(
        loaded.predict_distribution(X).draws, original.predict_distribution(X).draws
    )
    # The next update has other random numbers.
    draws = original.predict_distribution(X).draws
    original.update(*rows)
    assert not np.array_equal(original.predict_distribution(X).draws, draws)


def test_a_calibration_is_discarded(rows, first) -> None:
    model = again(first).calibrate(*(part[40:] for part in rows))
    assert model.calibration_ is not None
    assert model.update(*rows).calibration_ is None


def test_an_interrupted_update_leaves_the_model_as_it_was(rows, first, monkeypatch) -> None:
    model, X = again(first), np.zeros((1, 1))
    before = model.predict_distribution(X).draws
    monkeypatch.setattr(PSGHMC, "run", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        model.update(*rows)
    np.testing.assert_array_equal(model.predict_distribution(X).draws, before)


def test_weights_and_groups_are_those_of_fit(rows, first) -> None:
    X, y = rows
    groups = np.arange(80) // 2
    plain = again(first).update(X, y, groups=groups).predict(X[60:])
    less = again(first).update(X, y, np.repeat([1, 1e-3], 40), groups=groups).predict(X[60:])
    # The new rows hardly count.
    assert np.abs(less - y[60:]).mean() > 2 * np.abs(plain - y[60:]).mean()


@pytest.mark.parametrize(
    "changes",
    [{"residuals": "cross_fit"}, {"iterate": "mean"}, {"residuals": "in_sample"}],
)
def test_without_chains_to_continue_it_is_refused(rows, first, changes) -> None:
    model = again(first).set_params(**changes)
    assert not model.can_update
    with pytest.raises(ValueError, match=r"must have chains to continue.*call fit with all rows"):
        model.update(*rows)
    assert not hasattr(quick_joint(), "update")


def test_one_network_has_no_chains(first) -> None:
    point = first.fitted_.posterior._replace(markov=False)
    model = again(first)
    model.fitted_ = dataclasses.replace(model.fitted_, posterior=point)
    assert not model.can_update


@pytest.mark.parametrize("name", ["network", "variance_network"])
def test_other_networks_are_refused(rows, first, name) -> None:
    """The model would be saved with the new name and the old weights, and not load again."""
    model = again(first).set_params(**{name: MLP((7,), "tanh")})
    with pytest.raises(ValueError, match=f"`{name}` must be that of the fit"):
        model.update(*rows)
    assert model.fitted_ is first.fitted_


def test_other_shapes_are_refused(rows, first) -> None:
    X, y = rows
    with pytest.raises(ValueError, match=r"`y` must have shape \(rows\), as in fit. Got \(80, 2\)"):
        again(first).update(X, np.column_stack([y, y]))
    with pytest.raises(ValueError, match="2 features"):
        again(first).update(np.hstack([X, X]), y)
    with pytest.raises(ValueError, match="`target` must be that of the fit"):
        again(first).set_params(target="positive").update(X, y)
    with pytest.raises(ValueError, match="not fitted"):
        VeBNNRegressor().update(X, y)
