"""Plane-strain J2 plasticity at one point, written with 3×3 tensors and a bracketing root finder."""

import numpy as np
from scipy.optimize import brentq

MATRIX, PARTICLE = (100.0, 0.30), (1.0, 0.19)


def yield_stress(p: float) -> float:
    return 0.5 + 0.5 * p**0.4


class Point:
    """A point that remembers its plastic strain, if it is of the matrix."""

    def __init__(self, young: float, poisson: float, plastic: bool) -> None:
        self.shear, self.bulk = young / 2 / (1 + poisson), young / 3 / (1 - 2 * poisson)
        self.plastic = plastic
        self.plastic_strain = np.zeros((3, 3))
        self.p = 0.0

    def stress(self, strain: np.ndarray, *, commit: bool = False) -> np.ndarray:
        """Return stresses 11, 22, 12, 33 under strains 11, 22, 12."""
        e11, e22, e12 = strain
        whole = np.array([[e11, e12, 0], [e12, e22, 0], [0, 0, 0]])
        pressure = self.bulk * np.trace(whole) * np.eye(3)
        deviator = whole - np.trace(whole) / 3 * np.eye(3) - self.plastic_strain
        trial = 2 * self.shear * deviator
        equivalent = np.sqrt(1.5 * np.sum(trial**2))
        increment = 0.0
        if self.plastic and equivalent > yield_stress(self.p):
            increment = brentq(
                lambda d: equivalent - 3 * self.shear * d - yield_stress(self.p + d),
                0,
                equivalent / (3 * self.shear),
                xtol=1e-17,
                rtol=1e-15,
            )
        flow = 1.5 * increment * trial / equivalent if increment else np.zeros((3, 3))
        if commit:
            self.plastic_strain, self.p = self.plastic_strain + flow, self.p + increment
        sigma = trial - 2 * self.shear * flow + pressure
        return sigma[[0, 1, 0, 2], [0, 1, 1, 2]]


def matrix_point() -> Point:
    return Point(*MATRIX, plastic=True)


def particle_point() -> Point:
    return Point(*PARTICLE, plastic=False)


def response(point: Point, path: np.ndarray) -> np.ndarray:
    return np.array([point.stress(strain, commit=True) for strain in path])
