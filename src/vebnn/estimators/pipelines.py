"""Distributions from scikit-learn's compositions: pipelines, searches, transformed targets."""

from dataclasses import replace
from typing import Any

from sklearn.utils.validation import check_is_fitted

from vebnn.estimators.predicting import Predicting
from vebnn.estimators.transformed_targets import in_units_of_y
from vebnn.prediction import Prediction


def predict_distribution(
    model: Any, X: Any, *, y_std: Any = None, calibrated: bool = True
) -> Prediction:
    """Return the predictive distribution of a fitted scikit-learn composition of an estimator.

    Args:
      model: an estimator of vebnn, alone or inside of ``Pipeline``, ``TransformedTargetRegressor`` and
        searches such as ``GridSearchCV``, nested in any way. Linear transformations of targets are
        undone exactly. So are quantiles, ranges and samples of other increasing ones; moments are then
        computed by quadrature.
      X: rows like those of its ``fit``.
      y_std: as in ``VeBNNRegressor.predict_distribution``; not with transformed targets.
      calibrated: as there.

    Raises:
      TypeError: if there is no estimator of vebnn inside.
      ValueError: if a transformation of the targets cannot be undone for distributions.

    Example:
      >>> pipeline = make_pipeline(PolynomialFeatures(2), VeBNNRegressor()).fit(X, y)
      >>> predict_distribution(pipeline, X_new).epistemic_std
    """
    index = getattr(X, "index", None) if hasattr(X, "columns") else None
    return replace(_predicted(model, X, y_std, calibrated), index=index)


def _predicted(model: Any, X: Any, y_std: Any, calibrated: bool) -> Prediction:
    if isinstance(model, Predicting):
        return model.predict_distribution(X, y_std=y_std, calibrated=calibrated)
    # These import much of scikit-learn that an estimator alone does not need.
    from sklearn.compose import TransformedTargetRegressor
    from sklearn.pipeline import Pipeline

    if isinstance(model, Pipeline):
        check_is_fitted(model)
        inputs = model[:-1].transform(X) if len(model) > 1 else X
        return _predicted(model.steps[-1][1], inputs, y_std, calibrated)
    if isinstance(model, TransformedTargetRegressor):
        check_is_fitted(model)
        if y_std is not None:
            raise ValueError(
                "The `y_std` is in the units of y, which the regressor inside "
                "TransformedTargetRegressor does not know. Leave it out, or give the estimator y "
                "itself: it standardises targets."
            )
        inner = _predicted(model.regressor_, X, None, calibrated)
        return in_units_of_y(inner, model.transformer_)
    if hasattr(model, "best_estimator_"):  # a search with refit
        return _predicted(model.best_estimator_, X, y_std, calibrated)
    raise TypeError(
        f"The `model` must be an estimator of vebnn, or a Pipeline, TransformedTargetRegressor or "
        f"fitted search that ends in one. Got {type(model).__name__}."
    )
