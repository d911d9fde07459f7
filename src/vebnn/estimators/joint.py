"""The joint baselines as an estimator."""

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np

from vebnn.core.arguments import require_number, require_one_of, require_rates
from vebnn.core.types import Dataset
from vebnn.estimators.regressor import Regressor
from vebnn.inference import Engine, Ensemble
from vebnn.strategies.joint import LOSSES, NOT_A_LIKELIHOOD, Joint
from vebnn.training import Training

BETAS = (0.0, 0.25, 0.5, 0.75, 1.0)


@dataclass(eq=False, repr=False)
class JointRegressor(Regressor):
    """One network that learns mean and noise together: the baselines VeBNN is compared with.

    It has the methods of :class:`~vebnn.VeBNNRegressor`. The epistemic variance comes from the
    inference engine, for ``loss="evidential"`` from the network itself.

    Args:
      network: as for VeBNNRegressor; a module of your own needs as many outputs per target as the
        loss has parts (one for ``"mse"``, four for ``"evidential"``, else two), or one if
        ``variance_head`` is not ``"shared"``.
      loss: ``"nll"`` (mean and variance, Nix and Weigend 1994), ``"beta_nll"`` (Seitzer et al. 2022),
        ``"natural"`` (Immer et al. 2023), ``"evidential"`` (Amini et al. 2020) or ``"mse"`` (the mean
        alone; noise is constant).
      beta: β of ``"beta_nll"``; ``None`` chooses among 0, ¼, ½, ¾ and 1 by validation NLL.
      evidence_penalty: λ of the evidential regulariser.
      variance_head: ``"shared"``, on the trunk of the mean; ``"separate"``, a network of its own;
        ``"constant"``, the same noise everywhere, learned.
      variance_network: the network of ``variance_head="separate"``; it has the other outputs.
      noise_std: for ``"mse"``, the constant noise in your units, a number or one per target; ``None``
        takes the residuals of rows that were not trained on.
      inference: an engine as for VeBNNRegressor, or ``None`` for one network: a one-member ensemble.
        With ``"beta_nll"`` and ``"evidential"``, which are no likelihoods, the engine must not need
        one: ``"map"``, ``"ensemble"`` or ``"mc_dropout"``.
      training: epochs, learning rate, batch size and patience of the warm starts.
      learning_rates: several to choose from by validation NLL, such as those of the paper,
        ``vebnn.presets.LEARNING_RATES``; engines that train use the best as well.

    All others are those of VeBNNRegressor; the ``weight_decay`` acts on the warm starts, and the
    ``validation_fraction`` serves early stopping and all choices.

    Attributes:
      learning_rate_, beta_: what was chosen; ``trials_`` has the validation NLL of every candidate.
      diagnostics_: convergence of the chains in prediction space, for engines that have chains.
      calibration_: the numbers of :meth:`calibrate`, or None.

    Example:
      >>> model = JointRegressor(loss="nll", inference="ensemble", random_state=0).fit(X, y)
    """

    network: Any = None
    _: KW_ONLY
    loss: str = "nll"
    beta: float | None = 0.5
    evidence_penalty: float = 0.01
    variance_head: str = "shared"
    noise_std: Any = None
    inference: str | Engine | None = None
    training: Training | None = None
    learning_rates: tuple[float, ...] = ()

    def _strategy(self, num_rows: int) -> Joint:
        require_one_of("loss", self.loss, LOSSES)
        require_one_of("variance_head", self.variance_head, ("shared", "separate", "constant"))
        if self.beta is not None:
            require_number("beta", self.beta, 0, 1, "[]")
        require_number("evidence_penalty", self.evidence_penalty, 0, np.inf, "[)")
        self._check_common("training")
        engine = self._engine(num_rows)
        if self.loss in NOT_A_LIKELIHOOD and engine.needs_likelihood:
            raise ValueError(
                f"The loss {self.loss!r} is no likelihood, so {type(engine).__name__} has no posterior "
                f'to sample. Use loss="nll" or "natural", or inference="ensemble".'
            )
        return self._settings(
            Joint,
            num_rows,
            betas=BETAS if self.beta is None else (float(self.beta),),
            constant_variance=self._constant_variance(),
            learning_rates=require_rates(self.learning_rates),
        )

    def _engine(self, num_rows: int) -> Engine:
        if self.inference is not None:
            return super()._engine(num_rows)
        return Ensemble(1, self.training or Ensemble.for_rows(num_rows).training)

    def _constant_variance(self) -> tuple[float, ...] | None:
        """Return the given noise in standardised units, once these are known."""
        if self.noise_std is None:
            return None
        if self.loss != "mse":
            raise ValueError(
                f'The `noise_std` is for loss="mse", where the noise is constant. Got '
                f"loss={self.loss!r}, which learns it; to add measurement errors, use y_std in fit."
            )
        if self.target != "real":
            raise ValueError(
                f"The `noise_std` is constant in the units of y, where the noise of "
                f'target={self.target!r} is not. Leave out `noise_std`, or take target="real".'
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
        # Before the targets have been read, there is no scale, or that of an earlier fit.
        scale = self.y_units_.scale if hasattr(self, "y_units_") else np.ones(1)
        standardised = given / scale if given.size in (1, len(scale)) else given
        return tuple(float(one) for one in standardised**2)

    def _check_data(self, data: Dataset) -> None:
        if self.loss == "evidential" and data.known_variance.any():
            raise ValueError(
                'The loss "evidential" cannot use known measurement errors. Got `y_std`; use '
                'loss="nll", or leave it out.'
            )
        constant, num_targets = self._constant_variance(), data.target.shape[-1]
        if constant is not None and len(constant) != num_targets:
            raise ValueError(
                f"The `noise_std` must be one number, or one for each of the {num_targets} targets. "
                f"Got {self.noise_std!r}."
            )
