from dataclasses import replace

import jax
import numpy as np
import pytest

from trust import reference, samplers
from trust.joint_distribution import SAMPLER, joint_distribution_scores, p_value
from trust.rank_figure import draw_ranks
from trust.ranks import Ranks, rank_truths
from trust.reference import Reference, errors, weighted_draws
from trust.simulated import LINEAR, MODELS
from vebnn.inference import ENGINES


def test_short_form() -> None:
    promises, figures = samplers.prove(short=True)
    assert [one for one in promises if not one.kept] == []
    assert len(promises) == 4
    assert {row["engine"] for row in figures["ranks"]} == set(samplers.IN_SHORT)


def test_every_engine_takes_part() -> None:
    for name in MODELS:
        exact, others = samplers.samplers(name), samplers.approximations(name)
        missing = ENGINES.keys() - exact.keys() - others.keys()
        # A maximum is one point, which has no ranks; a linear model has no units to drop.
        assert missing == ({"map"} if name == "network" else {"map", "mc_dropout"})
        for known, engine in (exact | others).items():
            assert type(engine) is ENGINES[known.split(",")[0]]


def test_a_sampler_of_another_temperature_is_found_out() -> None:
    hot = replace(samplers.samplers("linear")["sghmc"], temperature=3.0)
    assert rank_truths(hot, LINEAR, 0, 32).p_value(4) < samplers.SMALLEST_P
    scores = joint_distribution_scores(
        LINEAR, 0, 50, 1_000, sampler=replace(SAMPLER, temperature=1.5), num_direct=20_000
    )
    assert p_value(scores) < samplers.SMALLEST_P


def test_p_value_of_ranks() -> None:
    even = np.repeat(np.arange(64), 4)
    edges = np.repeat([0, 63], 128)
    assert Ranks(np.stack([even, even], 1), 63, 0.0).p_value(16) == 1
    assert Ranks(np.stack([even, edges], 1), 63, 0.0).p_value(16) < 1e-6
    assert Ranks(even[:, None], 63, 0.0).histograms(16).tolist() == [[16] * 16]


def test_weighted_draws_of_the_prior_are_the_posterior() -> None:
    """Compare with the closed form of Bayesian linear regression."""
    _, data = LINEAR.simulate(jax.random.key(1))
    found = weighted_draws(LINEAR, data, 0, num_blocks=10)
    design = np.column_stack([LINEAR.x, np.ones(len(LINEAR.x))]).astype(float)
    precision = LINEAR.noise_std**-2
    covariance = np.linalg.inv(np.eye(3) + precision * design.T @ design)
    mean = precision * covariance @ design.T @ data.target[:, 0]
    places = np.column_stack([LINEAR.places, np.ones(len(LINEAR.places))])
    std = np.sqrt(np.einsum("ij,jk,ik->i", places, covariance, places))
    size = found.size
    assert size > 2_000
    assert (np.abs(found.mean - places @ mean) < 4 * std / np.sqrt(size)).all()
    assert (np.abs(found.std / std - 1) < 4 / np.sqrt(2 * size)).all()


def test_data_without_an_exact_reference_are_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = iter([172.0, 80_000.0])
    monkeypatch.setattr(
        reference, "weighted_draws", lambda *_: Reference(np.zeros(1), np.ones(1), next(sizes))
    )
    _, found, passed_over = reference.simulate_with_reference(LINEAR, 0, 1)
    assert (found.size, passed_over) == (80_000, 1)


def test_errors_against_a_reference() -> None:
    drawn = np.array([[0.0, 1.0], [2.0, 5.0]])
    np.testing.assert_allclose(errors(drawn, Reference(np.array([1.0, 2.0]), np.ones(2), 1)), (1, 1))


def test_figure_has_a_panel_for_every_engine_and_model() -> None:
    row = {"engine": "psgld", "model": "linear", "promised": True, "p": 0.5, "histograms": [[1, 3]]}
    other = row | {"engine": "mc_dropout", "model": "network", "promised": False}
    panels = draw_ranks([row, other]).axes
    assert len(panels) == 4
    assert [text.get_text() for panel in panels for text in panel.texts] == [
        "p = 0.5", "no hidden units", "no hidden units", "p = 0.5"
    ]  # fmt: skip
