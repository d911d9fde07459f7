import json
from dataclasses import asdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from vebnn.calibration import CommonFactor, ConformalIntervals, SeparateFactors
from vebnn.metrics import coverage

LEARNERS = (CommonFactor, SeparateFactors, ConformalIntervals)


def scored(scores, std: float = 1.0) -> tuple[np.ndarray, ...]:
    """Return held-out rows whose |y − mean| / std are the given scores, in another order."""
    scores = np.random.default_rng(0).permutation(np.asarray(scores, float))
    sign = np.where(np.arange(len(scores)) % 2, 1, -1)
    variance = np.full(len(scores), std**2)
    return 7 + sign * scores * std, np.full(len(scores), 7.0), 0.75 * variance, 0.25 * variance


def simulated(rng: np.random.Generator, num_rows: int, aleatoric: float, epistemic: float):
    """Return rows whose true variances are the predicted ones times two factors."""
    variances = np.exp(rng.normal(0, 1, (2, num_rows)))
    mean = rng.normal(0, 10, num_rows)
    std = np.sqrt(aleatoric * variances[0] + epistemic * variances[1])
    return mean + std * rng.standard_normal(num_rows), mean, *variances


class TestCommonFactor:
    @pytest.mark.parametrize(
        ("num_rows", "level", "rank"),
        [(20, 0.95, 19), (21, 0.95, 20), (19, 0.95, 19), (100, 0.55, 55), (10, 0.7, 7), (1, 0.5, 1)],
    )
    def test_comes_from_one_order_statistic(self, num_rows, level, rank):
        found = CommonFactor.learn(*scored(np.arange(1, num_rows + 1), std=3.0), level=level)
        expected = (rank / stats.norm.ppf((1 + level) / 2)) ** 2
        assert found.factors == pytest.approx((expected,), rel=1e-8)

    @given(st.lists(st.floats(0.01, 100), min_size=1, max_size=40), st.sampled_from([0.5, 0.8, 0.95]))
    def test_is_the_smallest_that_covers(self, scores, level):
        y, mean, *variances = scored(scores)
        found = CommonFactor.learn(y, mean, *variances, level=level)

        def covered(shrink: float) -> float:
            std = np.sqrt(shrink * sum(found.apply(*variances)))
            return coverage(y, *stats.norm.interval(level, mean, std))

        assert covered(1.0) >= level
        assert covered(1 - 1e-6) < level

    def test_default_is_the_papers_level(self):
        assert CommonFactor.learn(*scored(np.arange(1, 21))).level == 0.95

    def test_keeps_the_shares_of_both_parts(self):
        factor = CommonFactor((2.0,), 0.95)
        aleatoric, epistemic = factor.apply(np.array([1.0, 3.0]), np.array([0.5, 0.0]))
        np.testing.assert_array_equal(aleatoric, [2, 6])
        np.testing.assert_array_equal(epistemic, [1, 0])

    def test_well_calibrated_rows_leave_it_near_one(self, rng):
        found = CommonFactor.learn(*simulated(rng, 20_000, 1.0, 1.0))
        assert found.factors[0] == pytest.approx(1, abs=0.04)

    def test_observations_that_equal_the_mean_are_refused(self):
        y, mean, *variances = scored(np.zeros(20))
        with pytest.raises(ValueError, match="`y` must differ from the `mean`"):
            CommonFactor.learn(y, mean, *variances)


