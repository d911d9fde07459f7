"""What the library's own routines save over JAX's.

Two processes run the same job; one has a routine replaced by JAX's.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from importlib import import_module
from typing import Any

import jax
import jax.numpy as jnp

from benchmarks.speed import ours
from benchmarks.speed.cases import CONCRETE, SMALL_IMAGES, TOY
from benchmarks.speed.programs import CORES
from benchmarks.speed.results import Claim, sheet, short
from benchmarks.speed.scaling import BASE
from benchmarks.speed.timing import Timing
from vebnn.bench.render.sheet import Sheet
from vebnn.networks.activations import ACTIVATIONS
from vebnn.training import batches

OURS, JAX = "vebnn's", "JAX's"
DROPOUT = replace(CONCRETE, name="Concrete with dropout", dropout=0.1)
SINES = replace(CONCRETE, name="Concrete with sines", activation="sin")
LEAST = 1.1  # a routine of our own must save a tenth of what a user waits for


def _convolve(image: jax.Array, weight: jax.Array, stride: int) -> jax.Array:
    padding, axes = [(weight.shape[0] // 2,) * 2] * 2, ("NHWC", "HWIO", "NHWC")
    strides = (stride, stride)
    return jax.lax.conv_general_dilated(image[None], weight, strides, padding, dimension_numbers=axes)[
        0
    ]


# Routine: where it is looked up, and JAX's instead.
ROUTINES: dict[str, dict[str, Any]] = {
    "normal numbers": {
        "inference.psgld:standard_normal": lambda key, size: jax.random.normal(key, (size,)),
    },
    "uniform numbers": {
        "core.prng:uniform": lambda key, size, stream=0: jax.random.uniform(
            jax.random.fold_in(key, stream), (size,)
        ),
        "core.prng:split": jax.random.split,
    },
    "shuffling": {
        "training.batches:random_order": lambda key, num_batches, size: jax.random.permutation(
            key, num_batches * size
        ),
    },
    "log Γ": {"likelihoods.gamma:log_gamma": jax.scipy.special.gammaln},
    "gradients of convolutions": {"networks.resnet:convolve": _convolve},
    "sine": {"networks.activations:ACTIVATIONS": {**ACTIVATIONS, "sin": jnp.sin}},
}
ONE_SHUFFLE, EPOCH = "one shuffle", "epoch of Step 1"
# Jobs by routine and number of cores: what is timed, and its size.
JOBS: dict[tuple[str, int], list[tuple[str, Any]]] = {
    **{("normal numbers", cores): [("Step 3", CONCRETE), ("Step 3", TOY)] for cores in (1, CORES)},
    **{("uniform numbers", cores): [("Step 1", DROPOUT)] for cores in (1, CORES)},
    ("shuffling", 1): [
        *((ONE_SHUFFLE, rows) for rows in (1_000, 10_000, 60_000, 100_000, 1_000_000)),
        *((EPOCH, rows) for rows in (1_000, 60_000, 100_000, 1_000_000)),
    ],
    ("log Γ", 1): [("Step 2", CONCRETE)],
    ("sine", 1): [("Step 1", SINES)],
    ("gradients of convolutions", 1): [("Step 1", SMALL_IMAGES)],
}


def own(routine: str, cores: int, job: str, size: Any) -> tuple[Callable[[], Any], float]:
    """Return a job as it is."""
    if job == ONE_SHUFFLE:
        return _shuffles(size)
    return _epochs(size) if job == EPOCH else ours.fleet_on_all_cores(size, int(job[-1]))


def replaced(routine: str, cores: int, job: str, size: Any) -> tuple[Callable[[], Any], float]:
    """Return the same with JAX's routine, which stays in this process."""
    for place, function in ROUTINES[routine].items():
        module, name = place.split(":")
        home = import_module(f"vebnn.{module}")
        assert hasattr(home, name), place
        setattr(home, name, function)
    return own(routine, cores, job, size)


def _epochs(rows: int) -> tuple[Callable[[], Any], int]:
    case, epochs = replace(BASE, rows=rows), max(5, 500_000 // rows)
    job, _ = ours.steps(replace(case, steps=epochs * case.num_batches), 1)
    return job, epochs


def _shuffles(rows: int) -> tuple[Callable[[], Any], int]:
    shape, times = batches.batch_shape(rows, BASE.batch), max(2, 1_000_000 // rows)

    @jax.jit
    def run(values: jax.Array) -> jax.Array:
        def shuffle(values: jax.Array, key: jax.Array) -> tuple[jax.Array, None]:
            return values[batches.random_order(key, *shape)], None

        return jax.lax.scan(shuffle, values, jax.random.split(ours.KEY, times))[0]

    values = jnp.arange(shape[0] * shape[1])
    return lambda: jax.block_until_ready(run(values)), times


def of_timings(timings: Sequence[Timing]) -> tuple[list[Claim], Sheet]:
    """Return one promise for every line that a user waits for, and the table."""
    rows, claims = [], []
    for timing in timings:
        routine, cores, job, size = timing.job
        name = f"{job}, {size:,} rows" if isinstance(size, int) else f"{job}, {size.name}"
        name += "" if cores == 1 else f", {cores} cores"
        gain = timing.seconds[JAX] / timing.seconds[OURS]
        seconds = (short(timing.seconds[each]) for each in (OURS, JAX))
        rows.append([routine, name, *seconds, f"{gain:.2f} ×"])
        if job != ONE_SHUFFLE:  # a user waits for epochs
            claims.append(Claim(f"{name}: with {JAX} {routine} × as long", gain, LEAST))
    caption = (
        "The same work, on one core unless it says otherwise, with the library's own routine and with "
        "JAX's in its place. On several cores every core has a network of its own."
    )
    columns = ("routine", "work", OURS, JAX, "ratio")
    return claims, sheet("Own routines", caption, columns, rows)
