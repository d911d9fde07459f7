"""Random strain paths: smooth curves through random control values."""

import numpy as np
from scipy.interpolate import interp1d

from vebnn.core.arguments import require_whole

COMPONENTS = ("11", "22", "12")
CONTROL_POINTS = 8
AMPLITUDE = 0.02


def strain_paths(num_paths: int, num_steps: int, rng: np.random.Generator) -> np.ndarray:
    """Return ``(paths, steps, 3)`` strains 11, 22 and 12 (the tensor's shear, half of the angle).

    A quadratic spline joins eight control values per component, evenly spaced in time: 0, then seven
    uniform on ±0.02. The unloaded start is not among the steps. More paths begin with the same ones.
    """
    require_whole("num_paths", num_paths, 0)
    require_whole("num_steps", num_steps, 1)
    values = rng.uniform(-AMPLITUDE, AMPLITUDE, (num_paths, CONTROL_POINTS, len(COMPONENTS)))
    values[:, 0] = 0
    times = np.linspace(0, num_steps, CONTROL_POINTS)
    spline = interp1d(times, values, kind="quadratic", axis=1)
    return spline(np.arange(1, num_steps + 1))
