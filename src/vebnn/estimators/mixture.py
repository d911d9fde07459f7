"""VeBNN for noise with several modes, as an estimator."""

from dataclasses import KW_ONLY, dataclass
from typing import Any

from vebnn.core.arguments import require_one_of, require_whole
from vebnn.estimators.regressor import Regressor
from vebnn.inference import Engine
from vebnn.strategies.mixture import CooperativeMixture
from vebnn.training import Training


@dataclass(eq=False, repr=False)
class MixtureRegressor(Regressor):
    """Regression where the same x may lead to one of several values: noise with several modes.

    It has the methods of :class:`~vebnn.VeBNNRegressor`. The network predicts a mean and a coefficient
    for every mode (a mixture density network, Bishop 1994), the variance network a noise for every
    mode, and a Bayesian neural network with that noise fixed gives the uncertainty of means and
    coefficients. Each target has a mixture of its own.

    ``predict_distribution(X).modes`` has the branches; ``log_prob``, ``quantile``, ``cdf`` and
    ``interval`` use them with ``kind="mixture"``.

    Args:
      num_modes: Gaussians in the mixture of every target.
      network: as for VeBNNRegressor; a module of your own needs 2 · ``num_modes`` outputs per target.
      variance_network: the network that learns the noise; as many outputs.
      inference: an engine, as for VeBNNRegressor; ``"psgld"`` takes shorter steps than there.
      choose_round: ``"validation"`` or ``"last"``.
      residuals: ``"cross_fit"`` or ``"in_sample"``.
      num_starts: random starts of Step 1, of which the best on validation rows is kept.
      em_steps: how often Step 2 assigns rows to modes, and learns the noise of each.
      rescale_residuals: learn the noise relative to its mean size, per output and mode.

    All others are those of VeBNNRegressor.

    Attributes:
      rounds_: scores of every round; ``chosen_round_`` is the number of the one in use.
      start_nll_: validation NLL of every random start of Step 1, in standardised units.
      diagnostics_: convergence of the chains in prediction space, for engines that have chains.

    Example:
      >>> model = MixtureRegressor(num_modes=2, random_state=0).fit(X, y)
      >>> modes = model.predict_distribution(X_new).modes
      >>> modes.mean, modes.aleatoric_std, modes.epistemic_std, modes.weight
    """

    num_modes: int = 2
    _: KW_ONLY
    network: Any = None
    inference: str | Engine = "psgld"
    rounds: int = 1
    choose_round: str = "validation"
    residuals: str = "cross_fit"
    num_folds: int = 5
    num_starts: int = 4
    em_steps: int = 3
    rescale_residuals: bool = True
    mean_training: Training | None = None
    variance_training: Training | None = None

    def _strategy(self, num_rows: int) -> CooperativeMixture:
        if self.target != "real":
            raise ValueError(
                f"A MixtureRegressor takes real targets, because its branches are Gaussian. Got "
                f"target={self.target!r}; fit it to log(y) or logit(y), or use VeBNNRegressor."
            )
        for name in ("num_modes", "rounds", "num_starts", "em_steps"):
            require_whole(name, getattr(self, name), 1)
        require_whole("num_folds", self.num_folds, 2)
        require_one_of("choose_round", self.choose_round, ("validation", "last"))
        require_one_of("residuals", self.residuals, ("cross_fit", "in_sample"))
        self._check_common("mean_training", "variance_training")
        return self._settings(CooperativeMixture, num_rows)

    def _engine(self, num_rows: int) -> Engine:
        engine = super()._engine(num_rows)
        return engine.with_short_steps() if isinstance(self.inference, str) else engine

    def check_calibration(self, name: str, method: Any) -> None:
        """Refuse every method."""
        raise ValueError(
            f"A MixtureRegressor cannot be calibrated: a factor on the variance would move its "
            f"branches, and an interval around the mean would span the gap between them. Got "
            f"{name}={method!r}; leave it out, or use VeBNNRegressor."
        )
