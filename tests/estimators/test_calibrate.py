"""Calibration of fitted estimators: the numbers, what they change, and what is kept."""

import json
from dataclasses import asdict

import equinox as eqx
import jax
import numpy as np
import pandas
import pytest
from scipy import optimize, stats
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from tests.support.settings import QUICK, quick, quick_joint, quick_mixture
from vebnn import GRU, JointRegressor, Training, VeBNNRegressor
from vebnn.calibration import CALIBRATIONS, CommonFactor
from vebnn.inference import Engine
from vebnn.metrics import coverage
from vebnn.serialization.folders import MODEL

pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.usefixtures("quick_compilation"),
]

PARTS = ("mean", "aleatoric_variance", "epistemic_variance", "draws")
TRAINED, KEPT, NEW = slice(0, 50), slice(50, 95), slice(95, 400)


@pytest.fixture(scope="module")
def rows() -> tuple[np.ndarray, np.ndarray]:
    """Two targets, of which the second one's errors have heavy tails."""
    rng = np.random.default_rng(5)
    X = rng.uniform(-2, 2, (400, 2))
    noise = np.column_stack([rng.normal(0, 2, 400), 0.1 * rng.standard_t(3, 400)])
    return X, np.column_stack([30 + 8 * np.sin(X[:, 0]), X[:, 1]]) + noise


@pytest.fixture(scope="module")
def fitted(rows) -> VeBNNRegressor:
    X, y = rows
    return quick().fit(X[TRAINED], y[TRAINED])


@pytest.fixture
def model(fitted):
    """The fitted model; every test leaves it as it was, without a calibration."""
    yield fitted
    fitted.calibration_ = None


@pytest.fixture
def kept(rows) -> tuple[np.ndarray, np.ndarray]:
    X, y = rows
    return X[KEPT], y[KEPT]


@pytest.fixture(scope="module")
def evidential(rows) -> JointRegressor:
    X, y = rows
    return quick_joint(loss="evidential", inference="ensemble").fit(X[TRAINED], y[TRAINED, 0])


def test_common_factor_is_the_one_a_search_finds(model, kept):
    X, y = kept
    raw = model.predict_distribution(X)

    def covered(output: int, c: float) -> float:
        std = np.sqrt(c) * raw.std[:, output]
        return coverage(y[:, output], *stats.norm.interval(0.95, raw.mean[:, output], std))

    assert model.calibrate(X, y) is model
    after = model.predict_distribution(X)
    lower, upper = after.interval(0.95)
    for output, c in enumerate(model.calibration_.factors):
        low, high = 1e-4, 1e4
        while high / low > 1 + 1e-10:
            middle = np.sqrt(low * high)
            low, high = (low, middle) if covered(output, middle) >= 0.95 else (middle, high)
        assert c == pytest.approx(high, rel=1e-8)
        # Of 45 rows, 43 are the fewest that are 95 %.
        inside = coverage(y[:, output], lower[:, output], upper[:, output])
        assert inside == pytest.approx(43 / 45)
        np.testing.assert_allclose(
            after.aleatoric_std[:, output] ** 2, c * raw.aleatoric_variance[:, output]
        )
        np.testing.assert_allclose(
            after.epistemic_std[:, output] ** 2, c * raw.epistemic_variance[:, output]
        )


def test_separate_factors_are_the_most_likely(model, kept):
    X, y = kept
    raw = model.predict_distribution(X)

    def log_likelihood(output: int, a: float, e: float) -> float:
        variance = a * raw.aleatoric_variance[:, output] + e * raw.epistemic_variance[:, output]
        return stats.norm.logpdf(y[:, output], raw.mean[:, output], np.sqrt(variance)).mean()

    model.calibrate(X, y, "separate")
    after = model.predict_distribution(X)
    for output in range(2):
        found = optimize.minimize(
            lambda logs, output=output: -log_likelihood(output, *np.exp(logs)),
            np.zeros(2),
            method="Nelder-Mead",
            options={"xatol": 1e-6, "fatol": 1e-9},
        )
        reached = after.log_prob(y)[:, output].mean()
        # A factor that wants to be zero stops at a thousandth of the common one.
        assert reached == pytest.approx(-found.fun, abs=1e-3)
        assert reached > log_likelihood(output, 1, 1)
        factors = (model.calibration_.aleatoric[output], model.calibration_.epistemic[output])
        assert reached == pytest.approx(log_likelihood(output, *factors))
    np.testing.assert_allclose(after.variance, after.aleatoric_std**2 + after.epistemic_std**2)


