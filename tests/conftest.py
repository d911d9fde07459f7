"""What every test shares: strict shapes, fixed seeds, and a problem whose answer is known."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import vebnn  # isort: skip  # before JAX starts its devices

import jax
import numpy as np
import pytest
from arviz_stats.base import array_stats
from hypothesis import settings

from alloys import TARGETS, alloys
from commands import run
from vebnn.inference import Problem
from vebnn.likelihoods.of_networks import GaussianNoiseGiven, IsotropicPrior
from vebnn.networks import MLP
from vebnn.networks.adapters import build_networks
from vebnn.programs import leave_room_for_programs
from vebnn.training import Objective
from vebnn.types import Dataset, Params

assert vebnn.__version__

# (N,) against (N, 1) is the silent error of regression likelihoods.
jax.config.update("jax_numpy_rank_promotion", "raise")

settings.register_profile("vebnn", derandomize=True, deadline=None, database=None, max_examples=100)
settings.load_profile("vebnn")


@pytest.fixture(autouse=True)
def offline(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """No test needs the network, or finds what this machine's user has downloaded."""
    nowhere = tmp_path_factory.getbasetemp() / "no-cache"
    monkeypatch.setattr("vebnn.datasets.download.cache_folder", lambda: nowhere)
    monkeypatch.setenv("VEBNN_UCI_URL", "http://127.0.0.1:9")  # nobody listens to the discard port


@pytest.fixture(autouse=True, scope="module")
def room_for_programs() -> None:
    """Many tests compile without fitting an estimator, which would look after this."""
    leave_room_for_programs()


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(0)


@pytest.fixture
def key() -> jax.Array:
    return jax.random.key(0)


@pytest.fixture
def compiled() -> Iterator[list[str]]:
    """The name of every program, as it is compiled or found in the compilation cache."""
    names: list[str] = []

    def note(event: str, seconds: float, **more: Any) -> None:
        if event == "/jax/core/compile/backend_compile_duration":
            names.append(more.get("fun_name", "a program"))

    jax.monitoring.register_event_duration_secs_listener(note)
    yield names
    jax.monitoring.unregister_event_duration_listener(note)


