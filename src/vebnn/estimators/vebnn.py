"""VeBNN: the cooperative strategy as an estimator."""

from pathlib import Path
from typing import Any

import jax
import numpy as np

from vebnn.core.arguments import require_number, require_one_of, require_whole
from vebnn.core.types import Dataset, Key, Params
from vebnn.estimators.regressor import Fill, Regressor
from vebnn.inference import Engine, Posterior
from vebnn.inference.evaluation import evaluate_draws, moments, pool_chains
from vebnn.likelihoods.heads import Parts
from vebnn.likelihoods.variance_heads import VARIANCE_HEADS
from vebnn.networks.adapters import build_networks
from vebnn.prediction import Components
from vebnn.presets import (
    default_mean_training,
    default_network,
    default_variance_network,
    default_variance_training,
)
from vebnn.strategies.cooperative import Cooperative, Fitted, Round, fit_cooperative
from vebnn.strategies.cooperative.variance import Noise, aleatoric_variance
from vebnn.training import Stage, Training


class VeBNNRegressor(Regressor):
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
        (paper) from those it was trained on, which makes the noise look too small. ``"posterior"``
        cross-fits in round 1; later rounds learn from the Bayesian network of the round before, for
        data so few that ``"cross_fit"`` takes errors of the mean for noise. Set ``rounds=2``.
      num_folds: networks used for ``"cross_fit"`` and ``"posterior"``, in Step 1 for the residuals and,
        if rows are sequences, in Step 2 to stop the variance network.
      rescale_residuals: learn the noise relative to its mean size.
      variance_loss: the likelihood of Step 2: ``"gamma"``, whose mean and shape are outputs of the
        variance network; ``"gamma_rate"`` (paper), shape and rate; or, to compare with, ``"nll"``,
        ``"beta_nll"`` (β = 0.5) or ``"natural"``.
      mean_training: epochs, learning rate, batch size and patience of Step 1.
      learning_rates: several for Step 1, to choose from by validation loss; those of the paper are
        ``vebnn.presets.LEARNING_RATES``.
      variance_training: as ``mean_training``, of Step 2.
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
      calibration_: what :meth:`calibrate` has learned, or None.
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
        variance_loss: str = "gamma",
        mean_training: Training | None = None,
        learning_rates: tuple[float, ...] = (),
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
        self.variance_loss = variance_loss
        self.mean_training = mean_training
        self.learning_rates = learning_rates
        self.variance_training = variance_training
        self.weight_decay = weight_decay
        self.prior_precision = prior_precision
        self.validation_fraction = validation_fraction
        self.refit = refit
        self.random_state = random_state
        self.verbose = verbose
        self.checkpoint = checkpoint

    def _settings(self, num_rows: int) -> Cooperative:
        """Check every argument, before any training, and fill in what was left open."""
        require_whole("rounds", self.rounds, 1)
        require_whole("num_folds", self.num_folds, 2)
        require_one_of("iterate", self.iterate, ("posterior", "mean"))
        require_one_of("choose_round", self.choose_round, ("validation", "marginal_likelihood", "last"))
        require_one_of("residuals", self.residuals, ("cross_fit", "in_sample", "posterior"))
        require_one_of("variance_loss", self.variance_loss, tuple(VARIANCE_HEADS))
        self._check_common(("mean_training", "variance_training"))
        self._check_learning_rates()
        require_number("weight_decay", self.weight_decay, 0, np.inf, "[)")
        require_number("prior_precision", self.prior_precision, 0, np.inf)
        require_number("validation_fraction", self.validation_fraction, 0, 1)
        engine = self._engine(num_rows)
        return Cooperative(
            network=default_network(engine) if self.network is None else self.network,
            variance_network=self.variance_network or default_variance_network(self.network),
            engine=engine,
            rounds=self.rounds,
            iterate=self.iterate,  # type: ignore[arg-type]
            choose_round=self.choose_round,  # type: ignore[arg-type]
            residuals=self.residuals,  # type: ignore[arg-type]
            num_folds=self.num_folds,
            rescale_residuals=self.rescale_residuals,
            variance_loss=self.variance_loss,  # type: ignore[arg-type]
            learning_rates=tuple(map(float, self.learning_rates)),
            mean_training=self.mean_training or default_mean_training(num_rows),
            variance_training=self.variance_training or default_variance_training(num_rows),
            weight_decay=self.weight_decay,
            prior_precision=self.prior_precision,
            validation_fraction=self.validation_fraction,
            refit=self.refit,
        )

    def _learn(
        self, key: Key, settings: Cooperative, data: Dataset, held_out: Dataset | None, stage: Stage
    ) -> Fitted:
        return fit_cooperative(key, settings, data, held_out=held_out, stage=stage)

    def _publish(self) -> None:
        super()._publish()
        self.rounds_ = self.fitted_.rounds
        self.chosen_round_ = self.fitted_.chosen_round

    def _parts(self, x: np.ndarray) -> Parts:
        posterior = self.fitted_.posterior
        mean, epistemic = moments(posterior.skeleton, pool_chains(posterior.draws), x)
        return Parts(mean, self._noise(x), epistemic)

    def _components(self, x: np.ndarray) -> Components:
        posterior = self.fitted_.posterior
        means = evaluate_draws(posterior.skeleton, pool_chains(posterior.draws), x)
        return Components.of_draws(means, self._noise(x)[None])

    def _noise(self, x: np.ndarray) -> np.ndarray:
        fitted: Fitted = self.fitted_
        return aleatoric_variance(fitted.variance_skeleton, fitted.variance_head, fitted.noise, x)

    def _network_like(self, steps: tuple[int, ...]) -> tuple[Params, Any]:
        return self._build_one(self._settings(num_rows=1).network, 1, steps)

    def _pieces(self) -> dict[str, Params]:
        fitted: Fitted = self.fitted_
        return {"mean": fitted.mean_params, "noise": fitted.noise, "history": fitted.mean_history}

    def _story(self) -> dict[str, Any]:
        rounds = [one._asdict() for one in self.fitted_.rounds]
        return {"rounds": rounds, "chosen_round": self.fitted_.chosen_round}

    def _rebuild(
        self, posterior: Posterior, probe: np.ndarray, probe_x: np.ndarray, fill: Fill, story: dict
    ) -> Fitted:
        settings, steps = self._settings(num_rows=1), probe.shape[3:-1]
        head = VARIANCE_HEADS[settings.variance_loss]
        mean, skeleton = self._network_like(steps)
        variance, variance_skeleton = self._build_one(settings.variance_network, head.parts, steps)
        return Fitted(
            mean_params=fill("mean", mean),
            noise=fill("noise", Noise(variance, *[np.zeros(0)] * 3)),
            posterior=posterior,
            probe=probe,
            probe_x=probe_x,
            rounds=tuple(Round(**one) for one in story["rounds"]),
            chosen_round=story["chosen_round"],
            mean_history=fill("history", np.zeros(0)),
            skeleton=skeleton,
            variance_skeleton=variance_skeleton,
            variance_head=head,
        )

    def _build_one(self, recipe: Any, parts: int, steps: tuple[int, ...]) -> tuple[Params, Any]:
        keys = jax.random.split(jax.random.key(0), 1)
        out_size = parts * len(self.y_units_.scale)
        return build_networks(recipe, self.in_shape_, out_size, keys, steps=steps)