def test_conformal_intervals_hold_what_they_guarantee(model, rows):
    rng, level, num_kept = np.random.default_rng(0), 0.8, 24
    # Errors of another size and shape than the training rows had.
    X, y = rows[0], rows[1] + rng.standard_t(2, (400, 2)) * [4, 0.4]
    raw = model.predict_distribution(X[50:])
    inside = []
    for _ in range(60):
        order = 50 + rng.permutation(350)
        chosen, new = order[:num_kept], order[num_kept:]
        model.calibrate(X[chosen], y[chosen], "conformal")
        lower, upper = model.predict_distribution(X[50:]).interval(level)
        held = (lower <= y[50:]) & (y[50:] <= upper)
        inside.append(held[new - 50].mean(0))
    # Without ties, coverage is rank/(n + 1) on average: here 20/25, the level itself.
    error = np.std(inside, axis=0) / np.sqrt(60)
    assert (np.abs(np.mean(inside, axis=0) - level) < 3 * error).all()
    assert error.max() < 0.02
    lower, upper = raw.interval(level)
    raw_coverage = np.mean((lower <= y[50:]) & (y[50:] <= upper), axis=0)
    assert (raw_coverage < level - 0.1).all()  # so the correction was needed


def test_conformal_intervals_change_intervals_alone(model, kept):
    X, y = kept
    raw = model.predict_distribution(X)
    after = model.calibrate(X, y, "conformal").predict_distribution(X)
    for name in PARTS:
        np.testing.assert_array_equal(getattr(after, name), getattr(raw, name))
    np.testing.assert_array_equal(after.log_prob(y), raw.log_prob(y))
    np.testing.assert_array_equal(after.sample(3, random_state=0), raw.sample(3, random_state=0))
    scores = np.sort(np.abs(y - raw.mean) / raw.std, axis=0)
    for level, rank in ((0.95, 44), (0.5, 23)):  # ⌈46 · level⌉
        lower, upper = after.interval(level)
        np.testing.assert_allclose(upper - raw.mean, scores[rank - 1] * raw.std)
        np.testing.assert_allclose(raw.mean - lower, scores[rank - 1] * raw.std)
    frame = after.to_frame(0.5)
    np.testing.assert_allclose(frame["y1_upper"], upper[:, 1])
    with pytest.raises(ValueError, match='Got kind="mixture"; leave it out'):
        after.interval(0.5, "mixture")
    with pytest.raises(
        ValueError, match=r"level 0.99 need at least 99 held-out rows. Got 45, .* 0.9783"
    ):
        after.interval(0.99)


@pytest.mark.parametrize("method", CALIBRATIONS)
def test_saved_models_predict_the_same_bits(model, kept, method, tmp_path):
    X, y = kept
    here = model.calibrate(X, y, method).predict_distribution(X)
    model.save(tmp_path / "model")
    loaded = VeBNNRegressor.load(tmp_path / "model")
    assert loaded.calibration_ == model.calibration_
    assert loaded.get_params() == model.get_params()
    there = loaded.predict_distribution(X)
    for name in PARTS:
        np.testing.assert_array_equal(getattr(there, name), getattr(here, name))
    np.testing.assert_array_equal(there.interval(0.9), here.interval(0.9))
    raw = loaded.predict_distribution(X, calibrated=False)
    np.testing.assert_array_equal(raw.std, model.predict_distribution(X, calibrated=False).std)


def test_models_saved_before_there_was_calibration_still_load(model, kept, tmp_path):
    model.save(tmp_path / "model")
    path = tmp_path / "model" / "model.json"
    body = json.loads(path.read_bytes())["model"]
    assert body.pop("calibration") is None
    path.write_bytes(MODEL.seal(body, 2))
    loaded = VeBNNRegressor.load(tmp_path / "model")
    assert loaded.calibration_ is None
    np.testing.assert_array_equal(loaded.predict(kept[0]), model.predict(kept[0]))
    path.write_bytes(MODEL.seal(body, 1))
    with pytest.raises(ValueError, match="has format 1; this version reads formats 2 to 5"):
        VeBNNRegressor.load(tmp_path / "model")


