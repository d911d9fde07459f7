"""What every test shares: strict shapes, fixed seeds, and a problem whose answer is known."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import vebnn  # isort: skip  # before JAX starts its devices

import jax
import numpy as np
import pytest
from hypothesis import settings

from alloys import TARGETS, alloys
from tests.support.commands import run
from tests.support.discs import write_discs
from tests.support.linear import LinearProblem, linear_problem
from vebnn.core.compilation import evict_compiled_programs
from vebnn.tabular.files import read_table
from vebnn.tabular.model import TableModel
from vebnn.training import Observer, PlannedStage

assert vebnn.__version__

# (N,) against (N, 1) is the silent error of regression likelihoods.
jax.config.update("jax_numpy_rank_promotion", "raise")

settings.register_profile("vebnn", derandomize=True, deadline=None, database=None, max_examples=100)
settings.load_profile("vebnn")


@pytest.fixture(autouse=True)
def offline(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """No test needs the network, or finds what this machine's user has downloaded."""
    nowhere = tmp_path_factory.getbasetemp() / "no-cache"
    monkeypatch.setattr("vebnn.datasets.uci.cache_folder", lambda: nowhere)
    monkeypatch.setenv("VEBNN_UCI_URL", "http://127.0.0.1:9")  # the discard port is closed


@pytest.fixture(autouse=True, scope="module")
def room_for_programs() -> None:
    """Many tests compile without fitting an estimator, which would look after this."""
    evict_compiled_programs()


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
    """A CSV file with numbers, categories and missing values."""
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


@pytest.fixture(scope="session")
def new_alloys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Rows with gaps, an unknown category, and values outside the training range."""
    path = tmp_path_factory.mktemp("new") / "new.csv"
    frame = alloys(2_500, seed=1)
    frame.loc[[3, 2_000], "alloy"] = ["X1", "X2"]
    frame.to_csv(path, index=False)
    return path


@pytest.fixture(scope="session")
def predicted_alloys(alloys_model: Path, new_alloys: Path) -> tuple[str, tuple[str, ...]]:
    """The predictions of the whole table as CSV, and the notices about it."""
    model = TableModel.load(alloys_model)
    frame = read_table(new_alloys, model.table_encoder.label_names)
    prediction, notices = model.predict(frame)
    return model.prediction_table(frame, prediction).to_csv(index=False), notices


@pytest.fixture(scope="session")
def discs_fit(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The real command that fits a model to images, once for all tests."""
    here = tmp_path_factory.mktemp("images")
    write_discs(here / "discs").to_csv(here / "labels.csv", index=False)
    words = ["labels.csv", "--images", "discs", "--target", "radius", "--out", "discs.model"]
    # This engine compiles less than an ensemble does, and compiling takes longer than running.
    words += ["--effort", "quick", "--inference", "psgld"]
    finished = run("fit", *words, cwd=here)
    assert finished.returncode == 0, finished.stderr
    finished.folder = here
    return finished


@pytest.fixture(scope="session")
def discs_model(discs_fit: Any) -> Path:
    """The folder of that model; beside it are ``discs`` and ``labels.csv``."""
    return discs_fit.folder / "discs.model"


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


class Stages(Observer):
    """Notes the name of every stage that is run, and how many runs are its fleet."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.num_runs: dict[str, int] = {}
        self.expected: list[list[str]] = []  # names of stages to come, at each time they were told

    def expect(self, stages: Sequence[PlannedStage]) -> None:
        self.expected.append([one.name for one in stages])

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


@pytest.fixture(scope="session")
def linear() -> LinearProblem:
    return linear_problem()
