"""The paper's one-dimensional examples, with known mean and noise (Skafte et al. 2019)."""

from typing import Literal, NamedTuple

import numpy as np

NoiseKind = Literal["heteroscedastic", "homoscedastic"]

DATA_RANGE = (0.0, 10.0)
PLOT_RANGE = (-4.0, 14.0)


class Toy(NamedTuple):
    """Samples of x · sin x with noise."""

    X: np.ndarray  # (n, 1)
    y: np.ndarray  # (n,)


def true_mean(x: np.ndarray) -> np.ndarray:
    """Return x · sin x."""
    return x * np.sin(x)


def true_noise_std(x: np.ndarray, noise: NoiseKind = "heteroscedastic") -> np.ndarray:
    """Return 0.3 · √(1 + x²), the std of 0.3 x ε₁ + 0.3 ε₂ (paper, eq. 52), or 0.5 (eq. 53)."""
    return 0.3 * np.sqrt(1 + x**2) if noise == "heteroscedastic" else np.full_like(x, 0.5)


def observe(x: np.ndarray, noise: NoiseKind, rng: np.random.Generator) -> np.ndarray:
    """Return one noisy observation at each x."""
    return true_mean(x) + true_noise_std(x, noise) * rng.standard_normal(x.shape)


def load_toy(
    num_rows: int = 200, noise: NoiseKind = "heteroscedastic", *, random_state: int = 0
) -> Toy:
    """Draw training data with x uniform in [0, 10]."""
    rng = np.random.default_rng(random_state)
    x = rng.uniform(*DATA_RANGE, num_rows)
    return Toy(x[:, None], observe(x, noise, rng))
