"""Devices that share a run: the same loss as one device, up to rounding."""

import jax
import numpy as np
import pytest

from tests.support.patches import patch_networks, patches
from vebnn.inference import PSGLD, Problem
from vebnn.inference import sampling as sampling_module
from vebnn.likelihoods.log_likelihoods import GaussianNoiseGiven, IsotropicPrior
from vebnn.training import SILENT, Objective, Training, all_rows, train
from vebnn.training import loop as loop_module

pytestmark = pytest.mark.skipif(jax.local_device_count() < 2, reason="needs two devices")


@pytest.fixture
def data():
    return patches(45)


@pytest.fixture
def starts():
    return patch_networks(1)


OBJECTIVE = Objective(GaussianNoiseGiven(), IsotropicPrior(np.float32(2)))


def in_turn(monkeypatch, module, compute):
    found = []
    for shares in (1, 2):
        monkeypatch.setattr(module, "shares_of", lambda x, num_runs, shares=shares: shares)
        found.append(compute())
    return found


def test_one_batch_on_two_devices_has_the_same_loss(data, starts, monkeypatch):
    # 45 rows in three batches of 15 rows: shares of unequal length.
    def compute():
        settings = Training(4, learning_rate=1e-2, batch_size=15)
        rows = all_rows(45)
        return train(jax.random.key(1), OBJECTIVE, starts, data, rows, settings, stage=SILENT)

    alone, shared = in_turn(monkeypatch, loop_module, compute)
    np.testing.assert_allclose(shared.history[..., 0], alone.history[..., 0], rtol=1e-5)
    np.testing.assert_allclose(shared.params.weights.module.weight, alone.params.weights.module.weight,
                               atol=1e-5)  # fmt: skip
    assert np.ptp(alone.history[0, :, 0]) > 1e-3


def test_chains_on_two_devices_have_the_same_draws(data, starts, monkeypatch):
    problem = Problem(OBJECTIVE, data, lambda keys: starts, starts, np.arange(3))
    sampler = PSGLD(num_samples=3, burn_in=1, thinning=1, batch_size=15)

    def compute():
        return sampler.run(jax.random.key(2), problem, SILENT)

    alone, shared = in_turn(monkeypatch, sampling_module, compute)
    np.testing.assert_allclose(shared.trace, alone.trace, rtol=1e-5)


def test_only_wide_rows_are_shared_and_only_by_devices_to_spare(data):
    devices = jax.local_device_count()
    assert loop_module.shares_of(data.x, 1) == devices
    assert loop_module.shares_of(data.x, devices) == 1
    assert loop_module.shares_of(data.target, 1) == 1