@pytest.fixture(scope="session")
def alloys_csv(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of rows as people have them."""
    path = tmp_path_factory.mktemp("alloys") / "alloys.csv"
    alloys().to_csv(path, index=False)
    return path


@pytest.fixture(scope="session")
def alloys_fit(alloys_csv: Path) -> Any:
    """The real command that fits a model to it, once for all tests."""
    targets = [word for name in TARGETS for word in ("--target", name)]
    finished = run("fit", "alloys.csv", *targets, "--effort", "quick", cwd=alloys_csv.parent)
    assert finished.returncode == 0, finished.stderr
    return finished


@pytest.fixture(scope="session")
def alloys_model(alloys_csv: Path, alloys_fit: Any) -> Path:
    """The folder of that model."""
    return alloys_csv.with_name("alloys.model")


@pytest.fixture(scope="module")
def quick_compilation():
    """For dozens of tiny fits of different shapes: compiling takes far longer than running."""
    jax.config.update("jax_disable_most_optimizations", True)
    yield
    jax.config.update("jax_disable_most_optimizations", False)


@pytest.fixture(scope="session")
def sine() -> tuple[np.ndarray, np.ndarray]:
    """Sixty rows of a sine with noise, in units that are far from standardised."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-2, 2, (60, 2))
    return X, 30 + 8 * np.sin(X[:, 0]) + rng.normal(0, 2, 60)


@pytest.fixture(scope="session")
def held(sine) -> dict[str, np.ndarray]:
    """Return arguments of fit: some rows are held out, which spares a network its second training."""
    X, y = sine
    return {"X": X[:50], "y": y[:50], "X_val": X[50:], "y_val": y[50:]}


class Stages:
    """Notes the name of every stage that is run, and how many runs are its fleet."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.num_runs: dict[str, int] = {}

    def restore(self, stage: str, state: Any) -> Any:
        self.names.append(stage)
        self.num_runs[stage] = len(state.key)
        return state

    def report(self, *_: Any) -> None:
        pass

    def close(self, finished: bool) -> None:
        pass


@pytest.fixture
def stages(monkeypatch: pytest.MonkeyPatch) -> Stages:
    """What estimators with ``verbose=1`` show, noted down."""
    seen = Stages()
    monkeypatch.setattr("vebnn.estimators.regressor.Progress", lambda: seen)
    return seen


class LinearProblem(NamedTuple):
    """Bayesian linear regression with known, unequal noise: its posterior has a closed form."""

    data: Dataset
    skeleton: Any
    starts: Params  # eight of them
    objective: Objective
    mean: np.ndarray  # of the posterior over (slopes, intercept)
    covariance: np.ndarray

    @property
    def problem(self) -> Problem:
        recipe, in_shape = MLP(()), self.data.x.shape[1:]
        return Problem(
            objective=self.objective,
            data=self.data,
            initialise=lambda keys: build_networks(recipe, in_shape, 1, keys)[0],
            starts=self.starts,
            validation_rows=np.arange(0, len(self.data.x), 5),
            skeleton=self.skeleton,
        )


def flatten(params: Params) -> np.ndarray:
    """Return (..., parameters) from stacked parameters of a linear model: slopes, intercept."""
    return np.concatenate([params.weights[0][..., 0, :], params.biases[0]], axis=-1)


# (slopes, intercept) → prediction: the middle of the data, their edge, and far outside
PLACES = np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 1.0], [0.0, -2.0, 1.0], [3.0, 3.0, 1.0]])


def assert_predictions(draws: np.ndarray, mean: np.ndarray, covariance: np.ndarray) -> None:
    """Hold predictions of a linear model to four Monte Carlo standard errors."""
    outputs = draws.astype(float) @ PLACES.T
    center = PLACES @ mean
    std = np.sqrt(np.einsum("ij,jk,ik->i", PLACES, covariance, PLACES))
    size = array_stats.ess(outputs, chain_axis=0, draw_axis=1)
    assert size.min() > 1_000
    assert (np.abs(outputs.mean((0, 1)) - center) < 4 * std / np.sqrt(size)).all()
    size = array_stats.ess((outputs - center) ** 2, chain_axis=0, draw_axis=1)
    # The standard error of a std is std/√(2 · size).
    assert (np.abs(outputs.std((0, 1)) / std - 1) < 4 / np.sqrt(2 * size)).all()


@pytest.fixture(scope="session")
def linear() -> LinearProblem:
    rng = np.random.default_rng(1)
    num_rows, precision = 61, 1.0
    x = rng.standard_normal((num_rows, 2))
    variance = rng.uniform(0.1, 0.5, (num_rows, 1))
    weight = rng.choice([0.0, 1.0, 2.0], (num_rows, 1), p=[0.1, 0.7, 0.2])
    noise = np.sqrt(variance) * rng.standard_normal((num_rows, 1))
    target = x @ np.array([[0.8], [-0.5]]) + 0.3 + noise
    design = np.column_stack([x, np.ones(num_rows)])
    by_row = (weight / variance)[:, 0]
    covariance = np.linalg.inv(precision * np.eye(3) + (design.T * by_row) @ design)
    mean = covariance @ (design.T * by_row) @ target[:, 0]
    data = Dataset(*(part.astype(np.float32) for part in (x, target, weight, variance)))
    starts, skeleton = build_networks(MLP(()), (2,), 1, jax.random.split(jax.random.key(2), 8))
    objective = Objective(GaussianNoiseGiven(skeleton), IsotropicPrior(np.float32(precision)))
    return LinearProblem(data, skeleton, starts, objective, mean, covariance)


def rescaled(problem: LinearProblem, num_rows: int, factor: float) -> tuple[Dataset, np.ndarray]:
    """Return data with more rows and another noise variance, and the precision of their posterior."""
    rng = np.random.default_rng(3)
    x = rng.standard_normal((num_rows, 2))
    variance = factor * rng.uniform(0.1, 0.5, (num_rows, 1))
    design = np.column_stack([x, np.ones(num_rows)])
    target = design @ problem.mean[:, None] + np.sqrt(variance) * rng.standard_normal((num_rows, 1))
    parts = (x, target, np.ones_like(target), variance)
    precision = np.eye(3) + (design / variance).T @ design
    return Dataset(*(part.astype(np.float32) for part in parts)), precision
