"""Predictions: mean, aleatoric and epistemic variance, in the user's units."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np
from scipy import special, stats

if TYPE_CHECKING:
    import pandas

Kind = Literal["gaussian", "mixture"]
Spread = Literal["posterior", "ensemble"]


class Components(NamedTuple):
    """The Gaussians of a mixture, each ``(draws, modes, *shape)`` or broadcastable to it."""

    mean: np.ndarray
    variance: np.ndarray
    weight: np.ndarray  # sums to one over modes

    @classmethod
    def of_draws(cls, mean: np.ndarray, variance: np.ndarray) -> "Components":
        """Return one mode per draw, from means and variances ``(draws, *shape)``."""
        return cls(mean[:, None], variance[:, None], np.ones((1,) * (mean.ndim + 1)))


class Modes(NamedTuple):
    """Branches that an observation can fall on, ``(modes, *shape)`` each."""

    mean: np.ndarray
    aleatoric_std: np.ndarray
    epistemic_std: np.ndarray
    weight: np.ndarray  # probability of each branch


@dataclass(frozen=True, eq=False)
class Prediction:
    """The predictive distribution of some rows (paper, eq. 11).

    ``variance = aleatoric_variance + epistemic_variance``, for every method and every output.
    Everything has the shape of the targets: ``(rows,)`` or ``(rows, ..., outputs)``.

    Two distributions can be asked for: the ``"gaussian"`` with the mean and total variance, and the
    exact ``"mixture"`` of one Gaussian per draw of the network (and mode, if noise has several), which
    has the same two moments.

    Args:
      mean: predictive mean.
      aleatoric_variance: variance of the noise; more data will not remove it.
      epistemic_variance: variance of the mean over draws; more data would remove it.
      load_components: computes the Gaussians of the mixture when they are first asked for.
      target_names: names of the outputs.
      index: row labels for ``to_frame``.
      interval_reach: for intervals that are not those of a distribution (conformal ones): how many
        total stds an interval of some level reaches to either side, for each output.
      spread: what the epistemic variance is the variance of. ``"posterior"``: draws of chains that
        agree. ``"ensemble"``: chains that disagree (R-hat above 1.2), so that each has seen a part of
        the posterior, and the variance is between them. None: the method has no chains.
    """

    mean: np.ndarray
    aleatoric_variance: np.ndarray
    epistemic_variance: np.ndarray
    load_components: Callable[[], Components] = field(repr=False)
    target_names: tuple[str, ...] | None = None
    index: object = field(default=None, repr=False)
    interval_reach: Callable[[float], np.ndarray] | None = field(default=None, repr=False)
    spread: Spread | None = None

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

    @cached_property
    def components(self) -> Components:
        """The Gaussians of the mixture."""
        return self.load_components()

    @property
    def draws(self) -> np.ndarray:
        """The predicted mean of every draw of the network, ``(draws, *shape)``."""
        return np.sum(self.components.weight * self.components.mean, axis=1)

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
        levels = levels.reshape(levels.shape + (1,) * self.mean.ndim)
        gaussian = self.mean + self.std * special.ndtri(levels)
        return gaussian if _checked(kind) == "gaussian" else self._mixture_quantile(levels)

    def interval(self, level: float = 0.95, kind: Kind = "gaussian") -> tuple[np.ndarray, np.ndarray]:
        """Return the central interval that holds a new observation with probability ``level``.

        Raises:
          ValueError: if there is none of that level or kind.
        """
        if not 0 < level < 1:
            raise ValueError(f"The `level` must be strictly between 0 and 1. Got {level!r}.")
        if self.interval_reach is not None:
            if _checked(kind) == "mixture":
                raise ValueError(
                    'Conformal intervals are multiples of the total std. Got kind="mixture"; leave it '
                    "out, or take the prediction of predict_distribution(X, calibrated=False)."
                )
            half = self.interval_reach(level) * self.std
            return self.mean - half, self.mean + half
        lower, upper = self.quantile(np.array([(1 - level) / 2, (1 + level) / 2]), kind)
        return lower, upper

    def log_prob(self, y: np.ndarray, kind: Kind = "gaussian") -> np.ndarray:
        """Return the log-density of observations, elementwise.

        Raises:
          ValueError: if ``y`` has not the shape of the prediction.
        """
        y = self._shaped(y)
        if _checked(kind) == "gaussian":
            return stats.norm.logpdf(y, self.mean, self.std)
        mean, variance, weight = self.components
        by_component = stats.norm.logpdf(y, mean, np.sqrt(variance))
        return special.logsumexp(by_component, axis=(0, 1), b=weight / len(mean))

    def cdf(self, y: np.ndarray, kind: Kind = "gaussian") -> np.ndarray:
        """Return the probability of an observation below ``y``, elementwise."""
        y = self._shaped(y)
        if _checked(kind) == "gaussian":
            return special.ndtr((y - self.mean) / self.std)
        mean, variance, weight = self.components
        below = special.ndtr((y - mean) / np.sqrt(variance))
        return np.mean(np.sum(weight * below, axis=1), axis=0)

    def sample(
        self,
        num_samples: int = 1,
        kind: Kind = "mixture",
        random_state: int | np.random.Generator | None = None,
    ) -> np.ndarray:
        """Draw new observations, ``(num_samples, *shape)``; a mixture sample follows ONE network."""
        rng = np.random.default_rng(random_state)
        noise = rng.standard_normal((num_samples, *self.mean.shape))
        if _checked(kind) == "gaussian":
            return self.mean + self.std * noise
        mean, variance, weight = np.broadcast_arrays(*self.components)
        chosen = rng.integers(len(mean), size=num_samples)
        # One mode for every target of every sample: where the running sum of weights passes u.
        u = rng.random((num_samples, 1, *self.mean.shape)) if weight.shape[1] > 1 else 0.0
        mode = np.argmax(np.cumsum(weight[chosen], axis=1) > u, axis=1)[:, None]
        picked = (np.take_along_axis(part[chosen], mode, 1)[:, 0] for part in (mean, variance))
        centre, spread = picked
        return centre + np.sqrt(spread) * noise

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

    def _shaped(self, y: np.ndarray) -> np.ndarray:
        y = np.asarray(y, float)
        if y.shape != self.mean.shape:
            raise ValueError(f"The shape of `y` must be {self.mean.shape}. Got {y.shape}.")
        return y

    def _mixture_quantile(self, levels: np.ndarray) -> np.ndarray:
        """Bisect the mixture's distribution function; no component's quantile lies further out."""
        mean, variance, _ = self.components
        found = []
        for level in levels.ravel():
            outermost = mean + np.sqrt(variance) * special.ndtri(level)
            low, high = outermost.min((0, 1)), outermost.max((0, 1))
            for _ in range(60):
                middle = (low + high) / 2
                below = self.cdf(middle, "mixture") < level
                low, high = np.where(below, middle, low), np.where(below, high, middle)
            found.append((low + high) / 2)
        return np.reshape(found, levels.shape[: levels.ndim - self.mean.ndim] + self.mean.shape)


def _checked(kind: str) -> str:
    if kind not in ("gaussian", "mixture"):
        raise ValueError(f'The `kind` must be "gaussian" or "mixture". Got {kind!r}.')
    return kind


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
