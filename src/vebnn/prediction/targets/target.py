"""The contract of a kind of target."""

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np

from vebnn.prediction.law import Kind
from vebnn.prediction.targets.quadrature import gaussian_moments

if TYPE_CHECKING:
    from vebnn.prediction.prediction import Prediction


class Moments(NamedTuple):
    """Moments of new observations, in the user's units."""

    mean: np.ndarray
    aleatoric_variance: np.ndarray
    epistemic_variance: np.ndarray


class Target(ABC):
    """Abstract: the values that a target can have, and the scale z on which it is learned.

    On that scale an observation is z ~ N(μ, a), with aleatoric variance a, and μ ~ N(m, e), with
    epistemic variance e. A kind says what that means for y. All methods are elementwise.
    """

    name: ClassVar[str]
    support: ClassVar[str]  # the possible values, for sentences
    way_out: ClassVar[str]  # what to do with other values
    floor: float = -np.inf  # no prediction can be below it

    @abstractmethod
    def allows(self, y: np.ndarray) -> np.ndarray:
        """Return which values are possible; NaN, a missing observation, is."""

    @abstractmethod
    def transform(self, y: np.ndarray) -> np.ndarray:
        """Return z of possible values."""

    @abstractmethod
    def inverse(self, z: np.ndarray) -> np.ndarray:
        """Return y, which never falls as z grows: a quantile of z becomes that of y."""

    @abstractmethod
    def transformed_std(self, y: np.ndarray, std: np.ndarray) -> np.ndarray:
        """Return the std in z of a measurement error of y, to first order (delta method)."""

    @abstractmethod
    def conditional(self, mean: np.ndarray, variance: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return mean and variance of y, given z ~ N(mean, variance)."""

    @abstractmethod
    def log_prob(self, y: np.ndarray, law: "Prediction", kind: Kind) -> np.ndarray:
        """Return the log-density of y, or its log-probability; ``law`` is that of z."""

    @abstractmethod
    def cdf(self, y: np.ndarray, law: "Prediction", kind: Kind) -> np.ndarray:
        """Return the probability of an observation up to y."""

    def moments(self, mean: np.ndarray, aleatoric: np.ndarray, epistemic: np.ndarray) -> Moments:
        """Return the moments of y by the law of total variance.

            aleatoric = E_μ[Var(y | μ)],  epistemic = Var_μ[E(y | μ)],

        by quadrature over μ. The parts are scaled to sum to the variance for z ~ N(m, a + e): where a
        is small, E(y | μ) of whole numbers has steps, and quadrature is only close.
        """
        mean_of_all, total = self.conditional(mean, aleatoric + epistemic)
        (_, noise), (spread, _) = gaussian_moments(
            lambda given: np.stack(self.conditional(given, aleatoric)), mean, np.sqrt(epistemic)
        )
        scale = np.divide(total, noise + spread, out=np.ones_like(total), where=noise + spread > 0)
        return Moments(mean_of_all, scale * noise, scale * spread)
