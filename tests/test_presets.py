"""Default settings, and those of the paper's experiments."""

import numpy as np
import pytest

from vebnn import GRU, MLP, PSGLD, Ensemble, JointRegressor, MCDropout, Training, VeBNNRegressor
from vebnn.inference import ENGINES
from vebnn.presets import (
    DEFAULT_NETWORK,
    default_network,
    default_variance_network,
    paper,
    paper_joint,
    pilot,
    stretched,
    variance_warm_up,
)
from vebnn.training.batches import MANY

EXPERIMENTS = ("toy", "uci", "plasticity", "images")


@pytest.mark.parametrize("experiment", EXPERIMENTS)
@pytest.mark.parametrize("engine", ENGINES)
def test_the_papers_settings_are_arguments_of_the_estimators(experiment: str, engine: str) -> None:
    for estimator, settings in (
        (VeBNNRegressor, paper(experiment, engine)),
        (JointRegressor, paper_joint(experiment, engine)),
    ):
        strategy = estimator(**settings)._strategy(100)
        assert isinstance(strategy.engine, ENGINES[engine])
        assert (strategy.network.dropout_rate > 0) == (engine == "mc_dropout")


def test_the_papers_chains() -> None:
    engine = paper("uci", "psgld")["inference"]
    assert engine == PSGLD(num_samples=150, burn_in=5_000, thinning=100)
    assert paper("plasticity", "sgld")["inference"].batch_size == 1_000


def test_engines_that_minimise_train_as_long_as_the_experiment() -> None:
    assert paper("uci", "ensemble")["inference"] == Ensemble(training=Training(20_000))
    assert paper("uci", "bbb")["inference"].training == Training(20_000, learning_rate=1e-2)


def test_bbb_has_a_smaller_network_on_the_toy_data() -> None:
    assert paper("toy", "bbb")["network"] == MLP((50,), "tanh")
    assert paper_joint("toy", "bbb")["network"] == MLP((50,), "tanh")
    assert paper("toy", "psgld")["network"] == MLP((256, 256), "tanh")


def test_the_default_network_has_dropout_only_for_engines_that_need_it() -> None:
    assert default_network(MCDropout()).dropout_rate == 0.1
    assert default_network(Ensemble()) == DEFAULT_NETWORK


def test_the_variance_network_is_of_the_kind_of_the_mean_network() -> None:
    assert isinstance(default_variance_network(GRU((4,))), GRU)
    assert isinstance(default_variance_network(MLP((4,))), MLP)
    assert isinstance(default_variance_network(GRU((4,)), sampled=True), GRU)


def test_the_papers_networks_have_unit_priors() -> None:
    for experiment in EXPERIMENTS:
        settings = paper(experiment)
        assert settings["network"].prior == settings["variance_network"].prior == "unit"


def test_stretched_settings_have_multiplied_lengths() -> None:
    engine = stretched(PSGLD(burn_in=100, thinning=10, decay=0.99), 4)
    assert (engine.burn_in, engine.thinning, engine.num_samples) == (400, 40, 150)
    # The step size ends at the same value.
    assert engine.decay**400 == pytest.approx(0.99**100)
    training = stretched(Ensemble(3, Training(100, patience=10)), 0.25).training
    assert (training.num_epochs, training.patience) == (25, 2)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("mnist",), "`experiment` must be one of 'toy', 'uci', 'plasticity', 'images'. Got 'mnist'"),
        (("uci", "hmc"), "`engine` must be one of 'ensemble', .*. Got 'hmc'"),
    ],
)
def test_wrong_names_get_a_sentence(arguments: tuple, sentence: str) -> None:
    for settings in (paper, paper_joint):
        with pytest.raises(ValueError, match=sentence):
            settings(*arguments)


def test_chains_of_the_noise_of_large_tables_start_from_trained_networks() -> None:
    warm_up = variance_warm_up(4 * MANY)
    assert variance_warm_up(MANY) is None
    assert (warm_up.epoch_rows, warm_up.patience) == (pilot(4 * MANY).epoch_rows, None)


def test_pilot_chains_of_large_tables_have_fewer_draws() -> None:
    # An epoch is the least between two draws.
    few, many = pilot(MANY), pilot(4 * MANY)
    assert (few.num_samples, few.thinning, few.epoch_rows) == (40, 1, None)
    assert (many.num_samples, many.thinning, many.burn_in) == (5, 2, few.burn_in)
    assert many.epoch_rows == round(np.sqrt(2) * MANY)
