"""What all estimators share: checks, units, prediction, saving."""

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Self

import jax
import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_array, check_random_state
from sklearn.utils.validation import check_consistent_length, check_is_fitted, validate_data

from vebnn.arguments import require_number, require_one_of
from vebnn.diagnostics import (
    FEWEST_DRAWS,
    NUM_INPUTS,
    ChainDiagnostics,
    diagnose_chains,
    to_arviz,
)
from vebnn.inference import ENGINES, Engine, Posterior
from vebnn.likelihoods.heads import Parts
from vebnn.networks import MLP
from vebnn.observers import Checkpoint, Observers, Progress, fingerprint
from vebnn.prediction import Components, Prediction
from vebnn.preprocessing import (
    Standardiser,
    end_of_sequences,
    entry_weight,
    input_weight,
    known_std,
)
from vebnn.training import Observer, Stage, Training
from vebnn.types import Dataset, Key, Params

Fill = Callable[[str, Params], Any]


class Regressor(RegressorMixin, BaseEstimator, ABC):
    """Abstract: a regressor that is fitted in standardised units and answers in the user's."""

    network: Any
    inference: Any
    learning_rates: Any
    random_state: Any
    verbose: int
    checkpoint: str | Path | None

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        y_std: Any = None,
        X_val: Any = None,
        y_val: Any = None,
    ) -> Self:
        """Learn from rows.

        Sequences of unequal length are padded at their end (``vebnn.preprocessing.pad_sequences``). NaN
        in ``y`` says that nothing was observed there, and counts nowhere; nor does what ``X`` holds
        after the last observation of a sequence.

        Args:
          X: ``(rows, features)`` array or DataFrame; ``(rows, ..., features)`` for other networks, such
            as ``(rows, time, features)`` for GRU.
          y: ``(rows,)`` or ``(rows, ..., outputs)``.
          sample_weight: ``(rows,)``, how often each row counts; for sequences also ``(rows, time)``.
          y_std: known std of the measurement error of each target, ``(rows,)`` or like ``y``. Only the
            noise beyond it is then learned.
          X_val: rows for early stopping and validation NLL; never trained on.
          y_val: their targets.
        """
        self._settings(num_rows=1)  # complain about arguments before looking at the data
        names = getattr(y, "columns", None)
        X, y = self._rows(X, y, reset=True)
        if (X_val is None) != (y_val is None):
            raise ValueError("The `X_val` and `y_val` must be given together. Got only one of them.")
        self.target_names_ = None if names is None else tuple(map(str, names))
        self.one_output_ = y.ndim == 1
        self.in_shape_ = X.shape[1:]
        weight = entry_weight(sample_weight, self._columns(y))
        self.x_units_ = Standardiser.learn(X, input_weight(weight, X))
        self.y_units_ = Standardiser.learn(self._columns(y), weight)
        data = self._dataset(X, y, weight, y_std)
        held_out = None
        if X_val is not None:
            X_val, y_val = self._rows(X_val, y_val, reset=False)
            for name, new, old in (("X", X_val, X), ("y", y_val, y)):
                if new.shape[1:] != old.shape[1:]:
                    raise ValueError(
                        f"The `{name}_val` must have the shape of {name} but for the rows, "
                        f"{old.shape[1:]}. Got {new.shape[1:]}."
                    )
            held_out = self._dataset(X_val, y_val, entry_weight(None, self._columns(y_val)), None)
        settings = self._settings(len(X))
        seed = check_random_state(self.random_state).randint(2**31 - 1)
        watchers: list[Observer] = [Progress()] if self.verbose else []
        if self.checkpoint is not None:
            watchers.append(Checkpoint(self.checkpoint, fingerprint(settings, (data, held_out), seed)))
        with Observers(watchers) as observers:
            self.fitted_ = self._learn(
                jax.random.key(seed), settings, data, held_out, Stage("", observers)
            )
        self._publish()
        complaint = self.diagnostics_ and self.diagnostics_.complaint()
        if complaint:
            warnings.warn(complaint, ConvergenceWarning, stacklevel=2)
        return self

    def predict(self, X: Any, return_std: bool = False) -> np.ndarray | tuple[np.ndarray, np.ndarray]:
        """Return the predictive mean and, if asked for, the total standard deviation."""
        prediction = self.predict_distribution(X)
        return (prediction.mean, prediction.std) if return_std else prediction.mean

    def predict_distribution(self, X: Any, *, y_std: Any = None) -> Prediction:
        """Return the whole predictive distribution.

        Args:
          X: rows like those of ``fit``. Sequences may be padded with NaN at their end, where the
            prediction is NaN, too; those of a GRU may also be of another length.
          y_std: known std of the measurement error of the new targets; it adds to the noise.
        """
        index = X.index if hasattr(X, "columns") else None
        x, padding = self._inputs(X)
        mean, aleatoric, epistemic = (_blanked(part, padding) for part in self._parts(x))
        squared = self.y_units_.scale**2
        known: Any = 0 if y_std is None else known_std(y_std, mean.shape) ** 2

        return Prediction(
            mean=self._like_y(self.y_units_.restore(mean)),
            aleatoric_variance=self._like_y(aleatoric * squared + known),
            epistemic_variance=self._like_y(epistemic * squared),
            load_components=partial(self._restored_components, x, padding, known),
            target_names=self.target_names_,
            index=index,
        )

    def to_arviz(self, X: Any, y: Any) -> Any:
        """Return the chains' predicted means at some rows, in your units, for ArviZ."""
        means = self.predict_distribution(X).draws
        return to_arviz(means.reshape(*self.fitted_.probe.shape[:2], *means.shape[1:]), np.asarray(y))

    def save(self, folder: str | Path) -> None:
        """Save the fitted model to a folder; see :mod:`vebnn.persistence`."""
        from vebnn.persistence import save

        check_is_fitted(self)
        save(self, folder)

    @classmethod
    def load(cls, folder: str | Path, **networks: Any) -> Self:
        """Load a saved model; pass ``network=`` again if it was one of your own."""
        from vebnn.persistence import load

        return load(cls, folder, **networks)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        tags.non_deterministic = self.random_state is None
        return tags

    @abstractmethod
    def _settings(self, num_rows: int) -> Any:
        """Check every argument, before any training, and fill in what was left open."""

    @abstractmethod
    def _learn(
        self, key: Key, settings: Any, data: Dataset, held_out: Dataset | None, stage: Stage
    ) -> Any:
        """Return what the strategy leaves behind: a posterior, probes, and what else it needs."""

    @abstractmethod
    def _parts(self, x: np.ndarray) -> Parts:
        """Return mean, aleatoric and epistemic variance, all standardised."""

    @abstractmethod
    def _components(self, x: np.ndarray) -> Components:
        """Return the Gaussians of the mixture, standardised."""

    @abstractmethod
    def _network_like(self, steps: tuple[int, ...]) -> tuple[Params, Any]:
        """Return weights and skeleton of the network that the engine explores; values do not count."""

    @abstractmethod
    def _pieces(self) -> dict[str, Params]:
        """Return the arrays to save beside the posterior."""

    @abstractmethod
    def _story(self) -> dict[str, Any]:
        """Return what else is to be saved, for JSON."""

    @abstractmethod
    def _rebuild(
        self, posterior: Posterior, probe: np.ndarray, probe_x: np.ndarray, fill: Fill, story: dict
    ) -> Any:
        """Return what ``_learn`` returned; ``fill(name, like)`` gives a saved piece back."""

    def _publish(self) -> None:
        """Set the attributes that tell a user how it went, after a fit or a load."""
        fitted = self.fitted_
        self.diagnostics_: ChainDiagnostics | None = None
        if fitted.posterior.markov and fitted.probe.shape[1] >= FEWEST_DRAWS:
            rows = fitted.probe.shape[2]
            some = np.unique(np.linspace(0, rows - 1, NUM_INPUTS).round().astype(int))
            self.diagnostics_ = diagnose_chains(fitted.probe[:, :, some])

    def _check_common(self, trainings: tuple[str, ...]) -> None:
        for name in trainings:
            value = getattr(self, name)
            if not (value is None or isinstance(value, Training)):
                raise ValueError(f"The `{name}` must be a Training(...) or None. Got {value!r}.")
        if self.checkpoint is not None and self.random_state is None:
            raise ValueError(
                "The `checkpoint` needs a `random_state`, because a resumed fit goes on with the same "
                "random numbers. Got random_state=None; try random_state=0."
            )

    def _check_learning_rates(self) -> None:
        rates = self.learning_rates
        if not isinstance(rates, tuple | list):
            raise ValueError(
                f"The `learning_rates` must be a tuple of numbers such as (1e-3, 3e-3), or (). "
                f"Got {rates!r}."
            )
        for rate in rates:
            require_number("learning_rates", rate, 0, np.inf)

    def _engine(self, num_rows: int) -> Engine:
        if hasattr(self.inference, "run"):
            return self.inference
        require_one_of("inference", self.inference, tuple(ENGINES))
        return ENGINES[self.inference].for_rows(num_rows)

    @property
    def _many_axes(self) -> bool:
        """Sequences and images are for networks that know what to do with them."""
        return self.network is not None and not isinstance(self.network, MLP)

    def _rows(self, X: Any, y: Any, *, reset: bool) -> tuple[np.ndarray, np.ndarray]:
        """Check inputs and targets; sequences of targets are for networks that make them."""
        if not self._many_axes:
            return validate_data(
                self, X, y, reset=reset, multi_output=True, y_numeric=True, dtype=float
            )
        X = validate_data(self, X, reset=reset, **self._checks_of_inputs(X))
        y = check_array(
            y,
            dtype=float,
            allow_nd=True,
            ensure_2d=False,
            ensure_all_finite="allow-nan",
            input_name="y",
        )
        check_consistent_length(X, y)
        if reset:
            self.n_features_in_ = X.shape[-1]
        else:
            self._check_shape(X)
        return X, y

    def _inputs(self, X: Any) -> tuple[np.ndarray, np.ndarray | None]:
        """Return standardised inputs, and which of their steps are padding, if any."""
        check_is_fitted(self)
        checks = self._checks_of_inputs(X) if self._many_axes else {"dtype": float}
        X = validate_data(self, X, reset=False, **checks)
        self._check_shape(X)
        padding = None
        if np.isnan(X).any():
            steps = self.fitted_.probe.shape[3:-1]
            if len(steps) != 1 or X.ndim != 3:
                raise ValueError("The `X` must not hold NaN: only sequences may be padded with it.")
            padding = end_of_sequences(X)
            X = np.where(padding[..., None], self.x_units_.centre, X)
        return self.x_units_.standardise(X).astype(np.float32), padding

    @staticmethod
    def _checks_of_inputs(X: Any) -> dict[str, Any]:
        # To scikit-learn, the second axis is that of features; beyond tables we check shapes ourselves.
        table = np.ndim(X) < 3
        return {
            "dtype": float,
            "allow_nd": True,
            "ensure_2d": table,
            "ensure_all_finite": True if table else "allow-nan",
        }

    def _check_shape(self, X: np.ndarray) -> None:
        as_before = X.shape[1:] == self.in_shape_
        if getattr(self.network, "any_length", False):
            as_before = X.ndim == 3 and X.shape[-1] == self.in_shape_[-1]
        if not as_before:
            wanted = ", ".join(map(str, self.in_shape_))
            raise ValueError(f"The `X` must have shape (rows, {wanted}), as in fit. Got {X.shape}.")

    def _dataset(self, X: np.ndarray, y: np.ndarray, weight: np.ndarray, y_std: Any) -> Dataset:
        """Bring rows into standardised units; what pads sequences becomes zero."""
        target = self._columns(y)
        counts = weight > 0
        known = np.zeros_like(target)
        if y_std is not None:
            known = known + (known_std(y_std, target.shape, counts) / self.y_units_.scale) ** 2
        x, used = self.x_units_.standardise(X), input_weight(weight, X) > 0
        if used.ndim == 2:
            x = np.where(used[..., None], x, 0)
        target = np.where(counts, self.y_units_.standardise(target), 0)
        return Dataset(*(array.astype(np.float32) for array in (x, target, weight, known)))

    def _restored_components(
        self, x: np.ndarray, padding: np.ndarray | None, known_variance: Any
    ) -> Components:
        mean, variance, weight = self._components(x)
        mean, variance = _blanked(mean, padding), _blanked(variance, padding)
        variance = variance * self.y_units_.scale**2 + known_variance
        whole = Components(self.y_units_.restore(mean), variance, weight.astype(float))
        return Components(*map(self._like_y, whole))

    def _columns(self, y: np.ndarray) -> np.ndarray:
        return y[:, None] if self.one_output_ else y

    def _like_y(self, values: np.ndarray) -> np.ndarray:
        return values[..., 0] if self.one_output_ else values


def _blanked(values: np.ndarray, padding: np.ndarray | None) -> np.ndarray:
    """Return values ``(..., rows, time, outputs)`` in double precision, NaN where there is padding."""
    values = values.astype(float)
    return values if padding is None else np.where(padding[..., None], np.nan, values)