def test_each_output_has_its_own_factor(model, kept):
    X, y = kept
    raw = model.predict_distribution(X)
    model.calibrate(X, y)
    for output, factor in enumerate(model.calibration_.factors):
        parts = (raw.mean, raw.aleatoric_variance, raw.epistemic_variance)
        alone = CommonFactor.learn(y[:, output], *(part[:, output] for part in parts))
        assert alone.factors == (factor,)
    assert len(set(model.calibration_.factors)) == 2


def test_calibrating_again_starts_from_the_raw_model(model, kept, rows):
    X, y = kept
    once = model.calibrate(X, y, "separate").calibration_
    raw = model.predict_distribution(X, calibrated=False)
    model.calibrate(rows[0][NEW], rows[1][NEW])
    assert model.calibrate(X, y, "separate").calibration_ == once
    np.testing.assert_array_equal(model.predict_distribution(X, calibrated=False).std, raw.std)


@pytest.mark.parametrize("method", ["common", "separate"])
def test_the_mixture_has_the_calibrated_moments(model, evidential, kept, method):
    X, y = kept
    # Networks of an evidential ensemble have ignorance of their own, and differ.
    for one, target in ((model, y), (evidential, y[:, 0])):
        one.calibrate(X, target, method)
        after, raw = one.predict_distribution(X), one.predict_distribution(X, calibrated=False)
        mean, variance, _ = after.components
        np.testing.assert_allclose(mean.mean((0, 1)), raw.mean, rtol=1e-5)
        total = variance.mean((0, 1)) + mean[:, 0].var(0)
        np.testing.assert_allclose(total, after.variance, rtol=1e-3)
        np.testing.assert_array_equal(after.mean, raw.mean)
    share = np.asarray(evidential.calibration_.apply(np.ones(1), np.ones(1)))
    raw_parts = (raw.aleatoric_variance, raw.epistemic_variance)
    for factor, before, now in zip(
        share, raw_parts, (after.aleatoric_variance, after.epistemic_variance), strict=True
    ):
        np.testing.assert_allclose(now, factor * before)


def test_one_network_has_no_ignorance_to_scale(rows, kept):
    X, y = rows
    model = quick_joint().fit(X[TRAINED], y[TRAINED, 0])
    model.calibrate(kept[0], kept[1][:, 0], "separate")
    after = model.predict_distribution(kept[0])
    assert model.calibration_.epistemic == (1.0,)
    np.testing.assert_array_equal(after.epistemic_std, 0)
    np.testing.assert_allclose(after.components.variance[0, 0], after.variance)
    assert np.isfinite(after.sample(5, random_state=0)).all()


@pytest.mark.parametrize("method", CALIBRATIONS)
def test_error_bars_have_the_units_of_the_targets(rows, method):
    X, y = rows[0], rows[1][:, 0]
    # By a power of two, so that the standardised numbers have the same bits.
    predictions = []
    for unit in (1.0, 1024.0):
        model = quick_joint(inference="ensemble").fit(X[TRAINED], unit * y[TRAINED])
        model.calibrate(X[KEPT], unit * y[KEPT], method)
        predictions.append(model.predict_distribution(X[NEW]))
    small, large = predictions
    for name in ("mean", "std", "aleatoric_std", "epistemic_std", "draws"):
        np.testing.assert_allclose(getattr(large, name), 1024 * getattr(small, name), rtol=1e-6)
    np.testing.assert_allclose(large.interval(0.9), 1024 * np.array(small.interval(0.9)), rtol=1e-6)


@pytest.mark.parametrize("method", CALIBRATIONS)
def test_fit_calibrates_on_the_rows_held_out(rows, kept, method):
    X, y = (pandas.DataFrame(part) for part in rows)
    X.columns, y.columns = ["a", "b"], ["load", "wear"]
    held_out = {"X_val": X[KEPT], "y_val": y[KEPT]}
    model = quick_joint().fit(X[TRAINED], y[TRAINED], **held_out, calibrate=method)
    found = model.calibration_
    raw = model.predict_distribution(X[NEW], calibrated=False)
    after = model.calibrate(X[KEPT], y[KEPT], method).predict_distribution(X[NEW])
    assert model.calibration_ == found
    assert "calibrate" not in model.get_params()
    assert list(after.to_frame().index) == list(X[NEW].index)
    assert any(not np.array_equal(*pair) for pair in zip(after.interval(), raw.interval(), strict=True))
    _, std = model.predict(X[NEW], return_std=True)
    np.testing.assert_array_equal(std, after.std)
    with pytest.raises(NotFittedError):
        clone(model).calibrate(X[KEPT], y[KEPT])
    # Another fit drops the calibration of the one before.
    assert model.fit(X[TRAINED], y[TRAINED], **held_out, calibrate=False).calibration_ is None