class TestSeparateFactors:
    @pytest.mark.parametrize("truth", [(1.0, 1.0), (2.0, 0.5), (0.3, 4.0)])
    def test_recovers_known_factors(self, rng, truth):
        found = SeparateFactors.learn(*simulated(rng, 20_000, *truth))
        # By the Fisher information, the largest of the six standard errors is 6 %.
        np.testing.assert_allclose((*found.aleatoric, *found.epistemic), truth, rtol=0.2)

    def test_no_pair_on_a_grid_is_more_likely(self, rng):
        y, mean, aleatoric, epistemic = simulated(rng, 60, 3.0, 0.2)

        def log_likelihood(a: float, e: float) -> float:
            return stats.norm.logpdf(y, mean, np.sqrt(a * aleatoric + e * epistemic)).sum()

        found = SeparateFactors.learn(y, mean, aleatoric, epistemic)
        reached = log_likelihood(*found.aleatoric, *found.epistemic)
        grid = np.geomspace(0.01, 100, 81)
        assert max(log_likelihood(a, e) for a in grid for e in grid) <= reached + 1e-3

    def test_no_epistemic_variance_leaves_its_factor_alone(self, rng):
        y, mean, aleatoric, _ = simulated(rng, 50, 2.0, 0.0)
        found = SeparateFactors.learn(y, mean, aleatoric, 0 * aleatoric)
        assert found.aleatoric == pytest.approx((np.mean((y - mean) ** 2 / aleatoric),))
        assert found.epistemic == (1.0,)

    def test_no_aleatoric_variance_leaves_its_factor_alone(self, rng):
        y, mean, _, epistemic = simulated(rng, 50, 0.0, 2.0)
        found = SeparateFactors.learn(y, mean, 0 * epistemic, epistemic)
        assert found.epistemic == pytest.approx((np.mean((y - mean) ** 2 / epistemic),))
        assert found.aleatoric == (1.0,)

    def test_parts_that_cannot_be_told_apart_get_one_factor(self, rng):
        y, mean, aleatoric, _ = simulated(rng, 50, 2.0, 0.0)
        found = SeparateFactors.learn(y, mean, 0.6 * aleatoric, 0.4 * aleatoric)
        common = np.mean((y - mean) ** 2 / aleatoric)
        assert (*found.aleatoric, *found.epistemic) == pytest.approx((common, common))

    def test_a_useless_part_is_turned_down_but_stays_positive(self, rng):
        found = SeparateFactors.learn(*simulated(rng, 5_000, 1.0, 0.0))
        assert found.aleatoric[0] == pytest.approx(1, abs=0.1)
        assert 0 < found.epistemic[0] < 0.02

    @pytest.mark.parametrize("unit", [1e-9, 1e9])
    def test_factors_do_not_depend_on_units(self, rng, unit):
        y, mean, *variances = simulated(rng, 200, 2.0, 0.5)
        plain = SeparateFactors.learn(y, mean, *variances)
        rescaled = SeparateFactors.learn(y * unit, mean * unit, *(v * unit**2 for v in variances))
        assert rescaled.aleatoric == pytest.approx(plain.aleatoric, rel=1e-3)
        assert rescaled.epistemic == pytest.approx(plain.epistemic, rel=1e-3)

    def test_each_part_gets_its_factor(self):
        aleatoric, epistemic = SeparateFactors((2.0,), (3.0,)).apply(np.ones(2), np.array([0.0, 5.0]))
        np.testing.assert_array_equal(aleatoric, [2, 2])
        np.testing.assert_array_equal(epistemic, [0, 15])

    def test_perfect_predictions_are_refused(self):
        with pytest.raises(ValueError, match="`y` must differ from the `mean`"):
            SeparateFactors.learn(np.ones(5), np.ones(5), np.ones(5), np.ones(5))


