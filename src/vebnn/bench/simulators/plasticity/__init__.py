"""Stress of a composite under strain paths: elastic discs in an elastoplastic matrix, plane strain."""

from vebnn.bench.simulators.plasticity.microstructure import (
    MATERIALS,
    Microstructure,
    matrix_weight,
    particle_fraction,
    place_particles,
)
from vebnn.bench.simulators.plasticity.paths import strain_paths
from vebnn.bench.simulators.plasticity.solver import NotConverged, Response, Solver, simulate

__all__ = [
    "MATERIALS",
    "Microstructure",
    "NotConverged",
    "Response",
    "Solver",
    "matrix_weight",
    "particle_fraction",
    "place_particles",
    "simulate",
    "strain_paths",
]
