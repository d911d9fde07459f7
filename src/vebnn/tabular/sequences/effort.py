"""Which network for sequences and how long to train it: every step costs a pass of the network."""

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

from vebnn.inference import Engine
from vebnn.inference.engine import Budget
from vebnn.networks import GRU
from vebnn.training import Training, epochs_of_steps

NETWORKS: Mapping[str, GRU] = {"quick": GRU((32,)), "normal": GRU((64,)), "thorough": GRU((64,))}
DROPOUT = 0.02  # of engines that need it, before the outputs; the paper's
STEPS = 2_000  # of Adam, for one network
BURN_IN, THINNING = 1_500, 75  # steps of a chain
CHAINS = {"num_samples": 20, "num_chains": 4}
# Residuals of the posterior would need several rounds of long chains.
RESIDUALS = "cross_fit"
NUM_FOLDS = 3  # each is a network to train


def sequence_network(effort: str, kind: type[Engine]) -> GRU:
    """Return the network for an effort, with dropout if the engine needs it."""
    return replace(NETWORKS[effort], dropout_rate=DROPOUT if kind.needs_dropout else 0.0)


def sequence_trainings(num_sequences: int) -> tuple[Training, Training]:
    """Return the trainings of the mean and of the noise."""
    mean = Training.of_steps(STEPS, num_sequences, patience=STEPS // 4, learning_rate=5e-3)
    variance = Training.of_steps(STEPS // 4, num_sequences, patience=STEPS // 8, learning_rate=1e-2)
    return mean, variance


def sequence_engine(kind: type[Engine], num_sequences: int) -> Engine:
    """Return an engine of a kind, with lengths for this number of sequences."""
    mean, _ = sequence_trainings(num_sequences)
    lengths = {"burn_in": BURN_IN, "thinning": THINNING}
    in_epochs = {
        name: epochs_of_steps(steps, num_sequences, mean.batch_size, fewest=1)
        for name, steps in lengths.items()
    }
    engine = kind.for_budget(Budget(mean, CHAINS | in_epochs, mean))
    names: set[str] = {one.name for one in fields(engine)}  # type: ignore[arg-type]
    changes: dict[str, Any] = {"training": mean} if "training" in names else {}
    return replace(engine, **changes)  # type: ignore[type-var]