class TestConformalIntervals:
    @pytest.mark.parametrize(
        ("num_rows", "level", "rank"),
        [(19, 0.95, 19), (20, 0.95, 20), (39, 0.95, 38), (40, 0.95, 39), (99, 0.55, 55), (9, 0.9, 9)],
    )
    def test_takes_the_order_statistic_of_the_guarantee(self, num_rows, level, rank):
        found = ConformalIntervals.learn(*scored(np.arange(1, num_rows + 1), std=0.1), level=level)
        assert found.multipliers == pytest.approx((rank,))

    def test_interval_by_hand(self):
        lower, upper = ConformalIntervals((2.0,), 0.9).interval(
            np.array([1.0, 5.0]), np.array([3.0, 9.0]), np.array([1.0, 16.0])
        )
        np.testing.assert_array_equal(lower, [-3, -5])
        np.testing.assert_array_equal(upper, [5, 15])

    @pytest.mark.parametrize(
        ("num_rows", "level", "needed"), [(18, 0.95, 19), (8, 0.9, 9), (98, 0.99, 99)]
    )
    def test_too_few_rows_say_so(self, num_rows, level, needed):
        with pytest.warns(UserWarning, match=f"at least {needed} held-out rows. Got {num_rows}"):
            found = ConformalIntervals.learn(*scored(np.arange(1, num_rows + 1)), level=level)
        lower, upper = found.interval(np.zeros(3), np.ones(3), np.zeros(3))
        assert (lower == -np.inf).all()
        assert (upper == np.inf).all()
        enough = ConformalIntervals.learn(*scored(np.arange(1, needed + 1)), level=level)
        assert enough.multipliers == pytest.approx((needed,))

    @pytest.mark.parametrize(("num_rows", "level"), [(39, 0.9), (30, 0.8)])
    def test_coverage_is_the_guaranteed_one(self, rng, num_rows, level):
        # Heavy tails, and stds that are wrong row by row: nothing a Gaussian would cover.
        repeats, new = 1_500, 40
        std = np.exp(rng.normal(0, 1, (repeats, num_rows + new)))
        y = rng.standard_t(2, std.shape) * np.exp(rng.normal(0, 0.5, std.shape)) * std
        held = []
        for row, wrong in zip(y, (0.1 * std) ** 2, strict=True):
            parts = np.zeros_like(row), wrong / 3, 2 * wrong / 3
            learned = ConformalIntervals.learn(
                row[:num_rows], *(part[:num_rows] for part in parts), level=level
            )
            ends = learned.interval(*(part[num_rows:] for part in parts))
            held.append(coverage(row[num_rows:], *ends))
        # Scores without ties: coverage is rank/(n + 1), which is between level and level + 1/(n + 1).
        expected = np.ceil((num_rows + 1) * level - 1e-9) / (num_rows + 1)
        error = np.std(held) / np.sqrt(repeats)
        assert level <= expected < level + 1 / (num_rows + 1)
        assert abs(np.mean(held) - expected) < 3.5 * error < 0.01

    def test_sequences_are_covered_although_their_steps_hang_together(self, rng):
        # All steps of a row are inside or outside together. Treated as 45 rows, 9 would cover 80 %.
        num_rows, steps, level, repeats = 9, 5, 0.85, 4_000
        row = np.abs(rng.standard_normal((repeats, num_rows + 1, 1)))
        step = 1 + 1e-9 * rng.standard_normal((repeats, num_rows + 1, steps))
        inside = []
        for y in (row * step)[..., None]:
            held_out = [y[:-1], *(value * np.ones_like(y[:-1]) for value in (0.0, 0.5, 0.5))]
            learned = ConformalIntervals.learn(*held_out, level=level)
            ends = learned.interval(*(value * np.ones_like(y[-1:]) for value in (0.0, 0.5, 0.5)))
            inside.append(coverage(y[-1:], *ends))
        assert np.mean(inside) > level
        assert np.mean(inside) == pytest.approx(0.9, abs=3.5 * 0.3 / np.sqrt(repeats))


@pytest.mark.parametrize("learner", LEARNERS)
def test_outputs_are_calibrated_each_for_itself(rng, learner):
    one, two = simulated(rng, 60, 1.0, 1.0), simulated(rng, 60, 9.0, 4.0)
    both = [np.stack(pair, axis=-1) for pair in zip(one, two, strict=True)]
    of_one, of_two, of_both = learner.learn(*one), learner.learn(*two), learner.learn(*both)
    for name, numbers in asdict(of_both).items():
        if name != "level":
            expected = asdict(of_one)[name] + asdict(of_two)[name]
            assert numbers == pytest.approx(expected)
    if learner is ConformalIntervals:
        apart = [of_one.interval(*one[1:]), of_two.interval(*two[1:])]
        together = of_both.interval(*both[1:])
    else:
        apart = [of_one.apply(*one[2:]), of_two.apply(*two[2:])]
        together = of_both.apply(*both[2:])
    for part in range(2):
        expected = np.stack([apart[0][part], apart[1][part]], axis=-1)
        np.testing.assert_allclose(together[part], expected)


