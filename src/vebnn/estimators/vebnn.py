"""VeBNN: the cooperative strategy as an estimator."""

from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from vebnn.core.arguments import require_number, require_one_of, require_rates, require_whole
from vebnn.core.types import Dataset
from vebnn.estimators.engines import engine_of
from vebnn.estimators.images import NUM_FOLDS as IMAGE_FOLDS
from vebnn.estimators.predicting import NO_KNOWN_ERRORS
from vebnn.estimators.regressor import Regressor
from vebnn.estimators.relevance import Relevance, relevance_of
from vebnn.estimators.rows import all_at_once
from vebnn.estimators.target_kinds import require_kinds
from vebnn.inference import MAP, Engine
from vebnn.inference.continuing import MOST_CONTINUATIONS as MOST_CONTINUED
from vebnn.likelihoods.variance_heads import VARIANCE_HEADS
from vebnn.presets import (
    default_network,
    default_rounds,
    default_variance_network,
    pilot,
    variance_warm_up,
)
from vebnn.strategies.cooperative import Cooperative
from vebnn.training import Training

NUM_FOLDS = 5


@dataclass(eq=False, repr=False)
class VeBNNRegressor(Regressor):
    """Regression with error bars split into noise (aleatoric) and model uncertainty (epistemic).

    A mean network is trained; a variance network learns the noise from its squared residuals; a
    Bayesian neural network with that noise fixed gives the mean and its uncertainty (Algorithm 1 of
    the VeBNN paper). Inputs and targets are standardised inside; results are in your units.

    Args:
      network: the mean network, which is also the Bayesian network: a recipe such as
        ``MLP((50, 50), activation="tanh")``, an Equinox or Flax module acting on one example, or
        an ``(init, apply)`` pair. The default learns the scales of its prior if the engine can.
      variance_network: the network that learns the noise; one output for each target, two if
        ``variance_loss`` is ``"gamma"`` or ``"gamma_rate"``.
      inference: ``"psghmc"``, ``"psgld"`` (paper), ``"ensemble"``, ``"map"``, ``"mc_dropout"``,
        ``"bbb"``, ``"sgld"``, ``"sghmc"``, ``"mclmc"``, ``"nuts"``, ``"laplace"``, or a configured
        engine such as ``PSGHMC(num_chains=8)``. The default network has a dropout rate of 0.1 for MC
        dropout, else none.
      rounds: how often Steps 2 and 3 are run (K of Algorithm 1). By default until the noise has
        settled, at most 12 times (fewer with more than 2,000 rows), with residuals of the posterior;
        once with other residuals.
      iterate: ``"posterior"`` repeats Steps 2 and 3 (Algorithm 1); ``"mean"`` repeats Steps 1 and 2,
        then runs the costly Step 3 once (end of the paper's appendix on bias).
      choose_round: ``"validation"`` takes the round with the smallest validation NLL;
        ``"marginal_likelihood"`` (paper) that with the largest LMglk after the first; ``"last"``, the
        default with residuals of the posterior.
      residuals: ``"posterior"`` takes the mean of (y − μ)² over draws of the Bayesian network of the
        round before, whose chains continue; it cross-fits in round 1. ``"cross_fit"`` learns the noise
        from residuals of rows the mean was not trained on, less the variance between those means;
        errors that these means share count as noise. ``"in_sample"`` (paper) uses rows the mean was
        trained on, which underestimates the noise. By default ``"posterior"`` for ``"psghmc"`` and
        ``"nuts"``, ``"cross_fit"`` for the other engines.
      num_folds: networks used for ``"cross_fit"`` and ``"posterior"``: in Step 1 for the residuals, in
        Step 2 to stop a variance network that is trained, unless there are 200 single rows or fewer.
        5 by default, for images 3. With ``"posterior"``, 1 means none: round 1 then takes residuals of
        rows that its mean was trained on, which are as good if there are millions.
      rescale_residuals: learn the noise relative to its mean size, per output.
      variance_inference: ``"map"`` (paper) trains one variance network; an engine such as ``"psghmc"``,
        the default with residuals of the posterior, samples it; the noise std is the mean of the
        draws.
      variance_loss: the likelihood of Step 2: ``"gamma_half"``, of shape 1/2, the default of a sampled
        variance network; ``"gamma"``, whose mean and shape are outputs of the variance network;
        ``"gamma_rate"`` (paper), shape and rate; or, for comparison, ``"nll"``, ``"beta_nll"``
        (β = 0.5) or ``"natural"``.
      noise_within: ``"correlated"``: noise goes together along each sequence, or within each group of
        rows (``groups`` of ``fit``), so that their targets count as the fewer independent ones that
        they are worth; ``"independent"``: every step and row has noise of its own. By default,
        ``"correlated"`` for sequences whose residuals are cross-fitted, else ``"independent"``;
        engines that only minimise, such as ``"ensemble"``, then still count targets in full.
      mean_training: epochs, learning rate, batch size and patience of Step 1.
      learning_rates: several for Step 1, to choose from by validation loss; those of the paper are
        ``vebnn.presets.LEARNING_RATES``.
      variance_training: as ``mean_training``, of a variance network that is trained.
      target: which values y can have: ``"real"``; ``"positive"``, learned as log(y); ``"fraction"``,
        between 0 and 1, learned as logit(y); ``"count"``, whole numbers, learned as √(y + 3/8); or a
        tuple of these, one for each output. Results are in the units of y, and all quantiles, ranges
        and samples are possible values.
      heavy_tails: noise is Student-t, for data with outliers. Its degrees of freedom are learned, and a
        row far from the mean gets a small weight. For real targets and residuals of the posterior.
      noise_covariance: ``"diagonal"``: the noise of every output by itself; ``"full"``: noise of
        several outputs is correlated, with the covariance L(x) L(x)ᵀ, L(x) = diag(std(x)) chol(R). For
        real targets and residuals of the posterior.
      weight_decay: L2 factor of Step 1.
      prior_precision: precision κ of the prior N(0, 1/κ) on the Bayesian network's weights.
      last_layer: explore the posterior of the network's head alone, on the features of the mean
        network: cheap, for networks with the parts ``features`` and ``head``, such as ``ResNet``.
      validation_fraction: share of the rows that stops Step 1 early, unless ``fit`` is given
        ``X_val`` and ``y_val``.
      refit: train Step 1 again on all rows for the best number of epochs.
      time_budget: seconds. Chains that disagree (R-hat above 1.2) are continued, each time twice as
        long, while the next continuation is expected to end in time. Results then depend on the speed
        of the machine. By default, chains of ``"psghmc"`` by name are continued at most twice.
      random_state: an integer makes ``fit`` bit-reproducible on one machine.
      n_jobs: how many worker processes share a fit, -1 for one per core; ``None`` is this process
        alone, unless a joblib backend is active: ``with joblib.parallel_config("dask")``. Folds, chains
        and members are then dealt over the workers. Results are the same.
      verbose: 1 shows how far the fit is, and about how much time is left.
      checkpoint: a folder; call an interrupted ``fit`` again to resume it from there.

    Attributes:
      rounds_: scores of every round; ``chosen_round_`` is the number of the one in use.
      degrees_of_freedom_: of Student-t noise, one for each output; None with Gaussian noise.
      noise_autocorrelation_: correlation of the noise at two steps of a sequence, by their distance;
        ``effective_share_``: what a target counts in Step 3; see ``noise_within``.
      noise_correlation_: R of ``noise_covariance="full"``, ``(outputs, outputs)``, else None.
      diagnostics_: convergence of the chains in prediction space, for engines that have chains.
      relevance_: the posterior of each input's scale, a :class:`~vebnn.estimators.Relevance`. None if
        the network has no learned scales: ``MLP(prior="learned")`` has them, and so has the default
        network of engines that sample.
      calibration_: the numbers of :meth:`calibrate`, or None.
      target_kinds_: the kind of each output (:mod:`vebnn.prediction.targets`).
      n_features_in_, feature_names_in_: as in scikit-learn.

    Example:
      >>> model = VeBNNRegressor(random_state=0).fit(X, y)
      >>> p = model.predict_distribution(X_new)
      >>> p.mean, p.aleatoric_std, p.epistemic_std, p.interval(0.95)
    """

    network: Any = None
    _: KW_ONLY
    inference: str | Engine = "psghmc"
    rounds: int | None = None
    iterate: str = "posterior"
    choose_round: str | None = None
    residuals: str | None = None
    num_folds: int | None = None
    rescale_residuals: bool = True
    variance_inference: str | Engine | None = None
    variance_loss: str | None = None
    heavy_tails: bool = False
    noise_covariance: str = "diagonal"
    noise_within: str | None = None
    mean_training: Training | None = None
    learning_rates: tuple[float, ...] = ()
    variance_training: Training | None = None
    refit: bool = False
    time_budget: float | None = None

    def _strategy(self, num_rows: int) -> Cooperative:
        if self.residuals is not None:
            require_one_of("residuals", self.residuals, ("cross_fit", "in_sample", "posterior"))
        engine, images = self._engine(num_rows), self._image_lengths(num_rows) is not None
        # For images, posterior residuals would need long chains of costly networks.
        residuals = self.residuals or ("cross_fit" if images else None)
        require_one_of("noise_covariance", self.noise_covariance, ("diagonal", "full"))
        in_rounds = self.heavy_tails or self.noise_covariance == "full"
        if in_rounds and residuals is None and not self.last_layer:
            residuals = "posterior"
        if self.last_layer and residuals == "posterior":
            raise ValueError(
                'The `residuals` of last_layer=True must be "cross_fit" or "in_sample", because its '
                'draws share all layers but the last. Got "posterior".'
            )
        default = default_rounds(engine, residuals)
        num_folds = self.num_folds or (IMAGE_FOLDS if images else NUM_FOLDS)
        rounds = default.rounds if self.rounds is None else self.rounds
        choose_round = self.choose_round or default.choose_round
        variance_inference = self.variance_inference or default.variance_inference
        sampled = variance_inference != "map"
        variance_loss = self.variance_loss or ("gamma_half" if sampled else "gamma")
        if rounds is not None:
            require_whole("rounds", rounds, 1)
        require_whole("num_folds", num_folds, 1 if default.residuals == "posterior" else 2)
        require_one_of("iterate", self.iterate, ("posterior", "mean"))
        require_one_of("choose_round", choose_round, ("validation", "marginal_likelihood", "last"))
        if self.time_budget is not None:
            require_number("time_budget", self.time_budget, 0, np.inf)
        require_one_of("variance_loss", variance_loss, tuple(VARIANCE_HEADS))
        if self.variance_training is not None:  # Step 1 may be skipped, Step 2 not
            require_whole("variance_training.num_epochs", self.variance_training.num_epochs, 1)
        self._check_common("mean_training", "variance_training")
        if in_rounds:
            self._check_noise(engine, default.residuals, rounds)
        if self.noise_within is not None:
            require_one_of("noise_within", self.noise_within, ("independent", "correlated"))
        if self.noise_within == "correlated" and default.residuals == "in_sample":
            raise ValueError(
                'The noise_within="correlated" is learned from residuals of rows that a network has '
                'not seen. Got residuals="in_sample"; take "cross_fit" or "posterior", or leave it out.'
            )
        return self._settings(
            Cooperative,
            num_rows,
            network=default_network(engine, scaled=True) if self.network is None else self.network,
            variance_network=self.variance_network
            or default_variance_network(self.network, sampled=sampled),
            pilot=pilot(num_rows) if engine.learns_scales else None,
            variance_engine=self._variance_engine(variance_inference, num_rows) if sampled else None,
            variance_warm_up=variance_warm_up(num_rows) if variance_inference == "psghmc" else None,
            residuals=default.residuals,
            num_folds=num_folds,
            rounds=rounds,
            choose_round=choose_round,
            variance_loss=variance_loss,
            learning_rates=require_rates(self.learning_rates),
            # The lengths of a configured engine are the user's choice; chains for images are costly.
            most_continuations=0 if images or isinstance(self.inference, Engine) else MOST_CONTINUED,
        )

    @property
    def can_update(self) -> bool:
        """Whether this fitted model has chains that :meth:`update` can continue."""
        check_is_fitted(self)
        markov: bool = self.fitted_.posterior.markov
        return markov and self._strategy(num_rows=1).goes_on

    def update(
        self, X: Any, y: Any, sample_weight: Any = None, *, y_std: Any = None, groups: Any = None
    ) -> Self:
        """Go on from this fit with all rows, old and new.

        The chains of the last fit or update continue, and so do those of the noise, instead of a
        training from the beginning. Nothing is kept of the old rows: leave some out, and the model
        forgets them. The units are those of the first fit, and so is the encoding of inputs. A
        calibration is discarded, because it belongs to the old error bars.

        Arguments are those of :meth:`fit`.

        Raises:
          ValueError: if the model has no chains to continue: :attr:`can_update` says so.

        Example:
          >>> model.fit(X, y)
          >>> model.update(np.concatenate([X, X_new]), np.concatenate([y, y_new]))
        """
        if not self.can_update:
            raise ValueError(
                'The model must have chains to continue, such as those of inference="psghmc" with '
                'residuals="posterior", and independent Gaussian noise. Got '
                f"inference={self.inference!r}, residuals={self.residuals!r}, "
                f"heavy_tails={self.heavy_tails!r} and noise_covariance={self.noise_covariance!r}; "
                f"call fit with all rows."
            )
        self.check_arguments()
        with all_at_once(self) as new:
            rows = new._prepare(X, y, sample_weight, y_std, groups, None, None, None, keep_units=True)
            new.fitted_ = new._learn(rows, self.fitted_)
            new._publish()
            new.calibration_ = None
        self._warn_of_slow_chains()
        return self

    def _check_noise(self, engine: Engine, residuals: str, rounds: int | None) -> None:
        """Refuse what does not go with Student-t or correlated noise."""
        full = self.noise_covariance == "full"
        if full and self.heavy_tails:
            raise ValueError(
                'The noise_covariance="full" is for Gaussian noise. Got heavy_tails=True; leave one of '
                "them out."
            )
        name = 'noise_covariance="full"' if full else "heavy_tails=True"
        if residuals != "posterior" or self.iterate != "posterior" or rounds == 1:
            raise ValueError(
                f'The {name} needs residuals="posterior", iterate="posterior" and two rounds or more, '
                f"because it is learned from the residuals of the round before. Got "
                f"residuals={residuals!r}, iterate={self.iterate!r} and rounds={rounds!r}; change "
                f"them, or leave it out."
            )
        if isinstance(engine, MAP):
            # Its one network has learned these rows: after a few rounds no noise is left.
            raise ValueError(
                f"The {name} needs an engine with several draws, because it is learned from their "
                f'residuals. Got the engine "map", a single network; take another, such as "psghmc".'
            )
        if set(require_kinds(self.target)) != {"real"}:
            why = "others need integrals" if full else "exp(t) or t² of a Student-t t has no variance"
            raise ValueError(
                f"The {name} is for real targets: {why}. Got target={self.target!r}; leave one of them "
                f"out."
            )

    def check_calibration(self, name: str, method: Any) -> None:
        """Refuse a method that does not exist, or does not suit the noise."""
        super().check_calibration(name, method)
        if self.heavy_tails and method != "conformal":
            raise ValueError(
                f'The `{name}` of a model with heavy_tails=True must be "conformal", because factors '
                f"are learned for Gaussian errors. Got {method!r}."
            )

    def _check_data(self, data: Dataset) -> None:
        full = self.noise_covariance == "full"
        if (self.heavy_tails or full) and np.any(data.known_variance):
            raise ValueError(NO_KNOWN_ERRORS)
        if full and data.target.shape[-1] == 1:
            raise ValueError(
                'The noise_covariance="full" needs several outputs, as columns of y. Got one; leave it '
                "out."
            )
        if full and np.any(data.weight != data.weight[..., :1]):
            raise ValueError(
                'The noise_covariance="full" needs all outputs of a row or step, or none. Got some '
                "that are NaN beside others; leave out these rows, or the argument."
            )

    def _publish(self) -> None:
        super()._publish()
        names = getattr(self, "feature_names_in_", None)
        self.relevance_: Relevance | None = relevance_of(self.fitted_, names, self.gaps_)

    def _variance_engine(self, inference: str | Engine, num_rows: int) -> Engine:
        if inference == "psghmc":
            return pilot(num_rows)
        return engine_of("variance_inference", inference, num_rows)
