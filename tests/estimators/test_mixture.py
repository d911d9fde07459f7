import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import integrate, stats

from tests.support.settings import quick, quick_mixture
from vebnn import MAP, Ensemble, MixtureRegressor, Training

pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.usefixtures("quick_compilation"),
]

NUM_ROWS = 240


@pytest.fixture(scope="module")
def data():
    """Two branches, 60 + 10 sin x and 20 + 5 x with weights ¼ and ¾, and stds of 1 and 3."""
    rng = np.random.default_rng(0)
    x = rng.uniform(-2, 2, NUM_ROWS)
    upper = rng.random(NUM_ROWS) < 0.25
    mean = np.where(upper, 60 + 10 * np.sin(x), 20 + 5 * x)
    return x[:, None], mean + np.where(upper, 1.0, 3.0) * rng.standard_normal(NUM_ROWS)


@pytest.fixture(scope="module")
def model(data):
    return quick_mixture().fit(*data)


@pytest.fixture(scope="module")
def two_outputs(data):
    X, y = data
    return quick_mixture().fit(X, np.column_stack([y, -2 * y]))


def test_both_branches_are_found_in_the_users_units(model):
    X = np.linspace(-1.5, 1.5, 31)[:, None]
    modes = model.predict_distribution(X).modes
    lower, upper = np.argsort(modes.mean.mean(1))
    np.testing.assert_allclose(modes.mean[upper], 60 + 10 * np.sin(X[:, 0]), atol=2)
    np.testing.assert_allclose(modes.mean[lower], 20 + 5 * X[:, 0], atol=2)
    assert modes.aleatoric_std[upper].mean() == pytest.approx(1, rel=0.35)
    assert modes.aleatoric_std[lower].mean() == pytest.approx(3, rel=0.25)
    assert modes.weight[upper].mean() == pytest.approx(0.25, abs=0.08)
    np.testing.assert_allclose(modes.weight.sum(0), 1, rtol=1e-5)
    assert modes.epistemic_std.max() < 3


def test_variances_add_up_as_the_law_of_total_variance_says(model, data):
    prediction = model.predict_distribution(data[0][:40])
    mean, variance, weight = np.broadcast_arrays(*prediction.components)
    assert mean.shape == (40, 2, 40)
    # All Gaussians of all draws as one mixture: its mean, and its mean square less its squared mean.
    whole = (weight * mean).sum(1).mean(0)
    total = (weight * (variance + (mean - whole) ** 2)).sum(1).mean(0)
    np.testing.assert_allclose(prediction.mean, whole, rtol=1e-5)
    np.testing.assert_allclose(prediction.variance, total, rtol=1e-4)
    np.testing.assert_allclose(
        prediction.std**2, prediction.aleatoric_std**2 + prediction.epistemic_std**2
    )
    np.testing.assert_allclose(prediction.epistemic_variance, prediction.draws.var(0), rtol=1e-3)
    # Most of the noise is which branch it will be.
    assert (prediction.aleatoric_std > 10).all()


def test_the_density_of_two_modes_is_one_density(model):
    grid = np.linspace(-20, 100, 4_001)
    many = model.predict_distribution(np.full((len(grid), 1), 0.5))
    density = np.exp(many.log_prob(grid, "mixture"))
    assert integrate.trapezoid(density, grid) == pytest.approx(1, abs=1e-4)
    assert integrate.trapezoid(density * grid, grid) == pytest.approx(many.mean[0], rel=1e-4)
    below = integrate.cumulative_trapezoid(density, grid, initial=0)
    np.testing.assert_allclose(many.cdf(grid, "mixture"), below, atol=1e-4)
    one = model.predict_distribution(np.array([[0.5]]))
    for q in (0.05, 0.5, 0.9):
        found = one.quantile(q, "mixture")
        assert np.interp(found[0], grid, below) == pytest.approx(q, abs=1e-3)
    # Nothing is ever seen between the branches, where a single Gaussian has its peak.
    between = one.modes.mean[:, 0].mean()
    assert np.exp(one.log_prob(np.array([between]), "mixture"))[0] < 1e-6
    samples = one.sample(4_000, random_state=0)[:, 0]
    assert samples.mean() == pytest.approx(one.mean[0], abs=4 * one.std[0] / np.sqrt(4_000))
    assert stats.kstest(samples, lambda y: np.interp(y, grid, below)).pvalue > 1e-3


