"""``VeBNNRegressor(noise_within=...)``: noise that goes together along a sequence or in a group."""

import numpy as np
import pytest

from tests.support.settings import Stay, quick
from vebnn import GRU, PSGLD, Prediction, Training, VeBNNRegressor

pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.usefixtures("quick_compilation"),
]

RHO, STEPS = 0.9, 20
SHORT = Training(num_epochs=150, learning_rate=1e-2)
SEQUENCES = {
    "network": GRU((5,), linear=True),
    "variance_network": GRU((2,)),
    "mean_training": SHORT,
    "variance_training": SHORT,
    "inference": PSGLD(num_samples=8, burn_in=20, thinning=2, num_chains=2, step_size=1e-4),
    "residuals": "cross_fit",
    "rounds": 1,
    "num_folds": 2,
}


@pytest.fixture(scope="module")
def sequences() -> tuple[np.ndarray, np.ndarray]:
    """A linear answer with autoregressive noise, whose std grows along the sequence."""
    rng = np.random.default_rng(0)
    X = np.cumsum(rng.normal(size=(120, STEPS, 1)), axis=1)
    noise = rng.standard_normal((120, STEPS))
    for step in range(1, STEPS):
        noise[:, step] = RHO * noise[:, step - 1] + np.sqrt(1 - RHO**2) * noise[:, step]
    return X, 2 * X + (np.linspace(0.5, 1.5, STEPS) * noise)[..., None]


@pytest.fixture(scope="module")
def model(sequences) -> VeBNNRegressor:
    return quick(**SEQUENCES).fit(*sequences)


@pytest.fixture(scope="module")
def prediction(model, sequences) -> Prediction:
    return model.predict_distribution(sequences[0])


def test_the_autocorrelation_of_sequences_is_found_by_default(model) -> None:
    lags = np.arange(6)
    known = (1 - lags / STEPS) * RHO**lags
    np.testing.assert_allclose(model.noise_autocorrelation_[:6], known, atol=0.12)
    assert len(model.noise_autocorrelation_) == STEPS
    # Between one target for a sequence and one for two steps.
    assert 1 / STEPS < model.effective_share_ < 0.5


def test_step_3_counts_the_share_alone(sequences) -> None:
    engine = Stay()
    settings = SEQUENCES | {"inference": engine, "noise_within": "correlated"}
    model = quick(**settings).fit(*sequences)
    weight = engine.problems[-1].data.weight
    np.testing.assert_allclose(weight, model.effective_share_, rtol=1e-6)
    assert model.effective_share_ < 0.5


def test_networks_that_are_only_trained_count_all_targets(sequences) -> None:
    model = quick(**SEQUENCES | {"inference": Stay()}).fit(*sequences)
    assert model.effective_share_ == 1
    assert len(model.noise_autocorrelation_) == STEPS  # of samples


def test_independent_noise_is_an_option(sequences) -> None:
    engine = Stay()
    settings = SEQUENCES | {"inference": engine, "noise_within": "independent"}
    model = quick(**settings).fit(*sequences)
    assert model.noise_autocorrelation_ is None
    assert model.effective_share_ == 1
    assert (engine.problems[-1].data.weight == 1).all()
    assert model.predict_distribution(sequences[0]).noise_autocorrelation is None


def test_samples_are_as_smooth_as_the_sequences(model, prediction, sequences) -> None:
    errors = sequences[1] - prediction.mean
    for kind in ("mixture", "gaussian"):
        drawn = prediction.sample(200, kind, random_state=0) - prediction.mean
        np.testing.assert_allclose(drawn.std(0), prediction.std, rtol=0.35)
        np.testing.assert_allclose(drawn.std((0, 1)), np.sqrt((prediction.variance).mean(0)), rtol=0.06)
        ratio = np.diff(drawn, axis=2).std() / drawn.std()
        assert ratio == pytest.approx(np.diff(errors, axis=1).std() / errors.std(), rel=0.25)


def test_longer_and_padded_sequences_can_be_sampled(model, sequences) -> None:
    X = np.concatenate([sequences[0][:3], sequences[0][:3]], axis=1)
    X[1, 10:] = np.nan
    drawn = model.predict_distribution(X).sample(4, random_state=0)
    assert np.isnan(drawn[:, 1, 10:]).all()
    assert np.isfinite(drawn[:, [0, 2]]).all()


def test_a_saved_model_has_it(model, prediction, sequences, tmp_path) -> None:
    model.save(tmp_path / "model")
    same = VeBNNRegressor.load(tmp_path / "model")
    assert same.effective_share_ == model.effective_share_
    again = same.predict_distribution(sequences[0])
    np.testing.assert_array_equal(again.sample(random_state=1), prediction.sample(random_state=1))


def groups_of_five(num_groups: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows of a group have one input and a common part of the noise, of half its variance."""
    rng = np.random.default_rng(2)
    group = np.repeat(np.arange(num_groups), 5)
    X = rng.uniform(-2, 2, (num_groups, 1))[group] + 0.01 * rng.standard_normal((5 * num_groups, 1))
    noise = rng.standard_normal(num_groups)[group] + rng.standard_normal(5 * num_groups)
    return X, np.sin(X[:, 0]) + 0.5 * noise, group


def test_rows_of_a_group_count_as_fewer_if_asked() -> None:
    X, y, group = groups_of_five(120)
    settings = {"inference": Stay(), "residuals": "cross_fit", "rounds": 1}
    assert quick(**settings).fit(X, y, groups=group).effective_share_ == 1
    model = quick(**settings, noise_within="correlated").fit(X, y, groups=group)
    # Kish: 1 + (5 − 1) · 0.5 = 3 rows for one.
    assert 1 / model.effective_share_ == pytest.approx(3, rel=0.25)
    assert model.noise_autocorrelation_ is None


def test_what_does_not_go_together_is_refused_before_training() -> None:
    X, y, group = groups_of_five(10)
    with pytest.raises(ValueError, match="no two rows belong together"):
        quick(noise_within="correlated").fit(X, y)
    with pytest.raises(ValueError, match=r"has not seen\. Got residuals=\"in_sample\""):
        quick(noise_within="correlated", residuals="in_sample").fit(X, y, groups=group)
    with pytest.raises(ValueError, match="noise_within"):
        quick(noise_within="sometimes").fit(X, y)
