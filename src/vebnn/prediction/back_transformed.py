"""The distribution of targets that are learned on a transformed scale."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from vebnn.prediction.components import Components
from vebnn.prediction.law import Kind, Law
from vebnn.prediction.prediction import Prediction
from vebnn.prediction.targets import Moments, Real, Target


@dataclass(frozen=True, eq=False)
class BackTransformed(Law):
    """Output by output, what the law of z says about y.

    Args:
      transformed: the prediction of z, whose law is Gaussian.
      targets: the kind of each output.
    """

    transformed: Prediction
    targets: tuple[Target, ...]

    @property
    def draws(self) -> np.ndarray:
        """The mean of y for every draw."""
        return self.by_output(_draws)

    def quantile(self, levels: np.ndarray, kind: Kind) -> np.ndarray:
        """Return the quantiles of z, transformed back."""
        return self._inverse(self.transformed.quantile(levels, kind))

    def interval(self, level: float, kind: Kind) -> tuple[np.ndarray, np.ndarray]:
        """Return the ends of the interval of z, transformed back."""
        lower, upper = self.transformed.interval(level, kind)
        return self._inverse(lower), self._inverse(upper)

    def noise_interval(self, level: float) -> tuple[np.ndarray, np.ndarray]:
        """Return the ends for z, transformed back."""
        lower, upper = self.transformed.noise_interval(level)
        return self._inverse(lower), self._inverse(upper)

    def mean_interval(self, level: float) -> tuple[np.ndarray, np.ndarray]:
        """Return the means of y at both ends of the interval of z's mean."""
        lower, upper = self.transformed.mean_interval(level)
        return self.by_output(_mean_at, lower), self.by_output(_mean_at, upper)

    def standardised_error(self, y: np.ndarray) -> np.ndarray:
        """Return the error of z in its total stds."""
        z = self.by_output(lambda target, _, y: target.transform(y), y)
        return self.transformed.standardised_error(z)

    def log_prob(self, y: np.ndarray, kind: Kind) -> np.ndarray:
        """Return log-densities, or log-probabilities of whole numbers."""
        return self.by_output(lambda target, law, y: target.log_prob(y, law, kind), y)

    def cdf(self, y: np.ndarray, kind: Kind) -> np.ndarray:
        """Return the probability of values up to y."""
        return self.by_output(lambda target, law, y: target.cdf(y, law, kind), y)

    def sample(self, num_samples: int, kind: Kind, rng: np.random.Generator) -> np.ndarray:
        """Draw z and transform it back."""
        return self._inverse(self.transformed.sample(num_samples, kind, rng))

    def _inverse(self, z: np.ndarray) -> np.ndarray:
        return self.by_output(lambda target, _, z: target.inverse(z), z)

    def by_output(self, function: Callable[..., np.ndarray], *values: np.ndarray) -> np.ndarray:
        """Call a function of target, law and values for each output; stack results on the last axis."""
        if self.transformed.mean.ndim == 1:
            return function(self.targets[0], self.transformed, *values)
        columns = [
            function(target, _output(self.transformed, at), *(value[..., at] for value in values))
            for at, target in enumerate(self.targets)
        ]
        return np.stack(columns, axis=-1)


def in_user_units(transformed: Prediction, targets: tuple[Target, ...]) -> Prediction:
    """Return the prediction of y from that of z; real targets are both."""
    if all(isinstance(target, Real) for target in targets):
        return transformed
    law = BackTransformed(transformed, targets)
    moments = Moments(*law.by_output(_moments))
    return replace(transformed, law=law, interval_reach=None, **moments._asdict())


def _moments(target: Target, law: Prediction) -> np.ndarray:
    return np.stack(target.moments(law.mean, law.aleatoric_variance, law.epistemic_variance))


def _mean_at(target: Target, law: Prediction, z: np.ndarray) -> np.ndarray:
    mean, _ = target.conditional(z, law.aleatoric_variance)
    return mean


def _draws(target: Target, law: Prediction) -> np.ndarray:
    mean, variance, weight = law.components
    centre, _ = target.conditional(mean, variance)
    return np.sum(weight * centre, axis=1)


def _output(law: Prediction, at: int) -> Prediction:
    """Return the prediction of one output."""

    def load_components() -> Components:
        parts = np.broadcast_arrays(*law.components)
        return Components(*(part[..., at] for part in parts))

    reach = law.interval_reach
    return replace(
        law,
        mean=law.mean[..., at],
        aleatoric_variance=law.aleatoric_variance[..., at],
        epistemic_variance=law.epistemic_variance[..., at],
        load_components=load_components,
        interval_reach=None if reach is None else lambda level: reach(level)[at],
    )
