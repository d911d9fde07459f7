"""vebnn's steps, as its estimator calls them."""

import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import jax
import numpy as np
from sklearn.exceptions import ConvergenceWarning

from benchmarks.speed.cases import Case
from benchmarks.speed.whole_fits import settings_of
from vebnn import GRU, MLP, PSGLD, JointRegressor, ResNet, VeBNNRegressor
from vebnn.core.types import NoisyDataset, Recipe, ResidualDataset
from vebnn.core.workers import spread
from vebnn.inference import Ensemble, Problem
from vebnn.inference.evaluation import moments
from vebnn.likelihoods.log_likelihoods import GaussianNoiseGiven, IsotropicPrior
from vebnn.networks import Network, build_networks
from vebnn.strategies.cooperative.variance import train_variance
from vebnn.training import SILENT, Objective, Training, all_rows, train

KEY = jax.random.key(0)
MANY_RUNS = 4  # times the steps of other timings: a second or so for each run, as in a benchmark


def steps(case: Case, step: int, runs: int = 1) -> tuple[Callable[[], Any], int]:
    """Return Step 1 (Adam), 2 (Gamma likelihood) or 3 (pSGLD); a step is one of one run."""
    num_epochs = max(1, case.steps // case.num_batches)
    num_steps = runs * num_epochs * case.num_batches
    if step == 2:
        return _variance(case, num_epochs), num_steps
    if step == 3:
        thinning = max(1, num_epochs // 40)
        kept = max(1, num_epochs // 2 // thinning)
        sampler = _sampler(case, kept, thinning, num_epochs - kept * thinning, runs)
        return _sampling(case, sampler), num_steps
    objective, starts, data = _problem(case, runs)
    rows, settings = all_rows(case.rows, runs), Training(num_epochs, batch_size=case.batch)
    return lambda: train(KEY, objective, starts, data, rows, settings), num_steps


def fleet_on_all_cores(case: Case, step: int) -> tuple[Callable[[], Any], int]:
    """Return the same with one run on every core; Step 2 has one run only."""
    return steps(case, step, 1 if step == 2 else jax.local_device_count())


def fleet(case: Case, runs: int) -> tuple[Callable[[], Any], int]:
    """Return Step 1 of many runs, such as the splits of a benchmark."""
    return steps(replace(case, steps=MANY_RUNS * case.steps), 1, runs)


def splits(case: Case, runs: int) -> tuple[Callable[[], Any], int]:
    """Return Steps 1 and 3 of many splits, spread over the cores as ``vebnn bench`` does."""
    longer = replace(case, steps=MANY_RUNS * case.steps)
    return lambda: list(spread(_one_split, [longer] * runs)), 1


def _one_split(case: Case) -> None:
    for step in (1, 3):
        job, _ = steps(case, step)
        job()


def whole_fit(case: Case, share: float) -> tuple[Callable[[], Any], float]:
    """Return a share of a fit with the paper's settings."""
    x, y = case.data()
    model = VeBNNRegressor(**settings_of(case, share), random_state=0)
    # Shortened chains have not converged.
    warnings.simplefilter("ignore", ConvergenceWarning)
    return lambda: model.fit(x, y if case.recurrent else y[:, 0]), share


def default_fit(case: Case) -> tuple[Callable[[], Any], int]:
    """Return a fit with default settings."""
    x, y = case.data()
    return lambda: VeBNNRegressor(random_state=0).fit(x, y[:, 0]), 1


def ensemble(case: Case, members: int) -> tuple[Callable[[], Any], int]:
    """Return a deep ensemble of mean and variance networks; a step is one of one member."""
    x, y = case.data()
    epochs = case.steps // case.num_batches
    training = Training(epochs, batch_size=case.batch)
    model = JointRegressor(
        network=MLP(case.widths, case.activation),
        inference=Ensemble(members, training=training),
        random_state=0,
    )
    return lambda: model.fit(x, y[:, 0]), members * epochs * case.num_batches


def sampling(case: Case, draws: int) -> Callable[[], Any]:
    """Return Step 3 with as many draws, ten epochs apart."""
    return _sampling(case, _sampler(case, draws, thinning=10, burn_in=1, chains=1))


def prediction(case: Case, draws: int, rows: int) -> Callable[[], Any]:
    """Return mean and variance over draws for some rows."""
    networks = jax.device_get(_networks(case, case.widths, case.outputs, draws))
    x, _ = replace(case, rows=rows).data()
    return lambda: moments(networks, x)


def _variance(case: Case, num_epochs: int) -> Callable[[], Any]:
    x, y = case.data()
    start = _networks(case, case.variance_widths, 2 * case.outputs, 1)
    residuals = ResidualDataset(x, y**2, np.ones_like(y), np.zeros_like(y))
    settings = Training(num_epochs, batch_size=case.batch)
    return lambda: train_variance(
        KEY, start, "gamma_rate", residuals, settings, rescaled=False, stage=SILENT
    )


def _sampler(case: Case, kept: int, thinning: int, burn_in: int, chains: int) -> PSGLD:
    return PSGLD(
        num_samples=kept,
        burn_in=burn_in,
        thinning=thinning,
        num_chains=chains,
        step_size=1e-5,
        batch_size=case.batch,
    )


def _sampling(case: Case, sampler: PSGLD) -> Callable[[], Any]:
    objective, starts, data = _problem(case, sampler.num_chains)
    problem = Problem(objective, data, lambda keys: starts, starts, np.arange(8))
    return lambda: sampler.run(KEY, problem, SILENT)


def _problem(case: Case, runs: int) -> tuple[Objective, Network, NoisyDataset]:
    x, y = case.data()
    starts = _networks(case, case.widths, case.outputs, runs)
    objective = Objective(GaussianNoiseGiven(), IsotropicPrior(np.float32(1)))
    return objective, starts, NoisyDataset(x, y, np.ones_like(y), np.full_like(y, 0.1))


def _networks(case: Case, widths: tuple[int, ...], out_size: int, runs: int) -> Network:
    recipe: Recipe = MLP(widths, case.activation, case.dropout)
    if case.depth:
        recipe = ResNet(case.depth, widths[0], head=widths[1:])
    elif case.recurrent:
        recipe = GRU(widths)
    steps = case.shape[:-1] if case.recurrent else ()
    return build_networks(recipe, case.shape, out_size, jax.random.split(KEY, runs), steps=steps)
