"""What a fitted estimator says about new rows: predictions, and their explanations."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from vebnn.calibration import calibrated as apply_calibration
from vebnn.estimators.preprocessing import known_std
from vebnn.estimators.rows import ArrayChecks, blank_padding, snapshot
from vebnn.estimators.target_kinds import Kinds, inverse, transformed_std
from vebnn.inference.diagnostics import ChainDiagnostics
from vebnn.prediction import Components, Prediction, Spread, in_user_units

if TYPE_CHECKING:
    from vebnn.estimators.explanations import Explanation

NO_KNOWN_ERRORS = (
    'With heavy_tails=True or noise_covariance="full" there can be no `y_std`: its Gaussian errors, '
    "each by itself, would change the kind of the noise. Leave out `y_std`, or these arguments."
)


class MeanAndStd(NamedTuple):
    """What ``predict(X, return_std=True)`` returns: a tuple of two arrays."""

    mean: np.ndarray
    std: np.ndarray

    @property
    def ndim(self) -> int:
        """Refuse to be taken for one array, as ``TransformedTargetRegressor.predict`` does."""
        raise AttributeError(
            "A std cannot pass through TransformedTargetRegressor.predict. Leave out return_std=True, "
            "and take vebnn.predict_distribution(model, X).std, in the units of y."
        )


class Predicting(ArrayChecks):
    """The part of an estimator that predicts in the user's units."""

    diagnostics_: ChainDiagnostics | None
    target_names_: tuple[str, ...] | None
    target_kinds_: Kinds

    def predict(self, X: Any, return_std: bool = False) -> np.ndarray | tuple[np.ndarray, np.ndarray]:
        """Return the predictive mean and, if asked for, the total standard deviation."""
        prediction = self.predict_distribution(X)
        return MeanAndStd(prediction.mean, prediction.std) if return_std else prediction.mean

    def predict_distribution(self, X: Any, *, y_std: Any = None, calibrated: bool = True) -> Prediction:
        """Return the whole predictive distribution.

        Args:
          X: rows like those of ``fit``. Sequences may be padded with NaN at their end, where the
            prediction is NaN, too; those of a GRU may also be of another length.
          y_std: known std of the measurement error of the new targets, one number, ``(rows,)`` or like
            the mean; it adds to the noise.
          calibrated: with the corrections of :meth:`calibrate`, if there are any.
        """
        index = getattr(X, "index", None) if hasattr(X, "columns") else None
        model = snapshot(self)  # another thread may fit this one again
        x, padding = model._inputs(X)
        return model._predicted(x, padding, y_std=y_std, index=index, calibrated=calibrated)

    def explain(
        self,
        X: Any,
        background: Any = None,
        *,
        groups: Mapping[str, Sequence[int]] | None = None,
        num_permutations: int = 256,
        random_state: Any = 0,
    ) -> "Explanation":
        """Return what each feature adds to the mean, to the noise and to the ignorance of predictions.

        These are Shapley values: features of a background row are replaced by those of the row, in all
        orders, and the change at each step is averaged. Those of a row add up to its prediction less
        the average over the background. Up to seven features are computed exactly, more by sampled
        orders (:mod:`vebnn.estimators.explanations.shapley`).

        Args:
          X: rows of features to explain, like those of ``fit``.
          background: rows to compare with; by default 64 training rows, which the model keeps.
          groups: inputs that only make sense together, such as the columns of a category: a name for
            each group, and the numbers of its inputs. Every input is in one group.
          num_permutations: orders to sample if there are more than seven features; rounded up, so that
            each background row has as many.
          random_state: for the sampled orders.

        Raises:
          ValueError: if the inputs are sequences or images.
        """
        from vebnn.estimators.explanations.explain import explain

        return explain(self, X, background, groups, num_permutations, random_state)

    def to_arviz(self, X: Any, y: Any, *, y_std: Any = None, random_state: Any = 0) -> Any:
        """Return the draws at some rows as a data tree of ArviZ, in your units and not calibrated.

        Its groups are ``posterior`` (``mean``, the mean of every draw), ``log_likelihood`` (of ``y``,
        given every draw), ``posterior_predictive`` (one new ``y`` of every draw) and ``observed_data``.
        Where ``y`` is NaN, all are lists of what was observed, and ``constant_data`` says where. With
        ``noise_covariance="full"``, the log-likelihood is ``y_joint``, that of all outputs of a row.

        Args:
          X: rows like those of ``fit``; for leave-one-out scores, those of ``fit``.
          y: their targets.
          y_std: known std of their measurement error, as in ``predict_distribution``.
          random_state: for the posterior predictive.

        Raises:
          ImportError: without the extra ``vebnn[arviz]``.
        """
        from vebnn.estimators.arviz import to_arviz

        return to_arviz(snapshot(self), X, y, y_std, random_state)

    def _predicted(
        self,
        x: np.ndarray,
        padding: np.ndarray | None = None,
        *,
        y_std: Any = None,
        index: Any = None,
        calibrated: bool = True,
    ) -> Prediction:
        """Return the prediction of standardised inputs."""
        found = self._predict_transformed(x, padding, y_std, index)
        if calibrated and self.calibration_:
            found = apply_calibration(found, self.calibration_)
        return in_user_units(found, self.target_kinds_)

    def _predict_transformed(
        self, x: np.ndarray, padding: np.ndarray | None, y_std: Any = None, index: Any = None
    ) -> Prediction:
        """Return the raw prediction on the scale that is learned, which is y for real targets."""
        mean, aleatoric, epistemic = (blank_padding(part, padding) for part in self.fitted_.parts(x))
        squared, centre = self.y_units_.scale**2, self.y_units_.restore(mean)
        freedom, correlation = self.fitted_.degrees_of_freedom, self.fitted_.noise_correlation
        known: Any = 0
        if y_std is not None:
            if freedom is not None or correlation is not None:
                raise ValueError(NO_KNOWN_ERRORS)
            std = known_std(y_std, mean.shape, np.isfinite(mean))
            near = inverse(centre, self.target_kinds_)
            known = transformed_std(near, std, self.target_kinds_) ** 2
        return Prediction(
            mean=self._like_y(centre),
            aleatoric_variance=self._like_y(aleatoric * squared + known),
            epistemic_variance=self._like_y(epistemic * squared),
            load_components=partial(self._restored_components, x, padding, known),
            target_names=self.target_names_,
            index=index,
            spread=self._spread(),
            degrees_of_freedom=None if freedom is None else self._like_y(freedom),
            noise_correlation=correlation,
            noise_autocorrelation=self.fitted_.noise_autocorrelation,
        )

    def _spread(self) -> Spread | None:
        if self.diagnostics_ is None:
            return None
        return "posterior" if self.diagnostics_.mixed else "ensemble"

    def _restored_components(
        self, x: np.ndarray, padding: np.ndarray | None, known_variance: Any
    ) -> Components:
        mean, variance, weight = self.fitted_.components(x)
        mean, variance = blank_padding(mean, padding), blank_padding(variance, padding)
        variance = variance * self.y_units_.scale**2 + known_variance
        whole = Components(self.y_units_.restore(mean), variance, weight.astype(float))
        return Components(*map(self._like_y, whole))
