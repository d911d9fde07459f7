"""What all estimators share: fit, predict, calibrate, save."""

import warnings
from abc import ABC, abstractmethod
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, Literal, Self

import jax
import numpy as np
from sklearn.base import RegressorMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from vebnn.calibration import CALIBRATIONS, learn
from vebnn.core.arguments import require_one_of
from vebnn.core.compilation import evict_compiled_programs
from vebnn.core.types import Dataset
from vebnn.estimators.arguments import Arguments
from vebnn.estimators.predicting import Predicting
from vebnn.estimators.preprocessing import (
    Standardiser,
    entry_weight,
    input_weight,
    is_bytes,
)
from vebnn.estimators.rows import (
    all_at_once,
    groups_that_count,
    has_weight,
    require_shape,
    rows_that_count,
    snapshot,
)
from vebnn.estimators.target_kinds import kinds_of, require_kinds
from vebnn.inference.diagnostics import (
    FEWEST_DRAWS,
    NUM_INPUTS,
    ChainDiagnostics,
    diagnose_chains,
)
from vebnn.serialization.arrays import checksum
from vebnn.serialization.trees import arrays_of
from vebnn.strategies.contract import Fitted, Rows, Strategy
from vebnn.training import Observer, Stage, followers
from vebnn.training.checkpoint import Checkpoint, fingerprint
from vebnn.training.dealing import dealt
from vebnn.training.progress import Observers, Progress