@pytest.mark.parametrize("learner", [CommonFactor, SeparateFactors])
def test_steps_of_sequences_count_as_entries(rng, learner):
    flat = [part[:, None] for part in simulated(rng, 60, 2.0, 2.0)]
    sequences = [part.reshape(12, 5, 1) for part in flat]
    assert learner.learn(*sequences) == learner.learn(*flat)
    learned = learner.learn(*sequences)
    assert learned.apply(*sequences[2:]).aleatoric.shape == (12, 5, 1)


@pytest.mark.parametrize("learner", LEARNERS)
def test_what_is_learned_passes_through_json(rng, learner):
    learned = learner.learn(*(np.stack([part, part], axis=-1) for part in simulated(rng, 60, 1.0, 1.0)))
    written = json.loads(json.dumps(asdict(learned), allow_nan=False))
    again = learner(**{k: tuple(v) if isinstance(v, list) else v for k, v in written.items()})
    assert again == learned


def test_infinite_intervals_pass_through_json():
    with pytest.warns(UserWarning, match="infinite"):
        learned = ConformalIntervals.learn(*scored(np.arange(1, 4)))
    assert json.loads(json.dumps(asdict(learned), allow_nan=False)) == {
        "multipliers": [None],
        "level": 0.95,
    }


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({0: np.zeros((25, 1))}, r"`mean` must have the shape of the `y`, \(25, 1\)\. Got \(25,\)"),
        ({3: np.ones(24)}, r"`epistemic_variance` must have the shape"),
        ({0: np.full(25, np.nan)}, "`y` must not hold NaN"),
        ({1: np.full(25, np.inf)}, "must be finite"),
        ({2: np.full(25, -1.0)}, "`aleatoric_variance` must not be negative. Got -1"),
        ({2: np.zeros(25), 3: np.zeros(25)}, "`total variance` must be positive"),
    ],
)
def test_wrong_rows_get_a_sentence(learner, change, sentence):
    rows = list(scored(np.arange(1, 26)))
    for place, value in change.items():
        rows[place] = value
    with pytest.raises(ValueError, match=sentence):
        learner.learn(*rows)


@pytest.mark.parametrize("learner", [CommonFactor, ConformalIntervals])
@pytest.mark.parametrize("level", [0, 1, 95])
def test_levels_are_between_zero_and_one(learner, level):
    with pytest.raises(ValueError, match=r"`level` must be a number in \(0, 1\)"):
        learner.learn(*scored(np.arange(1, 26)), level=level)


@pytest.mark.parametrize(
    "apply",
    [
        lambda: CommonFactor((1.0, 2.0), 0.95).apply(np.ones(3), np.ones(3)),
        lambda: SeparateFactors((1.0, 2.0), (1.0, 2.0)).apply(np.ones((3, 1)), np.ones((3, 1))),
        lambda: ConformalIntervals((1.0, 2.0), 0.95).interval(*np.ones((3, 4, 3))),
    ],
)
def test_other_numbers_of_outputs_are_refused(apply):
    with pytest.raises(ValueError, match=r"learned for 2 outputs. Got [13], in an array of shape"):
        apply()


def test_the_level_may_be_given_by_position() -> None:
    rng = np.random.default_rng(0)
    arrays = rng.normal(size=100), np.zeros(100), np.ones(100), np.zeros(100)
    assert CommonFactor.learn(*arrays, 0.8) == CommonFactor.learn(*arrays, level=0.8)
    assert CommonFactor.learn(*arrays).level == 0.95