def test_shapes_with_two_outputs(two_outputs, model, data):
    X, _ = data
    prediction = two_outputs.predict_distribution(X)
    assert prediction.mean.shape == prediction.std.shape == (NUM_ROWS, 2)
    assert prediction.modes.mean.shape == (2, NUM_ROWS, 2)
    assert prediction.draws.shape == (40, NUM_ROWS, 2)
    assert np.isfinite(prediction.std).all()
    assert prediction.sample(3, random_state=0).shape == (3, NUM_ROWS, 2)
    one = model.predict_distribution(X)
    assert one.mean.shape == (NUM_ROWS,)
    assert one.modes.weight.shape == (2, NUM_ROWS)


def test_each_output_has_its_own_mixture(two_outputs, data):
    modes = two_outputs.predict_distribution(data[0]).modes
    by_height = np.sort(modes.mean.mean(1), axis=0)  # (modes, outputs)
    np.testing.assert_allclose(by_height[:, 0], [20, 60], atol=3)
    np.testing.assert_allclose(by_height[:, 1], [-120, -40], atol=6)
    spread = np.sort(modes.aleatoric_std.mean(1), axis=0)
    np.testing.assert_allclose(spread, [[1, 2], [3, 6]], rtol=0.4)


def test_a_seed_makes_fit_reproducible_to_the_bit(model, data):
    X, _ = data
    again = quick_mixture().fit(*data).predict_distribution(X)
    here = model.predict_distribution(X)
    np.testing.assert_array_equal(here.mean, again.mean)
    np.testing.assert_array_equal(here.components.variance, again.components.variance)
    other = quick_mixture(random_state=1).fit(*data)
    assert (other.predict(X) != here.mean).any()


def test_a_loaded_model_predicts_the_same_bits(two_outputs, data, tmp_path):
    two_outputs.save(tmp_path / "model")
    loaded = MixtureRegressor.load(tmp_path / "model")
    here, there = (one.predict_distribution(data[0]) for one in (two_outputs, loaded))
    for name in ("mean", "aleatoric_variance", "epistemic_variance", "draws"):
        np.testing.assert_array_equal(getattr(here, name), getattr(there, name))
    for mine, theirs in zip(here.components, there.components, strict=True):
        np.testing.assert_array_equal(mine, theirs)
    assert loaded.get_params() == two_outputs.get_params()
    assert loaded.rounds_ == two_outputs.rounds_
    np.testing.assert_array_equal(loaded.start_nll_, two_outputs.start_nll_)


def test_rows_of_weight_zero_do_not_count(data):
    X, y = data
    weight = np.concatenate([np.ones(NUM_ROWS - 30), np.zeros(30)])

    def fit(nonsense):
        spoiled = np.where(weight > 0, y, nonsense)
        return quick_mixture().fit(X, spoiled, weight).predict_distribution(X)

    one, other = fit(1e4), fit(-300.0)
    np.testing.assert_array_equal(one.mean, other.mean)
    np.testing.assert_array_equal(one.variance, other.variance)
    assert one.std.max() < 50


def test_one_mode_is_vebnn_without_cross_fitting(data):
    X, _ = data
    rng = np.random.default_rng(3)
    y = np.sin(X[:, 0]) + rng.normal(0, 0.1 + 0.1 * np.abs(X[:, 0]))
    # Long enough that both find the noise, whatever their networks started from.
    alike = {"residuals": "in_sample", "variance_training": Training(1_500, learning_rate=1e-2)}
    one = quick_mixture(num_modes=1, **alike).fit(X, y).predict_distribution(X)
    same = quick(**alike).fit(X, y).predict_distribution(X)
    assert one.modes.mean.shape == (1, NUM_ROWS)
    np.testing.assert_allclose(one.mean, same.mean, atol=0.12)
    np.testing.assert_allclose(one.aleatoric_std.mean(), same.aleatoric_std.mean(), rtol=0.1)
    assert np.corrcoef(one.aleatoric_std, same.aleatoric_std)[0, 1] > 0.9