def test_known_measurement_errors_are_part_of_the_noise(model, kept):
    X, y = kept
    known = np.full(len(X), 4.0)
    model.calibrate(X, y, y_std=known)
    raw = model.predict_distribution(X, y_std=known, calibrated=False)
    parts = raw.mean, raw.aleatoric_variance, raw.epistemic_variance
    assert asdict(model.calibration_) == asdict(CommonFactor.learn(y, *parts))


class Untouched(Engine):
    """An engine that must not be run."""

    def run(self, *_):
        raise AssertionError("training has begun")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"calibrate": "common"}, "needs rows that were not trained on. Got 'common' without `X_val`"),
        ({"calibrate": "isotonic"}, "`calibrate` must be one of 'common', 'separate', 'conformal'"),
        ({"calibrate": True}, "`calibrate` must be one of .* Got True"),
    ],
)
def test_wrong_arguments_of_fit_get_a_sentence_before_training(rows, arguments, sentence):
    with pytest.raises(ValueError, match=sentence):
        quick(inference=Untouched()).fit(*rows, **arguments)


def test_branches_are_not_calibrated(rows, kept):
    model = quick_mixture(inference=Untouched())
    with pytest.raises(
        ValueError, match=r"MixtureRegressor cannot be calibrated: a factor .* branches"
    ):
        model.fit(*rows, X_val=kept[0], y_val=kept[1], calibrate="common")


def test_wrong_rows_get_a_sentence(model, kept):
    X, y = kept
    with pytest.raises(ValueError, match="`method` must be one of 'common', 'separate', 'conformal'"):
        model.calibrate(X, y, "platt")
    with pytest.raises(ValueError, match=r"`y_val` must have the shape of y .*\(2,\). Got \(\)"):
        model.calibrate(X, y[:, 0])
    with pytest.raises(ValueError, match="`y` must differ from the `mean`"):
        model.calibrate(X, model.predict(X))
    with pytest.warns(UserWarning, match="level 0.95 need at least 19 held-out rows. Got 9, .* 0.9;"):
        model.calibrate(X[:9], y[:9], "conformal")
    lower, upper = model.predict_distribution(X).interval(0.9)
    assert np.isfinite(lower).all()
    assert np.isfinite(upper).all()
    with pytest.raises(NotFittedError, match="VeBNNRegressor instance is not fitted yet"):
        VeBNNRegressor(**QUICK).calibrate(X, y)


def test_targets_that_are_missing_do_not_count(rows, kept) -> None:
    X, y = rows
    network = eqx.nn.MLP(X.shape[1], 1, 4, 1, key=jax.random.key(0))
    model = quick(network=network).fit(X, y[:, 0])
    X_val, y_val = kept[0], kept[1][:, 0].copy()
    y_val[::3] = np.nan
    there = ~np.isnan(y_val)
    found = model.calibrate(X_val, y_val).calibration_
    assert found == model.calibrate(X_val[there], y_val[there]).calibration_
    with pytest.raises(ValueError, match="`y_val` needs rows with all outputs"):
        model.calibrate(X_val, np.full(len(y_val), np.nan))


def test_padded_steps_do_not_count() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 6, 1))
    y = np.cumsum(X, axis=1) + 0.3 * rng.standard_normal((30, 6, 1))
    brief = Training(num_epochs=40, learning_rate=1e-2)
    model = JointRegressor(GRU((4,)), training=brief, random_state=0).fit(X[:20], y[:20])
    X_val, y_val = X[20:].copy(), y[20:].copy()
    X_val[3:, 4:], y_val[3:, 4:] = np.nan, np.nan
    raw = model.predict_distribution(X_val)
    counts = np.isfinite(y_val[..., 0])
    parts = (y_val, raw.mean, raw.aleatoric_variance, raw.epistemic_variance)
    expected = CommonFactor.learn(*(part[counts] for part in parts))
    assert model.calibrate(X_val, y_val).calibration_ == expected
    with pytest.raises(ValueError, match='The method "conformal" needs sequences of equal length'):
        model.calibrate(X_val, y_val, "conformal")
    assert model.calibration_ == expected