@dataclass(eq=False, repr=False, kw_only=True)
class Regressor(RegressorMixin, Arguments, Predicting, ABC):
    """Abstract: a regressor that is fitted in standardised units and predicts in the user's.

    The arguments of all estimators are documented in :class:`~vebnn.VeBNNRegressor`.
    """

    target: str | tuple[str, ...] = "real"
    variance_network: Any = None
    weight_decay: float = 1e-6
    prior_precision: float = 1.0
    last_layer: bool = False
    validation_fraction: float = 0.2
    random_state: Any = None
    n_jobs: int | None = None
    verbose: int = 0
    checkpoint: str | PathLike[str] | None = None

    @abstractmethod
    def _strategy(self, num_rows: int) -> Strategy:
        """Check every argument, fill in those left open, and return the strategy."""

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        y_std: Any = None,
        groups: Any = None,
        X_val: Any = None,
        y_val: Any = None,
        y_std_val: Any = None,
        calibrate: str | Literal[False] | None = None,
    ) -> Self:
        """Learn from rows.

        NaN in a table ``X`` marks a missing value: it becomes the median of the feature, and a further
        input of the network tells where it was.
        Sequences of unequal length are padded at their end (:func:`vebnn.pad_sequences`). There, NaN in
        ``y`` marks a missing observation, which is ignored, and so is ``X`` after the last observation
        of a sequence.

        Args:
          X: ``(rows, features)`` array, pandas or polars frame; ``(rows, ..., features)`` for other
            networks, such as ``(rows, time, features)`` for GRU.
          y: ``(rows,)`` or ``(rows, ..., outputs)``.
          sample_weight: ``(rows,)``, how often each row counts; for sequences also ``(rows, time)``.
          y_std: known std of the measurement error of each target, in its units: one number,
            ``(rows,)`` or like ``y``. Only the noise beyond it is learned.
          groups: ``(rows,)``, a label for each row. Rows of one group (specimen, patient) fall into the
            same fold and on the same side of every split. So do rows with identical inputs, if there
            are at least three different inputs.
          X_val: rows for early stopping and validation NLL; never trained on.
          y_val: their targets.
          y_std_val: known std of their measurement error, like ``y_std``.
          calibrate: a method of :meth:`calibrate`, which is then called with ``X_val`` and ``y_val``.
            These rows have also stopped the training early, as in the paper. If that matters, leave
            this out, and calibrate on other rows after the fit.
        """
        self.check_arguments(calibrate)
        if calibrate and X_val is None:
            raise ValueError(
                f"The `calibrate` needs rows that were not trained on. Got {calibrate!r} without "
                f"`X_val` and `y_val`; pass them, or call calibrate(X_val, y_val) after the fit."
            )
        if (X_val is None) != (y_val is None):
            raise ValueError("The `X_val` and `y_val` must be given together. Got only one of them.")
        if X_val is not None and (y_std is None) != (y_std_val is None):
            raise ValueError(
                "The `y_std` and `y_std_val` must be given together, otherwise some rows are treated "
                "as noise-free. Got only one of them."
            )
        with all_at_once(self) as new:
            rows = new._prepare(X, y, sample_weight, y_std, groups, X_val, y_val, y_std_val)
            new.fitted_ = new._learn(rows)
            new._publish()
            new.calibration_ = None
        if calibrate:
            self.calibrate(X_val, y_val, calibrate, y_std=y_std_val)
        self._warn_of_slow_chains()
        return self

    def check_arguments(self, calibrate: str | Literal[False] | None = None) -> None:
        """Refuse wrong arguments, and those that do not go together, before any data are read."""
        self._strategy(num_rows=1)
        require_kinds(self.target)
        if self.checkpoint is not None and self.random_state is None:
            raise ValueError(
                "The `checkpoint` needs a `random_state`, because a resumed fit repeats the same "
                "random numbers. Got random_state=None; try random_state=0."
            )
        if calibrate is not None and calibrate is not False:
            self.check_calibration("calibrate", calibrate)

    def _warn_of_slow_chains(self) -> None:
        complaint = self.diagnostics_ and self.diagnostics_.complaint()
        if complaint:
            warnings.warn(complaint, ConvergenceWarning, stacklevel=3)

    def _prepare(
        self,
        X: Any,
        y: Any,
        sample_weight: Any,
        y_std: Any,
        groups: Any,
        X_val: Any,
        y_val: Any,
        y_std_val: Any,
        *,
        keep_units: bool = False,
    ) -> Rows:
        """Check rows and standardise them, in new units or those of the last fit.

        Rows of weight zero are left out.
        """
        names = getattr(y, "columns", None)
        if names is None and isinstance(name := getattr(y, "name", None), str) and name:
            names = [name]  # a pandas or polars series
        X, y = self._rows(X, y, reset=not keep_units)
        if keep_units:
            self._check_targets(y)
        else:
            self.target_names_ = None if names is None else tuple(map(str, names))
            self.one_output_ = y.ndim == 1
            self.in_shape_ = X.shape[1:]
            self.target_kinds_ = kinds_of(self.target, self._columns(y).shape[-1])
        weight = entry_weight(sample_weight, self._columns(y))
        y, y_std = self._transform("y", y, y_std, weight)
        if keep_units:
            X = X if self.gaps_ is None else self.gaps_.fill(X)
        else:
            X = self._learn_gaps(X, has_weight(weight))
            self.x_units_ = (
                Standardiser.of_bytes(X.shape[-1])
                if is_bytes(X)
                else Standardiser.learn(X, input_weight(weight, X))
            )
            self.y_units_ = Standardiser.learn(self._columns(y), weight)
        every_row = self._dataset(X, y, weight, y_std)
        data, belonging = rows_that_count(every_row), groups_that_count(groups, X, every_row.weight)
        if X_val is None:
            return Rows(data, None, belonging)
        X_val, y_val = self._rows(X_val, y_val, reset=False)
        require_shape("X_val", X_val, self.in_shape_)
        X_val = X_val if self.gaps_ is None else self.gaps_.fill(X_val)
        require_shape("y_val", y_val, y.shape[1:])
        every = entry_weight(None, self._columns(y_val))
        y_val, y_std_val = self._transform("y_val", y_val, y_std_val, every)
        held_out = rows_that_count(self._dataset(X_val, y_val, every, y_std_val))
        return Rows(data, held_out, belonging)

    def _learn(self, rows: Rows, before: Fitted | None = None) -> Fitted:
        """Run the strategy, from an earlier fit if there is one; show progress, keep checkpoints."""
        strategy = self._strategy(len(rows.data.x))
        for data in (rows.data, rows.held_out):
            if data is not None:
                self._check_data(data)
        evict_compiled_programs()
        seed = check_random_state(self.random_state).randint(2**31 - 1)
        observers: list[Observer] = [*followers(), *([Progress()] if self.verbose else [])]
        key, draws = jax.random.key(seed), None
        if before is not None:
            draws = before.posterior.draws
            # No two updates have the same random numbers, nor has the fit before them.
            key = jax.random.fold_in(key, int(checksum("", arrays_of("", draws))[:7], 16))
        if self.checkpoint is not None:
            same = fingerprint(strategy, (rows, draws), seed)
            observers.append(Checkpoint(self.checkpoint, same))
        with dealt(self.n_jobs), Observers(observers) as together:
            stage = Stage("", together)
            if before is None:
                return strategy.fit(key, rows, stage)
            return strategy.update(key, rows, stage, before)

    def calibrate(self, X_val: Any, y_val: Any, method: str = "common", *, y_std: Any = None) -> Self:
        """Correct the error bars of this fitted model by held-out rows, for all predictions.

        Every output has its own numbers. They are in ``calibration_``, replace an earlier calibration
        and are saved with the model; the raw prediction is still available as
        ``predict_distribution(X, calibrated=False)``.

        - ``"common"`` (the paper's): one factor c on the total variance, so that 95 % intervals hold
          95 % of these rows. Both parts are multiplied by c.
        - ``"separate"``: a factor on the aleatoric and one on the epistemic variance, by maximum
          likelihood.
        - ``"conformal"``: intervals mean ± q · std that hold at least the asked share of new targets,
          of whatever distribution, at every level up to n/(n + 1) with n rows. All else stays raw.

        The rows must not have been trained on. The paper takes those of early stopping, ``X_val`` of
        ``fit``; then errors look a little too small, and the guarantee of ``"conformal"`` is only
        approximate. It needs rows that were not used in any way, and scores need yet other rows.

        Args:
          X_val: rows like those of ``fit``.
          y_val: their targets.
          method: ``"common"``, ``"separate"`` or ``"conformal"``.
          y_std: known std of their measurement error, as in ``predict_distribution``. It is a part of
            the noise, and factors act on it, too.
        """
        check_is_fitted(self)
        self.check_calibration("method", method)
        _, y = self._rows(X_val, y_val, reset=False)
        raw = self._predict_transformed(*self._inputs(X_val), y_std)
        require_shape("y_val", y, raw.mean.shape[1:])
        y, _ = self._transform("y_val", y)
        parts = [y, raw.mean, raw.aleatoric_variance, raw.epistemic_variance]
        counts = np.isfinite(y) & np.isfinite(raw.mean)
        if not counts.all():
            if method == "conformal":
                raise ValueError(
                    'The method "conformal" needs sequences of equal length: its guarantee is for '
                    'whole ones. Got padded steps; use method="common" or "separate".'
                )
            whole = counts if self.one_output_ else counts.all(axis=-1)
            if not whole.any():
                raise ValueError("The `y_val` needs rows with all outputs. Got NaN in each of them.")
            parts = [part[whole] for part in parts]
        self.calibration_ = learn(method, *parts)
        return self

    def save(self, folder: str | Path) -> None:
        """Save the fitted model to a folder; see :mod:`vebnn.estimators.saving`."""
        from vebnn.estimators.saving import save

        check_is_fitted(self)
        save(self, folder)

    def export(self, path: str | PathLike[str]) -> None:
        """Write the fitted model as a StableHLO program that predicts without the library.

        The program maps any number of rows, in the units of ``fit`` and double precision, to mean,
        aleatoric std and epistemic std, in the units of y and calibrated. Missing values are filled as
        here, but without a warning.

        Raises:
          ValueError: if a target is a fraction or a count.
          ImportError: without the extra ``vebnn[export]``.
        """
        from vebnn.estimators.export import export

        check_is_fitted(self)
        export(self, path)

    @classmethod
    def load(cls, folder: str | PathLike[str], **your_own: Any) -> Self:
        """Load a saved model; pass ``network=``, ``inference=``, … again if they were your own."""
        from vebnn.estimators.saving import load

        return load(cls, folder, **your_own)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        tags.input_tags.allow_nan = not self._many_axes
        tags.non_deterministic = self.random_state is None
        return tags

    def _publish(self) -> None:
        """Set the attributes that report on the fit, after a fit or a load."""
        fitted = self.fitted_
        for name in fitted.published:
            setattr(self, f"{name}_", getattr(fitted, name))
        self.diagnostics_: ChainDiagnostics | None = None
        if fitted.posterior.markov and fitted.probe.shape[1] >= FEWEST_DRAWS:
            rows = fitted.probe.shape[2]
            some = np.unique(np.linspace(0, rows - 1, NUM_INPUTS).round().astype(int))
            self.diagnostics_ = diagnose_chains(fitted.probe[:, :, some])

    def _check_targets(self, y: np.ndarray) -> None:
        """Refuse targets of another shape or kind than those of the last fit."""
        wanted = () if self.one_output_ else self.fitted_.probe.shape[3:]
        if y.shape[1:] != wanted:
            shape = ", ".join(map(str, ("rows", *wanted)))
            raise ValueError(f"The `y` must have shape ({shape}), as in fit. Got {y.shape}.")
        if kinds_of(self.target, len(self.target_kinds_)) != self.target_kinds_:
            raise ValueError(f"The `target` must be that of the fit. Got {self.target!r}; call fit.")

    def with_fitted(self, fitted: Fitted) -> Self:
        """Return this model, not calibrated, with another fit of the same rows: that of an early step.

        ``followed_by`` of :mod:`vebnn.training` shows such fits to an observer.
        """
        check_is_fitted(self)
        model: Self = snapshot(self)
        model.fitted_, model.calibration_, model.diagnostics_ = fitted, None, None
        return model

    def check_calibration(self, name: str, method: Any) -> None:
        """Refuse an unknown method of calibration, before any training."""
        require_one_of(name, method, tuple(CALIBRATIONS))

    def _check_data(self, data: Dataset) -> None:
        """Refuse data that do not suit the arguments, before any training."""