@pytest.mark.parametrize("residuals", ["cross_fit", "in_sample"])
def test_rounds_are_reported_and_one_is_chosen(data, residuals):
    model = quick_mixture(rounds=2, residuals=residuals).fit(*data)
    assert [report.number for report in model.rounds_] == [1, 2]
    best = min(model.rounds_, key=lambda report: report.validation_nll)
    assert model.chosen_round_ == best.number
    assert best.validation_kind == "leave one out"
    # Far better than one Gaussian for both branches, which has 1.42 per standardised target.
    assert best.validation_nll < 0.8


def test_members_of_an_ensemble_agree_on_the_labels(data):
    members = Ensemble(3, Training(300, 1e-2, patience=100))
    prediction = quick_mixture(inference=members).fit(*data).predict_distribution(data[0])
    means = prediction.components.mean  # (members, modes, rows)
    by_height = means.mean(2)
    assert (np.argsort(by_height, axis=1) == np.argsort(by_height[0])).all()
    assert prediction.epistemic_std.mean() > 0


def test_known_measurement_error_is_not_learned_again(data):
    X, y = data
    y_std = np.full(NUM_ROWS, 2.0)
    noisy = y + np.random.default_rng(4).normal(0, y_std)
    model = quick_mixture().fit(X, noisy, y_std=y_std)
    modes = model.predict_distribution(X).modes
    unaware = quick_mixture().fit(X, noisy).predict_distribution(X).modes
    # Without the known error, the narrow branch has a std of √(1 + 2²) = 2.2.
    assert unaware.aleatoric_std.mean(1).min() == pytest.approx(2.2, rel=0.2)
    assert modes.aleatoric_std.mean(1).min() < unaware.aleatoric_std.mean(1).min() - 0.3
    again = model.predict_distribution(X, y_std=y_std).modes
    np.testing.assert_allclose(again.aleatoric_std**2, modes.aleatoric_std**2 + 4, rtol=1e-5)


def test_sequences_of_targets_fit_networks_that_make_them():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(60, 5, 2))
    y = X.sum(-1, keepdims=True) + rng.choice([-4.0, 4.0], (60, 5, 1))

    def init(key, x):
        return {"v": 0.1 * jax.random.normal(key, (x.shape[1], 4)), "b": jnp.zeros(4)}

    network = (init, lambda params, x: x @ params["v"] + params["b"][None])
    cheap = {"inference": MAP(Training(50)), "residuals": "in_sample"}
    model = quick_mixture(network=network, variance_network=network, **cheap).fit(X, y)
    prediction = model.predict_distribution(X)
    assert prediction.modes.mean.shape == (2, 60, 5, 1)
    assert np.abs(prediction.modes.mean - X.sum(-1, keepdims=True)).min() > 2
    with pytest.raises(ValueError, match=r"to an output of shape \(5, 6\). Got \(5, 4\)"):
        quick_mixture(num_modes=3, network=network).fit(X, y)


def test_five_rows_are_enough_and_held_out_rows_are_watched():
    X = np.arange(5.0)[:, None]
    model = quick_mixture(num_modes=3, inference=MAP(Training(50)))
    model.fit(X, X[:, 0], X_val=X[:3] + 0.5, y_val=np.full(3, 1e3))
    prediction = model.predict_distribution(X)
    assert np.isfinite(prediction.std).all()
    assert np.isfinite(prediction.log_prob(X[:, 0], "mixture")).all()
    assert prediction.mean.max() < 100
    assert model.rounds_[0].validation_kind == "held out"
    assert model.rounds_[0].validation_nll > 100


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"num_modes": 0}, "`num_modes` must be a whole number of at least 1. Got 0"),
        ({"num_starts": 0}, "`num_starts` must be a whole number of at least 1"),
        ({"em_steps": 1.5}, "`em_steps` must be a whole number of at least 1. Got 1.5"),
        ({"num_folds": 1}, "`num_folds` must be a whole number of at least 2"),
        ({"choose_round": "best"}, "`choose_round` must be one of 'validation', 'last'. Got 'best'"),
        ({"residuals": "oob"}, "`residuals` must be one of"),
        ({"inference": "hmc"}, "`inference` must be one of"),
        ({"variance_training": 3}, r"`variance_training` must be a Training\(...\) or None. Got 3"),
    ],
)
def test_wrong_arguments_get_a_sentence(data, change, sentence):
    with pytest.raises(ValueError, match=sentence):
        quick_mixture(**change).fit(*data)
