"""A data set before it is simulated: its sizes and seed, and the random inputs drawn from them."""

from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

import jax
import numpy as np

import vebnn
from vebnn.bench.simulators.plasticity.material import HARDENING_EXPONENT, Constituents
from vebnn.bench.simulators.plasticity.microstructure import (
    MATERIALS,
    Microstructure,
    matrix_weight,
    particle_fraction,
    place_particles,
)
from vebnn.bench.simulators.plasticity.paths import AMPLITUDE, COMPONENTS, CONTROL_POINTS, strain_paths
from vebnn.bench.simulators.plasticity.solver import Solver
from vebnn.core.arguments import require_whole

UNITS = {"strain": "1", "stress": "MPa", "centres": "mm", "residual": "yield strain"}

# Separate streams of random numbers: more of one kind leaves the others unchanged.
_ELEMENTS, _TRAIN, _CHOICE, _TEST = range(4)


@dataclass(frozen=True)
class Plan:
    """The settings of a data set."""

    material: int  # 1, or 2 with smaller elements and therefore more noise
    train: int = 1_000  # training paths, each on one element
    test: int = 100  # test paths, each on all elements, so that mean and noise are known
    sves: int = 50  # stochastic volume elements
    grid: int = 64  # pixels along an edge of an element
    steps: int = 100  # of every path
    seed: int = 0  # of elements and paths; both materials have the same paths for the same seed
    solver: Solver = field(default_factory=Solver)

    def __post_init__(self) -> None:
        if self.material not in MATERIALS:
            raise ValueError(f"The `material` must be 1 or 2. Got {self.material!r}.")
        least = {"train": 1, "test": 1, "sves": 2, "grid": 4, "steps": 1, "seed": 0}
        for name, smallest in least.items():
            require_whole(name, getattr(self, name), smallest)
        self.solver.check()

    @property
    def structure(self) -> Microstructure:
        """The elements' geometry."""
        return MATERIALS[self.material]

    @property
    def name(self) -> str:
        """Name of the files, without suffix."""
        return f"material_{self.material}"

    def description(self) -> dict[str, Any]:
        """Return all settings that decide the numbers, for JSON."""
        solver = self.solver._asdict()
        del solver["max_newton"]  # a limit does not change a solution
        paths = {"control_points": CONTROL_POINTS, "interpolation": "quadratic", "amplitude": AMPLITUDE}
        return {
            "material": self.name,
            "sizes": {name: getattr(self, name) for name in ("train", "test", "sves", "grid", "steps")},
            "seed": self.seed,
            "components": list(COMPONENTS),
            "shear": "tensor component, half of the angle",
            "units": UNITS,
            "theory": "plane strain, small strain, von Mises with isotropic hardening",
            "microstructure": asdict(self.structure) | {"particles": self.structure.num_particles},
            "constituents": asdict(Constituents()) | {"hardening_exponent": HARDENING_EXPONENT},
            "paths": paths,
            "solver": solver | {"precision": "float64"},
        }


def versions() -> dict[str, str]:
    """Return the versions of the packages that may change the last digits."""
    return {"vebnn": vebnn.__version__, "jax": jax.__version__, "numpy": np.__version__}


class Inputs(NamedTuple):
    """The random inputs, rounded to the 32 bits of the file before the simulation."""

    centres: np.ndarray  # (sves, particles, 2), mm
    strain: np.ndarray  # (train, steps, 3)
    sve_id: np.ndarray  # (train,): the element of each training path
    test_strain: np.ndarray  # (test, steps, 3)


def draw_inputs(plan: Plan) -> Inputs:
    """Return elements and paths; larger plans begin with those of smaller ones."""

    def stream(*purpose: int) -> np.random.Generator:
        return np.random.default_rng((plan.seed, *purpose))

    streams = (stream(_ELEMENTS, plan.material, number) for number in range(plan.sves))
    centres = [place_particles(plan.structure, rng) for rng in streams]
    return Inputs(
        np.array(centres, np.float32),
        strain_paths(plan.train, plan.steps, stream(_TRAIN)).astype(np.float32),
        stream(_CHOICE).integers(plan.sves, size=plan.train),
        strain_paths(plan.test, plan.steps, stream(_TEST)).astype(np.float32),
    )


def draw_weights(plan: Plan, centres: np.ndarray) -> list[np.ndarray]:
    """Return the share of every pixel that behaves as matrix, ``(grid, grid)`` per element."""
    return [
        matrix_weight(particle_fraction(plan.structure, one.astype(np.float64), plan.grid))
        for one in centres
    ]
