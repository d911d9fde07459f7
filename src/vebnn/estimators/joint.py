"""The joint baselines as an estimator."""

from pathlib import Path
from typing import Any

import jax
import numpy as np

from vebnn.core.arguments import require_number, require_one_of
from vebnn.core.types import Dataset, Key, Params
from vebnn.estimators.regressor import Fill, Regressor
from vebnn.inference import MAP, Engine, Ensemble, MCDropout, Posterior
from vebnn.likelihoods.heads import Parts
from vebnn.networks.adapters import build_networks
from vebnn.prediction import Components
from vebnn.presets import default_mean_training, default_network, default_variance_network
from vebnn.strategies import joint
from vebnn.training import Stage, Training

BETAS = (0.0, 0.25, 0.5, 0.75, 1.0)
VARIANCE_HEADS = ("shared", "separate", "constant")


class JointRegressor(Regressor):
    """One network that learns mean and noise together: the baselines VeBNN is compared with.

    It has the face of :class:`~vebnn.VeBNNRegressor`. Ignorance comes from the inference engine, for
    ``loss="evidential"`` from the network itself.

    Args:
      network: as for VeBNNRegressor; a module of your own needs as many outputs per target as the
        loss has parts: one for ``"mse"``, four for ``"evidential"``, else two.
      loss: ``"nll"`` (mean and variance, Nix and Weigend 1994), ``"beta_nll"`` (Seitzer et al. 2022),
        ``"natural"`` (Immer et al. 2023), ``"evidential"`` (Amini et al. 2020) or ``"mse"`` (the mean
        alone; noise is constant).
      beta: β of ``"beta_nll"``; ``None`` chooses among 0, ¼, ½, ¾ and 1 by validation NLL.
      evidence_penalty: λ of the evidential regulariser.
      variance_head: ``"shared"``, on the trunk of the mean; ``"separate"``, a network of its own;
        ``"constant"``, the same noise everywhere, learned.
      variance_network: that network.
      noise_std: for ``"mse"``, the constant noise in your units, a number or one per target; ``None``
        takes the residuals of rows that were not trained on.
      inference: an engine as for VeBNNRegressor, or ``None`` for one network: a one-member ensemble.
      training: epochs, learning rate, batch size and patience of the warm starts.
      learning_rates: several to choose from by validation NLL, such as those of the paper,
        ``vebnn.presets.LEARNING_RATES``; engines that train use the best as well.
      weight_decay: L2 factor of the warm starts.
      prior_precision: precision κ of the prior N(0, 1/κ) in what the engine explores.
      validation_fraction: share of the rows that stops training early and decides all choices, unless
        ``fit`` is given ``X_val`` and ``y_val``.
      random_state: an integer makes ``fit`` bit-reproducible on one machine.
      verbose: 1 shows progress bars.
      checkpoint: a folder; an interrupted ``fit`` goes on from there when called again.

    Attributes:
      learning_rate_, beta_: what was chosen; ``trials_`` has the validation NLL of every candidate.
      diagnostics_: convergence of the chains in prediction space, for engines that have chains.
      calibration_: what :meth:`calibrate` has learned, or None.

    Example:
      >>> model = JointRegressor(loss="nll", inference="ensemble", random_state=0).fit(X, y)
    """

    def __init__(
        self,
        network: Any = None,
        *,
        loss: str = "nll",
        beta: float | None = 0.5,
        evidence_penalty: float = 0.01,
        variance_head: str = "shared",
        variance_network: Any = None,
        noise_std: Any = None,
        inference: str | Engine | None = None,
        training: Training | None = None,
        learning_rates: tuple[float, ...] = (),
        weight_decay: float = 1e-6,
        prior_precision: float = 1.0,
        validation_fraction: float = 0.2,
        random_state: Any = None,
        verbose: int = 0,
        checkpoint: str | Path | None = None,
    ) -> None:
        self.network = network
        self.loss = loss
        self.beta = beta
        self.evidence_penalty = evidence_penalty
        self.variance_head = variance_head
        self.variance_network = variance_network
        self.noise_std = noise_std
        self.inference = inference
        self.training = training
        self.learning_rates = learning_rates
        self.weight_decay = weight_decay
        self.prior_precision = prior_precision
        self.validation_fraction = validation_fraction
        self.random_state = random_state
        self.verbose = verbose
        self.checkpoint = checkpoint

    def _settings(self, num_rows: int) -> joint.Joint:
        require_one_of("loss", self.loss, joint.LOSSES)
        require_one_of("variance_head", self.variance_head, VARIANCE_HEADS)
        if self.beta is not None:
            require_number("beta", self.beta, 0, 1, "[]")
        require_number("evidence_penalty", self.evidence_penalty, 0, np.inf, "[)")
        require_number("weight_decay", self.weight_decay, 0, np.inf, "[)")
        require_number("prior_precision", self.prior_precision, 0, np.inf)
        require_number("validation_fraction", self.validation_fraction, 0, 1)
        self._check_common(("training",))
        self._check_learning_rates()
        engine = self._engine(num_rows)
        if self.loss in joint.NOT_A_LIKELIHOOD and not isinstance(engine, MAP | Ensemble | MCDropout):
            raise ValueError(
                f"The loss {self.loss!r} is no likelihood, so {type(engine).__name__} would sample "
                f'nothing in particular. Use loss="nll" or "natural", or inference="ensemble".'
            )
        return joint.Joint(
            network=default_network(engine) if self.network is None else self.network,
            loss=self.loss,  # type: ignore[arg-type]
            betas=BETAS if self.beta is None else (float(self.beta),),
            evidence_penalty=self.evidence_penalty,
            variance_head=self.variance_head,  # type: ignore[arg-type]
            variance_network=self.variance_network or default_variance_network(self.network),
            constant_variance=self._constant_variance(),
            engine=engine,
            training=self.training or default_mean_training(num_rows),
            learning_rates=tuple(map(float, self.learning_rates)),
            weight_decay=self.weight_decay,
            prior_precision=self.prior_precision,
            validation_fraction=self.validation_fraction,
        )

    def _engine(self, num_rows: int) -> Engine:
        if self.inference is not None:
            return super()._engine(num_rows)
        one = Ensemble.for_rows(num_rows)
        return Ensemble(1, self.training or one.training)

    def _constant_variance(self) -> tuple[float, ...] | None:
        """Return the given noise in standardised units, once these are known."""
        if self.noise_std is None:
            return None
        if self.loss != "mse":
            raise ValueError(
                f'The `noise_std` is for loss="mse", where the noise is constant. Got '
                f"loss={self.loss!r}, which learns it; to add measurement errors, use y_std in fit."
            )
        try:
            given = np.ravel(np.asarray(self.noise_std, float))
        except (TypeError, ValueError):
            given = np.array([np.nan])
        if not (given.size and np.isfinite(given).all() and (given > 0).all()):
            raise ValueError(
                f"The `noise_std` must be a positive number, or one for each target. "
                f"Got {self.noise_std!r}."
            )
        # Before the targets have been looked at, there is no scale, or that of an earlier fit.
        scale = self.y_units_.scale if hasattr(self, "y_units_") else np.ones(1)
        standardised = given / scale if given.size in (1, len(scale)) else given
        return tuple(float(one) for one in standardised**2)

    def _learn(
        self, key: Key, settings: joint.Joint, data: Dataset, held_out: Dataset | None, stage: Stage
    ) -> joint.Fitted:
        if settings.loss == "evidential" and data.variance.any():
            raise ValueError(
                'The loss "evidential" has no place for known measurement errors. Got `y_std`; use '
                'loss="nll", or leave it out.'
            )
        num_targets = data.target.shape[-1]
        if settings.constant_variance is not None and len(settings.constant_variance) != num_targets:
            raise ValueError(
                f"The `noise_std` must be one number, or one for each of the {num_targets} targets. "
                f"Got {self.noise_std!r}."
            )
        return joint.fit_joint(key, settings, data, held_out=held_out, stage=stage)

    def _publish(self) -> None:
        super()._publish()
        fitted: joint.Fitted = self.fitted_
        self.learning_rate_, self.beta_, self.trials_ = fitted.learning_rate, fitted.beta, fitted.trials

    def _parts(self, x: np.ndarray) -> Parts:
        return joint.predict(self.fitted_, x)

    def _components(self, x: np.ndarray) -> Components:
        parts = joint.predict_draws(self.fitted_, x)
        return Components.of_draws(parts.mean, parts.aleatoric_variance + parts.epistemic_variance)

    def _network_like(self, steps: tuple[int, ...]) -> tuple[Params, Any]:
        settings = self._settings(num_rows=1)
        out_size = settings.head(0.0).parts * len(self.y_units_.scale)
        keys = jax.random.split(jax.random.key(0), 1)
        return build_networks(settings.recipe(), self.in_shape_, out_size, keys, steps=steps)

    def _pieces(self) -> dict[str, Params]:
        return {"constant_variance": self.fitted_.constant_variance}

    def _story(self) -> dict[str, Any]:
        fitted: joint.Fitted = self.fitted_
        return {
            "learning_rate": fitted.learning_rate,
            "beta": fitted.beta,
            "trials": [trial._asdict() for trial in fitted.trials],
        }

    def _rebuild(
        self, posterior: Posterior, probe: np.ndarray, probe_x: np.ndarray, fill: Fill, story: dict
    ) -> joint.Fitted:
        return joint.Fitted(
            posterior=posterior,
            head=self._settings(num_rows=1).head(story["beta"]),
            constant_variance=fill("constant_variance", np.zeros(0)),
            probe=probe,
            probe_x=probe_x,
            learning_rate=story["learning_rate"],
            beta=story["beta"],
            trials=tuple(joint.Trial(**one) for one in story["trials"]),
        )
