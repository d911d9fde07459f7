"""The share of a fit that is done, and the seconds left, by hand."""

import pytest

from vebnn.training import PlannedStage
from vebnn.training.forecast import Forecast


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def advance(forecast: Forecast, clock: Clock, seconds: float, done: int) -> None:
    clock.now += seconds
    forecast.advance(done)


def test_nothing_is_known_before_the_first_epochs(clock: Clock) -> None:
    forecast = Forecast(clock)
    forecast.expect([PlannedStage("Step 1", 100, 2)])
    assert forecast.share == 0
    assert forecast.seconds_left is None
    forecast.begin("Step 1", 0, 100)
    advance(forecast, clock, 5, 1)  # most of it compiling
    assert forecast.seconds_left is None
    assert forecast.share == 0


def test_the_pace_of_a_stage_serves_the_others(clock: Clock) -> None:
    forecast = Forecast(clock)
    forecast.expect([PlannedStage("Step 1", 100, 2), PlannedStage("Round 1 · Step 3", 50, 6)])
    forecast.begin("Step 1", 0, 100)
    advance(forecast, clock, 5, 10)  # 5 s to compile
    advance(forecast, clock, 3, 40)  # 0.1 s per epoch of two networks
    # 60 epochs; then 5 s to compile, and 50 epochs of six networks at 0.05 s per epoch and network.
    assert forecast.seconds_left == pytest.approx(6 + 5 + 15)
    assert forecast.share == pytest.approx(8 / (8 + 26))


def test_a_stage_of_a_later_round_is_as_fast_as_its_like(clock: Clock) -> None:
    forecast = Forecast(clock)
    forecast.expect([PlannedStage(f"Round {number} · Step 3", 100, 6) for number in (1, 2)])
    forecast.begin("Round 1 · Step 3", 0, 100)
    for seconds, done in ((5, 20), (4, 60), (4, 100)):
        advance(forecast, clock, seconds, done)
    # It is compiled already.
    assert forecast.seconds_left == pytest.approx(100 * 0.1)
    assert forecast.share == pytest.approx(13 / 23)


def test_finished_stages_of_a_resumed_fit_are_done_at_once(clock: Clock) -> None:
    forecast = Forecast(clock)
    forecast.expect([PlannedStage("Step 1", 100, 2), PlannedStage("Round 1 · Step 3", 100, 6)])
    forecast.begin("Step 1", 100, 100)
    assert forecast.share == pytest.approx(200 / 800)  # by epochs and networks
    forecast.begin("Round 1 · Step 3", 50, 100)
    assert forecast.share == pytest.approx(500 / 800)
    advance(forecast, clock, 5, 60)
    advance(forecast, clock, 6, 80)  # 0.3 s per epoch of six networks
    assert forecast.seconds_left == pytest.approx(6)
    before = 100 * 2 * 0.05 + 50 * 0.3
    assert forecast.share == pytest.approx((before + 11) / (before + 11 + 6))


def test_a_stage_that_stops_early_is_done(clock: Clock) -> None:
    forecast = Forecast(clock)
    forecast.expect([PlannedStage("Step 1", 500)])
    forecast.begin("Step 1", 0, 1_000)
    advance(forecast, clock, 1, 100)
    advance(forecast, clock, 1, 200)  # 100 epochs per second
    assert forecast.seconds_left == pytest.approx(3)
    advance(forecast, clock, 4, 600)  # beyond the plan: half of what is possible
    assert forecast.seconds_left == pytest.approx(2)
    advance(forecast, clock, 1, 1_000)  # stopped early: the jump says nothing of the pace
    assert forecast.seconds_left == 0
    assert forecast.share == 1


def test_another_plan_replaces_what_was_expected(clock: Clock) -> None:
    forecast = Forecast(clock)
    rounds = [PlannedStage(f"Round {number} · Step 3", 100) for number in (1, 2, 3)]
    forecast.expect(rounds)
    forecast.begin(rounds[0].name, 0, 100)
    for done in (0, 50, 100):
        advance(forecast, clock, 1, done)
    assert forecast.seconds_left == pytest.approx(4)
    forecast.expect(rounds[1:2])  # it is the last one
    assert forecast.seconds_left == pytest.approx(2)
    forecast.begin(rounds[1].name, 0, 100)
    for done in (0, 50, 100):
        advance(forecast, clock, 1, done)
    assert forecast.share == 1
    # Nobody expects chains to disagree: then there is more to do.
    forecast.begin("Round 2 · Step 3 · continuation 1", 0, 300)
    assert forecast.share < 0.6
    assert forecast.seconds_left == pytest.approx(6)


def test_stages_that_are_left_out_are_forgotten(clock: Clock) -> None:
    forecast = Forecast(clock)
    forecast.expect([PlannedStage(name, 100) for name in ("a", "b", "c")])
    forecast.begin("a", 100, 100)
    forecast.begin("c", 0, 100)
    assert forecast.share == pytest.approx(1 / 2)
