"""Predictions: mean, aleatoric and epistemic variance, in the user's units."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import numpy as np

from vebnn.prediction import joint
from vebnn.prediction.components import Components, Modes
from vebnn.prediction.gaussian import Gaussian
from vebnn.prediction.heavy_tailed import HeavyTailed
from vebnn.prediction.law import Kind, Law

if TYPE_CHECKING:
    import pandas

Spread = Literal["posterior", "ensemble"]


@dataclass(frozen=True, eq=False)
class Prediction:
    """The predictive distribution of some rows (paper, eq. 11).

    ``variance = aleatoric_variance + epistemic_variance``, for every method and every output.
    Everything has the shape of the targets: ``(rows,)`` or ``(rows, ..., outputs)``.

    Two distributions can be asked for: the ``"gaussian"`` with the mean and total variance, and the
    exact ``"mixture"`` of one Gaussian per draw of the network (and mode, if noise has several), which
    has the same two moments. Noise with heavy tails is Student-t in both: around a Gaussian mean, or
    around the mean of each draw (:mod:`vebnn.prediction.heavy_tailed`). Those of targets that are not
    real numbers are of their transformed values (:mod:`vebnn.prediction.targets`), so that no quantile
    or sample is an impossible value.

    Args:
      mean: predictive mean.
      aleatoric_variance: variance of the noise; more data will not remove it.
      epistemic_variance: variance of the mean over draws; more data would remove it.
      load_components: computes the Gaussians of the mixture when they are first asked for; those of
        transformed targets are on the transformed scale.
      target_names: names of the outputs.
      index: row labels for ``to_frame``.
      interval_reach: for intervals that are not those of a distribution (conformal ones): how many
        total stds an interval of some level reaches to either side, for each output.
      spread: what the epistemic variance is the variance of. ``"posterior"``: draws of chains that
        agree. ``"ensemble"``: chains that disagree (R-hat above 1.2), so that each has seen a part of
        the posterior, and the variance is between them. None: the method has no chains.
      degrees_of_freedom: of Student-t noise, one for each output; None for Gaussian noise. Its scale
        follows from the aleatoric variance, and so do those of the components.
      noise_correlation: of Gaussian noise, ``(outputs, outputs)``; None if the outputs have noise of
        their own.
      noise_autocorrelation: of Gaussian noise along sequences, by distance; None if steps have noise of
        their own. Samples follow it, so that they are smooth where measured sequences are.
      law: the distribution, if it does not follow from the fields above.
    """

    mean: np.ndarray
    aleatoric_variance: np.ndarray
    epistemic_variance: np.ndarray
    load_components: Callable[[], Components] = field(repr=False)
    target_names: tuple[str, ...] | None = None
    index: object = field(default=None, repr=False)
    interval_reach: Callable[[float], np.ndarray] | None = field(default=None, repr=False)
    spread: Spread | None = None
    degrees_of_freedom: np.ndarray | None = field(default=None, repr=False)
    noise_correlation: np.ndarray | None = field(default=None, repr=False)
    noise_autocorrelation: np.ndarray | None = field(default=None, repr=False)
    law: Law | None = field(default=None, repr=False)

    def __len__(self) -> int:
        return len(self.mean)

    @property
    def variance(self) -> np.ndarray:
        """Total variance."""
        return self.aleatoric_variance + self.epistemic_variance

    @property
    def std(self) -> np.ndarray:
        """Total standard deviation."""
        return np.sqrt(self.variance)

    @property
    def aleatoric_std(self) -> np.ndarray:
        """Standard deviation of the noise."""
        return np.sqrt(self.aleatoric_variance)

    @property
    def epistemic_std(self) -> np.ndarray:
        """Standard deviation of the mean over draws."""
        return np.sqrt(self.epistemic_variance)

    @property
    def aleatoric_covariance(self) -> np.ndarray:
        """Covariance of the noise of the outputs, ``(rows, ..., outputs, outputs)``."""
        return joint.aleatoric_covariance(self)

    @property
    def epistemic_covariance(self) -> np.ndarray:
        """Covariance of the means over draws, like the aleatoric one."""
        return joint.epistemic_covariance(self)

    @property
    def covariance(self) -> np.ndarray:
        """Total covariance of the outputs; its diagonal is the variance."""
        return self.aleatoric_covariance + self.epistemic_covariance

    @cached_property
    def components(self) -> Components:
        """The Gaussians of the mixture."""
        return self.load_components()

    @property
    def draws(self) -> np.ndarray:
        """The predicted mean of every draw of the network, ``(draws, *shape)``."""
        return self._law.draws

    @property
    def modes(self) -> Modes:
        """The branches of the noise; one, unless the model was made for several."""
        mean, variance, weight = np.broadcast_arrays(*self.components)
        if weight.shape[1] == 1:
            # Components of an evidential model include epistemic variance: take the parts instead.
            parts = (self.mean, self.aleatoric_std, self.epistemic_std, np.ones_like(self.mean))
            return Modes(*(part[None] for part in parts))
        return Modes(mean.mean(0), np.sqrt(variance.mean(0)), mean.std(0), weight.mean(0))

    def quantile(self, q: float | np.ndarray, kind: Kind = "gaussian") -> np.ndarray:
        """Return the q-th quantile of each target; several q come first in the shape.

        Raises:
          ValueError: if a q is not strictly between 0 and 1.
        """
        levels = np.asarray(q, float)
        if not np.all((levels > 0) & (levels < 1)):
            raise ValueError(f"The quantile `q` must be strictly between 0 and 1. Got {q!r}.")
        return self._law.quantile(levels, _checked(kind))

    def interval(self, level: float = 0.95, kind: Kind = "gaussian") -> tuple[np.ndarray, np.ndarray]:
        """Return the central interval that holds a new observation with probability ``level``.

        Raises:
          ValueError: if there is none of that level or kind.
        """
        return self._law.interval(_checked_level(level), _checked(kind))

    def noise_interval(self, level: float = 0.95) -> tuple[np.ndarray, np.ndarray]:
        """Return the central interval of new observations if the mean were certain: noise alone."""
        return self._law.noise_interval(_checked_level(level))

    def mean_interval(self, level: float = 0.95) -> tuple[np.ndarray, np.ndarray]:
        """Return the central interval of the mean, which is uncertain: the epistemic part alone."""
        return self._law.mean_interval(_checked_level(level))

    def standardised_error(self, y: np.ndarray) -> np.ndarray:
        """Return how many total stds observations are from their prediction, on the scale learned.

        With heavy tails, these are the errors of a Gaussian that are as improbable.
        """
        return self._law.standardised_error(self._shaped(y))

    def log_prob(self, y: np.ndarray, kind: Kind = "gaussian") -> np.ndarray:
        """Return the log-density of observations, or the log-probability of whole numbers, elementwise.

        Raises:
          ValueError: if ``y`` has not the shape of the prediction.
        """
        return self._law.log_prob(self._shaped(y), _checked(kind))

    def log_prob_joint(self, y: np.ndarray, kind: Kind = "gaussian") -> np.ndarray:
        """Return the log-density of all outputs of each row together, ``(rows, ...)``.

        Raises:
          ValueError: if there is one output, or noise is not Gaussian on the scale of y.
        """
        return joint.log_prob(self, self._shaped(y), _checked(kind))

    def cdf(self, y: np.ndarray, kind: Kind = "gaussian") -> np.ndarray:
        """Return the probability of an observation up to ``y``, elementwise."""
        return self._law.cdf(self._shaped(y), _checked(kind))

    def sample(
        self,
        num_samples: int = 1,
        kind: Kind = "mixture",
        random_state: int | np.random.Generator | None = None,
    ) -> np.ndarray:
        """Draw new observations, ``(num_samples, *shape)``; a mixture sample follows ONE network."""
        rng = np.random.default_rng(random_state)
        return self._law.sample(num_samples, _checked(kind), rng)

    def to_frame(self, level: float = 0.95) -> "pandas.DataFrame":
        """Return a table with mean, the three stds and the interval; one set of columns per output.

        Raises:
          ValueError: if the prediction is of sequences, which do not fit a table.
        """
        import pandas

        if self.mean.ndim > 2:
            raise ValueError(
                f"A table needs one row per prediction. Got predictions of shape {self.mean.shape}; "
                f"take a time step first."
            )
        stds = (self.std, self.aleatoric_std, self.epistemic_std)
        parts = np.stack([self.mean, *stds, *self.interval(level)], axis=-1)
        names: Sequence[str] | None = None
        if self.mean.ndim == 2:
            names = self.target_names or [f"y{i}" for i in range(self.mean.shape[1])]
        columns = frame_columns(names)
        return pandas.DataFrame(parts.reshape(len(parts), -1), columns=columns, index=self.index)

    @property
    def _law(self) -> Law:
        return self.law or (Gaussian(self) if self.degrees_of_freedom is None else HeavyTailed(self))

    def _shaped(self, y: np.ndarray) -> np.ndarray:
        y = np.asarray(y, float)
        if y.shape != self.mean.shape:
            raise ValueError(f"The shape of `y` must be {self.mean.shape}. Got {y.shape}.")
        return y


def _checked(kind: Kind) -> Kind:
    if kind not in ("gaussian", "mixture"):
        raise ValueError(f'The `kind` must be "gaussian" or "mixture". Got {kind!r}.')
    return kind


def _checked_level(level: float) -> float:
    if not 0 < level < 1:
        raise ValueError(f"The `level` must be strictly between 0 and 1. Got {level!r}.")
    return level


def frame_columns(targets: Sequence[str] | None) -> list[str]:
    """Return the columns of :meth:`Prediction.to_frame`, prefixed if there are several targets.

    Raises:
      ValueError: if two targets would have a column of the same name.
    """
    parts = ("mean", "std", "aleatoric_std", "epistemic_std", "lower", "upper")
    if targets is None:
        return list(parts)
    owners: dict[str, str] = {}
    for target in targets:
        for column in (f"{target}_{part}" for part in parts):
            if column in owners:
                raise ValueError(
                    f"The targets {owners[column]!r} and {target!r} would both have a column "
                    f"{column!r} in tables of predictions. Rename one of them."
                )
            owners[column] = target
    return list(owners)
