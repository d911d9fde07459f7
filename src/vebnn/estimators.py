"""The scikit-learn face."""

import warnings
from functools import partial
from pathlib import Path
from typing import Any

import jax
import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_consistent_length, check_is_fitted, validate_data

from vebnn.arguments import require_number, require_one_of, require_whole
from vebnn.cooperative import Cooperative, Fitted, fit_cooperative
from vebnn.cooperative.variance import aleatoric_variance
from vebnn.diagnostics import (
    FEWEST_DRAWS,
    NUM_INPUTS,
    ChainDiagnostics,
    diagnose_chains,
    outputs_by_chain,
    to_arviz,
)
from vebnn.inference import ENGINES, Engine
from vebnn.inference.functions import evaluate_draws, moments, pool_chains
from vebnn.networks import MLP
from vebnn.observers import Checkpoint, Observers, Progress, fingerprint
from vebnn.prediction import Prediction
from vebnn.preprocessing import Standardiser, known_std, row_weight
from vebnn.presets import (
    DEFAULT_VARIANCE_NETWORK,
    default_mean_training,
    default_network,
    default_variance_training,
)
from vebnn.training import Observer, Stage, Training
from vebnn.types import Dataset


class VeBNNRegressor(RegressorMixin, BaseEstimator):
    """Regression with error bars split into noise (aleatoric) and ignorance (epistemic).

    A mean network is trained; a variance network learns the noise from its squared residuals; a
    Bayesian neural network with that noise fixed gives the mean and its uncertainty (Algorithm 1 of
    the VeBNN paper). Inputs and targets are standardised inside; results are in your units.

    Args:
      network: the mean network, which is also the Bayesian network: a recipe such as
        ``MLP((50, 50), activation="tanh")``, an Equinox or Flax module acting on one example, or
        an ``(init, apply)`` pair.
      variance_network: the network that learns the noise; twice as many outputs as targets.
      inference: ``"psgld"``, ``"ensemble"``, ``"map"``, ``"mc_dropout"``, ``"bbb"``, ``"sgld"``,
        ``"sghmc"``, ``"nuts"``, or a configured engine such as ``PSGLD(num_chains=8)``. The default
        network drops a tenth of its hidden units if that is MC dropout.
      rounds: how often Steps 2 and 3 are run (K of Algorithm 1).
      iterate: ``"posterior"`` repeats Steps 2 and 3, after cross-fitting anew; ``"mean"`` repeats
        Steps 1 and 2, then runs Step 3 once.
      choose_round: ``"validation"``, ``"marginal_likelihood"`` (paper) or ``"last"``.
      residuals: ``"cross_fit"`` learns the noise from rows the mean had not seen, ``"in_sample"``
        (paper) from those it was trained on, which makes the noise look too small.
      num_folds: networks used for ``"cross_fit"``.
      rescale_residuals: learn the noise relative to its mean size.
      mean_training: epochs, learning rate, batch size and patience of Step 1.
      variance_training: the same of Step 2.
      weight_decay: L2 factor of Step 1.
      prior_precision: precision κ of the prior N(0, 1/κ) on the Bayesian network's weights.
      validation_fraction: share of the rows that stops Step 1 early, unless ``fit`` is given
        ``X_val`` and ``y_val``.
      refit: train Step 1 again on all rows for the best number of epochs.
      random_state: an integer makes ``fit`` bit-reproducible on one machine.
      verbose: 1 shows progress bars.
      checkpoint: a folder; an interrupted ``fit`` goes on from there when called again.

    Attributes:
      rounds_: a report per round; ``chosen_round_`` is the number of the one in use.
      diagnostics_: convergence of the chains in prediction space, for engines that have chains.
      n_features_in_, feature_names_in_: as in scikit-learn.

    Example:
      >>> model = VeBNNRegressor(random_state=0).fit(X, y)
      >>> p = model.predict_distribution(X_new)
      >>> p.mean, p.aleatoric_std, p.epistemic_std, p.interval(0.95)
    """

    def __init__(
        self,
        network: Any = None,
        *,
        variance_network: Any = None,
        inference: str | Engine = "psgld",
        rounds: int = 1,
        iterate: str = "posterior",
        choose_round: str = "validation",
        residuals: str = "cross_fit",
        num_folds: int = 5,
        rescale_residuals: bool = True,
        mean_training: Training | None = None,
        variance_training: Training | None = None,
        weight_decay: float = 1e-6,
        prior_precision: float = 1.0,
        validation_fraction: float = 0.2,
        refit: bool = False,
        random_state: Any = None,
        verbose: int = 0,
        checkpoint: str | Path | None = None,
    ) -> None:
        self.network = network
        self.variance_network = variance_network
        self.inference = inference
        self.rounds = rounds
        self.iterate = iterate
        self.choose_round = choose_round
        self.residuals = residuals
        self.num_folds = num_folds
        self.rescale_residuals = rescale_residuals
        self.mean_training = mean_training
        self.variance_training = variance_training
        self.weight_decay = weight_decay
        self.prior_precision = prior_precision
        self.validation_fraction = validation_fraction
        self.refit = refit
        self.random_state = random_state
        self.verbose = verbose
        self.checkpoint = checkpoint

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        y_std: Any = None,
        X_val: Any = None,
        y_val: Any = None,
    ) -> "VeBNNRegressor":
        """Learn from rows.

        Args:
          X: ``(rows, features)`` array or DataFrame; ``(rows, ..., features)`` for other networks.
          y: ``(rows,)`` or ``(rows, ..., outputs)``.
          sample_weight: ``(rows,)``, how often each row counts.
          y_std: known std of the measurement error of each target, ``(rows,)`` or like ``y``. The
            variance network then learns only the noise beyond it.
          X_val: rows for early stopping of Step 1 and the validation NLL of each round; never
            trained on.
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
        weight = row_weight(sample_weight, len(X))
        self.x_units_ = Standardiser.learn(X, weight)
        self.y_units_ = Standardiser.learn(self._columns(y), weight)
        data = self._dataset(X, y, weight, y_std)
        held_out = None
        if X_val is not None:
            X_val, y_val = self._rows(X_val, y_val, reset=False)
            if y_val.shape[1:] != y.shape[1:]:
                raise ValueError(
                    f"The `y_val` must have the shape of y but for the rows, {y.shape[1:]}. "
                    f"Got {y_val.shape[1:]}."
                )
            held_out = self._dataset(X_val, y_val, np.ones(len(X_val)), None)
        settings = self._settings(len(X))
        seed = check_random_state(self.random_state).randint(2**31 - 1)
        watchers: list[Observer] = [Progress()] if self.verbose else []
        if self.checkpoint is not None:
            watchers.append(Checkpoint(self.checkpoint, fingerprint(settings, (data, held_out), seed)))
        with Observers(watchers) as observers:
            self.fitted_ = fit_cooperative(
                jax.random.key(seed), settings, data, held_out=held_out, stage=Stage("", observers)
            )
        self.rounds_ = self.fitted_.rounds
        self.chosen_round_ = self.fitted_.chosen_round
        self.diagnostics_ = self._diagnose()
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
          X: rows like those of ``fit``.
          y_std: known std of the measurement error of the new targets; it adds to the noise.
        """
        index = X.index if hasattr(X, "columns") else None
        x = self._inputs(X)
        fitted: Fitted = self.fitted_
        draws = pool_chains(fitted.posterior.draws)
        mean, epistemic = moments(fitted.posterior.skeleton, draws, x)
        noise = aleatoric_variance(fitted.variance_skeleton, fitted.noise, x)
        scale = self.y_units_.scale
        aleatoric = noise.astype(float) * scale**2
        if y_std is not None:
            aleatoric = aleatoric + known_std(y_std, aleatoric.shape) ** 2

        return Prediction(
            mean=self._like_y(self.y_units_.restore(mean.astype(float))),
            aleatoric_variance=self._like_y(aleatoric),
            epistemic_variance=self._like_y(epistemic.astype(float) * scale**2),
            load_draws=partial(self._means_of_draws, x),
            target_names=self.target_names_,
            index=index,
        )

    def to_arviz(self, X: Any, y: Any) -> Any:
        """Return the chains' predicted means at some rows, in your units, for ArviZ."""
        x, posterior = self._inputs(X), self.fitted_.posterior
        outputs = outputs_by_chain(posterior.skeleton, posterior.draws, x)
        return to_arviz(self._like_y(self.y_units_.restore(outputs)), np.asarray(y))

    def save(self, folder: str | Path) -> None:
        """Save the fitted model to a folder; see :mod:`vebnn.persistence`."""
        from vebnn.persistence import save

        check_is_fitted(self)
        save(self, folder)

    @classmethod
    def load(cls, folder: str | Path, **networks: Any) -> "VeBNNRegressor":
        """Load a saved model; pass ``network=`` again if it was one of your own."""
        from vebnn.persistence import load

        return load(cls, folder, **networks)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        tags.non_deterministic = self.random_state is None
        return tags

    def _settings(self, num_rows: int) -> Cooperative:
        """Check every argument, before any training, and fill in what was left open."""
        require_whole("rounds", self.rounds, 1)
        require_whole("num_folds", self.num_folds, 2)
        require_one_of("iterate", self.iterate, ("posterior", "mean"))
        require_one_of("choose_round", self.choose_round, ("validation", "marginal_likelihood", "last"))
        require_one_of("residuals", self.residuals, ("cross_fit", "in_sample"))
        for name in ("mean_training", "variance_training"):
            value = getattr(self, name)
            if not (value is None or isinstance(value, Training)):
                raise ValueError(f"The `{name}` must be a Training(...) or None. Got {value!r}.")
        if self.checkpoint is not None and self.random_state is None:
            raise ValueError(
                "The `checkpoint` needs a `random_state`, because a resumed fit goes on with the same "
                "random numbers. Got random_state=None; try random_state=0."
            )
        require_number("weight_decay", self.weight_decay, 0, np.inf, "[)")
        require_number("prior_precision", self.prior_precision, 0, np.inf)
        require_number("validation_fraction", self.validation_fraction, 0, 1)
        engine = self.inference
        if not hasattr(engine, "run"):
            require_one_of("inference", engine, tuple(ENGINES))
            engine = ENGINES[engine].for_rows(num_rows)
        return Cooperative(
            network=default_network(engine) if self.network is None else self.network,
            variance_network=self.variance_network or DEFAULT_VARIANCE_NETWORK,
            engine=engine,
            rounds=self.rounds,
            iterate=self.iterate,  # type: ignore[arg-type]
            choose_round=self.choose_round,  # type: ignore[arg-type]
            residuals=self.residuals,  # type: ignore[arg-type]
            num_folds=self.num_folds,
            rescale_residuals=self.rescale_residuals,
            mean_training=self.mean_training or default_mean_training(num_rows),
            variance_training=self.variance_training or default_variance_training(num_rows),
            weight_decay=self.weight_decay,
            prior_precision=self.prior_precision,
            validation_fraction=self.validation_fraction,
            refit=self.refit,
        )

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
        many = {"dtype": float, "allow_nd": True}
        X, y = validate_data(
            self, X, y, reset=reset, validate_separately=(many, many | {"ensure_2d": False})
        )
        check_consistent_length(X, y)
        return X, y

    def _inputs(self, X: Any) -> np.ndarray:
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=float, allow_nd=self._many_axes)
        return self.x_units_.standardise(X).astype(np.float32)

    def _dataset(self, X: np.ndarray, y: np.ndarray, weight: np.ndarray, y_std: Any) -> Dataset:
        """Bring rows into standardised units."""
        target = self.y_units_.standardise(self._columns(y))
        known = np.zeros_like(target)
        if y_std is not None:
            known = known + (known_std(y_std, target.shape) / self.y_units_.scale) ** 2
        by_entry = weight.reshape(-1, *(1,) * (target.ndim - 1)) * np.ones_like(target)
        arrays = (self.x_units_.standardise(X), target, by_entry, known)
        return Dataset(*(array.astype(np.float32) for array in arrays))

    def _columns(self, y: np.ndarray) -> np.ndarray:
        return y[:, None] if self.one_output_ else y

    def _like_y(self, values: np.ndarray) -> np.ndarray:
        return values[..., 0] if self.one_output_ else values

    def _means_of_draws(self, x: np.ndarray) -> np.ndarray:
        draws = pool_chains(self.fitted_.posterior.draws)
        outputs = evaluate_draws(self.fitted_.posterior.skeleton, draws, x).astype(float)
        return self._like_y(self.y_units_.restore(outputs))

    def _diagnose(self) -> ChainDiagnostics | None:
        """Judge the chains at some of the training rows, if the engine has chains."""
        if not self.fitted_.posterior.markov or self.fitted_.probe.shape[1] < FEWEST_DRAWS:
            return None
        rows = self.fitted_.probe.shape[2]
        some = np.unique(np.linspace(0, rows - 1, NUM_INPUTS).round().astype(int))
        return diagnose_chains(self.fitted_.probe[:, :, some])
