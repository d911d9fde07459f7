"""The stages to come, where the number of rounds is open."""

import dataclasses
from types import SimpleNamespace

import pytest

from vebnn import VeBNNRegressor
from vebnn.inference import PSGHMC, SGLD, Ensemble
from vebnn.strategies.cooperative import fold_stopping
from vebnn.strategies.cooperative.plan import rest_of_fit, whole_fit
from vebnn.training import PlannedStage, Training
from vebnn.training.batches import MANY


def rows(num_rows: int = 100, num_folds: int = 5) -> SimpleNamespace:
    shapes = SimpleNamespace(steps=())
    data = SimpleNamespace(x=range(num_rows))
    return SimpleNamespace(num_folds=num_folds, held_out=None, shapes=shapes, data=data)


def names(stages: list[PlannedStage]) -> list[str]:
    return [one.name for one in stages]


def test_the_usual_rounds_and_then_one_more() -> None:
    settings = VeBNNRegressor()._strategy(100)
    assert settings.rounds is None
    whole = whole_fit(settings, rows())
    assert names(whole) == [
        "Step 1",
        *(f"Round {number} · Step {step}" for number in (1, 2, 3) for step in (2, 3)),
    ]
    assert names(rest_of_fit(settings, rows(), 1, last=False)) == names(whole[2:])
    assert names(rest_of_fit(settings, rows(), 2, last=True)) == ["Round 2 · Step 3"]
    more = ["Round 3 · Step 3", "Round 4 · Step 2", "Round 4 · Step 3"]
    assert names(rest_of_fit(settings, rows(), 3, last=False)) == more


def test_a_large_table_has_a_warm_up_and_fewer_rounds() -> None:
    settings, many = VeBNNRegressor()._strategy(MANY + 1), rows(MANY + 1)
    first = ["Round 1 · Step 2 · warm-up", "Round 1 · Step 2", "Round 1 · Step 3"]
    second = ["Round 2 · Step 2", "Round 2 · Step 3"]
    assert names(whole_fit(settings, many)) == ["Step 1", *first, *second]
    assert settings.variance_warm_up is not None
    assert whole_fit(settings, many)[1][1:] == (settings.variance_warm_up.num_epochs, 6)


def test_lengths_are_those_of_the_settings() -> None:
    settings = VeBNNRegressor()._strategy(100)
    step_1, step_2, short, *_, full = whole_fit(settings, rows())
    assert step_1 == ("Step 1", settings.mean_training.num_epochs // 2, 6)  # it stops early
    for stage, engine in (
        (step_2, settings.variance_engine),
        (short, settings.pilot),
        (full, settings.engine),
    ):
        assert isinstance(engine, PSGHMC)
        epochs = engine.burn_in + engine.thinning * engine.num_samples
        assert stage[1:] == (epochs, engine.num_chains)
    assert short.epochs < full.epochs


def test_folds_of_the_variance_network(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = VeBNNRegressor(inference="map")._strategy(100)
    assert "Round 1 · Step 2 · folds" not in names(whole_fit(settings, rows(100)))
    monkeypatch.setattr(fold_stopping, "FEWEST_ROWS", 100)
    assert "Round 1 · Step 2 · folds" in names(whole_fit(settings, rows(100)))


def test_stages_of_engines() -> None:
    training = Training(num_epochs=100)
    members = Ensemble(num_members=4, training=training)
    assert members.plan("a", refit=True) == [("a", 100, 4), ("a · all rows", 100, 4)]
    chains = SGLD(num_samples=5, burn_in=10, thinning=2, num_chains=3, pilot=7)
    assert chains.plan("a", refit=True) == [("a · pilot", 7, 3), ("a", 20, 3)]
    assert len(dataclasses.replace(chains, step_size=1e-3).plan("a", refit=True)) == 1
