"""VeBNN for noise with several modes, as an estimator."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import jax
import numpy as np

from vebnn.core.arguments import require_number, require_one_of, require_whole
from vebnn.core.types import Dataset, Key, Params
from vebnn.estimators.regressor import Fill, Regressor
from vebnn.inference import PSGLD, Engine, Posterior
from vebnn.likelihoods.heads import Parts
from vebnn.networks.adapters import build_networks
from vebnn.prediction import Components
from vebnn.presets import (
    default_mean_training,
    default_network,
    default_variance_network,
    default_variance_training,
)
from vebnn.strategies.cooperative.variance import Noise
from vebnn.strategies.mixture.algorithm import (
    FittedMixture,
    MixtureRound,
    fit_mixture,
    predict,
    predict_modes,
)
from vebnn.strategies.mixture.steps import MixtureCooperative
from vebnn.training import Stage, Training


class MixtureRegressor(Regressor):
    """Regression where the same x may lead to one of several values: noise with several modes.

    It has the face of :class:`~vebnn.VeBNNRegressor`. The network predicts a mean and a coefficient
    for every mode (a mixture density network, Bishop 1994), the variance network a noise for every
    mode, and a Bayesian neural network with that noise fixed gives the uncertainty of means and
    coefficients. Each target has a mixture of its own.

    ``predict_distribution(X).modes`` has the branches; ``log_prob``, ``quantile``, ``cdf`` and
    ``interval`` know them if asked for ``kind="mixture"``.

    Args:
      num_modes: Gaussians in the mixture of every target.
      network: as for VeBNNRegressor; a module of your own needs 2 · ``num_modes`` outputs per target.
      variance_network: the network that learns the noise; as many outputs.
      inference: an engine, as for VeBNNRegressor; ``"psgld"`` takes shorter steps than there.
      rounds: how often Steps 2 and 3 are run.
      choose_round: ``"validation"`` or ``"last"``.
      residuals: ``"cross_fit"`` learns the noise from rows the modes had not seen, ``"in_sample"``
        from those they were trained on, which makes the noise look too small.
      num_folds: networks used for ``"cross_fit"``.
      num_starts: random starts of Step 1, of which the best is kept.
      em_steps: how often Step 2 assigns rows to modes, and learns the noise of each.
      rescale_residuals: learn the noise of each mode relative to its mean size.
      mean_training: epochs, learning rate, batch size and patience of Step 1.
      variance_training: as ``mean_training``, of Step 2.
      weight_decay: L2 factor of Step 1.
      prior_precision: precision κ of the prior N(0, 1/κ) on the Bayesian network's weights.
      validation_fraction: share of the rows that stops Step 1 early, unless ``fit`` is given
        ``X_val`` and ``y_val``.
      random_state: an integer makes ``fit`` bit-reproducible on one machine.
      verbose: 1 shows progress bars.
      checkpoint: a folder; an interrupted ``fit`` goes on from there when called again.

    Attributes:
      rounds_: a report per round; ``chosen_round_`` is the number of the one in use.
      start_nll_: validation NLL of every random start of Step 1, in standardised units.
      diagnostics_: convergence of the chains in prediction space, for engines that have chains.

    Example:
      >>> model = MixtureRegressor(num_modes=2, random_state=0).fit(X, y)
      >>> modes = model.predict_distribution(X_new).modes
      >>> modes.mean, modes.aleatoric_std, modes.epistemic_std, modes.weight
    """

    def __init__(
        self,
        num_modes: int = 2,
        *,
        network: Any = None,
        variance_network: Any = None,
        inference: str | Engine = "psgld",
        rounds: int = 1,
        choose_round: str = "validation",
        residuals: str = "cross_fit",
        num_folds: int = 5,
        num_starts: int = 4,
        em_steps: int = 3,
        rescale_residuals: bool = True,
        mean_training: Training | None = None,
        variance_training: Training | None = None,
        weight_decay: float = 1e-6,
        prior_precision: float = 1.0,
        validation_fraction: float = 0.2,
        random_state: Any = None,
        verbose: int = 0,
        checkpoint: str | Path | None = None,
    ) -> None:
        self.num_modes = num_modes
        self.network = network
        self.variance_network = variance_network
        self.inference = inference
        self.rounds = rounds
        self.choose_round = choose_round
        self.residuals = residuals
        self.num_folds = num_folds
        self.num_starts = num_starts
        self.em_steps = em_steps
        self.rescale_residuals = rescale_residuals
        self.mean_training = mean_training
        self.variance_training = variance_training
        self.weight_decay = weight_decay
        self.prior_precision = prior_precision
        self.validation_fraction = validation_fraction
        self.random_state = random_state
        self.verbose = verbose
        self.checkpoint = checkpoint

    def _settings(self, num_rows: int) -> MixtureCooperative:
        for name in ("num_modes", "rounds", "num_starts", "em_steps"):
            require_whole(name, getattr(self, name), 1)
        require_whole("num_folds", self.num_folds, 2)
        require_one_of("choose_round", self.choose_round, ("validation", "last"))
        require_one_of("residuals", self.residuals, ("cross_fit", "in_sample"))
        self._check_common(("mean_training", "variance_training"))
        require_number("weight_decay", self.weight_decay, 0, np.inf, "[)")
        require_number("prior_precision", self.prior_precision, 0, np.inf)
        require_number("validation_fraction", self.validation_fraction, 0, 1)
        engine = self._engine(num_rows)
        return MixtureCooperative(
            network=default_network(engine) if self.network is None else self.network,
            variance_network=self.variance_network or default_variance_network(self.network),
            num_modes=self.num_modes,
            engine=engine,
            rounds=self.rounds,
            choose_round=self.choose_round,  # type: ignore[arg-type]
            residuals=self.residuals,  # type: ignore[arg-type]
            num_folds=self.num_folds,
            num_starts=self.num_starts,
            em_steps=self.em_steps,
            rescale_residuals=self.rescale_residuals,
            mean_training=self.mean_training or default_mean_training(num_rows),
            variance_training=self.variance_training or default_variance_training(num_rows),
            weight_decay=self.weight_decay,
            prior_precision=self.prior_precision,
            validation_fraction=self.validation_fraction,
        )

    def _learn(
        self,
        key: Key,
        settings: MixtureCooperative,
        data: Dataset,
        held_out: Dataset | None,
        stage: Stage,
    ) -> FittedMixture:
        return fit_mixture(key, settings, data, held_out=held_out, stage=stage)

    def _engine(self, num_rows: int) -> Engine:
        engine = super()._engine(num_rows)
        if self.inference == "psgld":
            # The first steps of a chain are its longest. Those of the settings for one mode can throw
            # a branch onto another, from where it does not come back. Steps of the paper's size do
            # not, and are short enough to stay as they are.
            return replace(engine, step_size=PSGLD.step_size, decay=1.0)  # type: ignore[type-var]
        return engine

    def _check_calibration(self, name: str, method: Any) -> None:
        raise ValueError(
            f"A MixtureRegressor cannot be calibrated: a factor on the variance would move its "
            f"branches, and an interval around the mean would span the gap between them. Got "
            f"{name}={method!r}; leave it out, or use VeBNNRegressor."
        )

    def _publish(self) -> None:
        super()._publish()
        fitted: FittedMixture = self.fitted_
        self.rounds_, self.chosen_round_ = fitted.rounds, fitted.chosen_round
        self.start_nll_ = fitted.start_nll

    def _parts(self, x: np.ndarray) -> Parts:
        return predict(self.fitted_, x)

    def _components(self, x: np.ndarray) -> Components:
        modes, variance = predict_modes(self.fitted_, x)
        parts = (modes.mean, variance, np.exp(modes.log_weight))
        return Components(*(np.moveaxis(part, -1, 1) for part in parts))

    def _network_like(self, steps: tuple[int, ...]) -> tuple[Params, Any]:
        return self._build_one(self._settings(num_rows=1).network, steps)

    def _pieces(self) -> dict[str, Params]:
        fitted: FittedMixture = self.fitted_
        return {
            "mean": fitted.mean_params,
            "constant_variance": fitted.constant_variance,
            "start_nll": fitted.start_nll,
            "noise": fitted.noise,
            "order": fitted.order,
            "history": fitted.mean_history,
        }

    def _story(self) -> dict[str, Any]:
        rounds = [one._asdict() for one in self.fitted_.rounds]
        return {"rounds": rounds, "chosen_round": self.fitted_.chosen_round}

    def _rebuild(
        self, posterior: Posterior, probe: np.ndarray, probe_x: np.ndarray, fill: Fill, story: dict
    ) -> FittedMixture:
        steps = probe.shape[3:-1]
        mean, skeleton = self._network_like(steps)
        variance_network = self._settings(num_rows=1).variance_network
        variance, variance_skeleton = self._build_one(variance_network, steps)
        return FittedMixture(
            mean_params=fill("mean", mean),
            constant_variance=fill("constant_variance", np.zeros(0)),
            start_nll=fill("start_nll", np.zeros(0)),
            noise=fill("noise", Noise(variance, *[np.zeros(0)] * 3)),
            posterior=posterior,
            order=fill("order", np.zeros(0)),
            probe=probe,
            probe_x=probe_x,
            rounds=tuple(MixtureRound(**one) for one in story["rounds"]),
            chosen_round=story["chosen_round"],
            mean_history=fill("history", np.zeros(0)),
            skeleton=skeleton,
            variance_skeleton=variance_skeleton,
        )

    def _build_one(self, recipe: Any, steps: tuple[int, ...]) -> tuple[Params, Any]:
        keys = jax.random.split(jax.random.key(0), 1)
        # Both networks have two numbers for every mode of every output.
        out_size = 2 * self.num_modes * len(self.y_units_.scale)
        return build_networks(recipe, self.in_shape_, out_size, keys, steps=steps)
