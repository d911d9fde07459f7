"""A fitted scikit-learn composition in a file of skops, which holds no code, without its estimator.

The estimator is saved in its own format; a ``DummyRegressor`` keeps its place.
"""

from collections.abc import Sequence
from copy import copy
from pathlib import Path
from typing import Any

from sklearn.base import clone
from sklearn.compose import TransformedTargetRegressor
from sklearn.dummy import DummyRegressor
from sklearn.pipeline import Pipeline

from vebnn.estimators.predicting import Predicting

# Types that skops has not on its list, and that only hold or convert numbers: parts of SimpleImputer,
# SplineTransformer and SelectKBest.
_HARMLESS = (
    "numpy.dtype",
    "scipy._lib.array_api_compat.numpy._aliases.asarray",
    "scipy.interpolate._bsplines.BSpline",
    "sklearn.feature_selection._univariate_selection.f_classif",
    "sklearn.feature_selection._univariate_selection.f_regression",
)


def take_apart(model: Any) -> tuple[Any, Predicting]:
    """Return a copy of a fitted composition with a dummy for its estimator, and the estimator.

    Of a search, only the best composition is kept.

    Raises:
      TypeError: if there is no estimator of vebnn at the end.
    """
    if isinstance(model, Predicting):
        return DummyRegressor(), model
    if isinstance(model, Pipeline):
        *before, (name, last) = model.steps
        rest, estimator = take_apart(last)
        copied = copy(model)
        copied.steps, copied.memory = [*before, (name, rest)], None
        return copied, estimator
    if isinstance(model, TransformedTargetRegressor):
        rest, estimator = take_apart(model.regressor_)
        copied = copy(model)
        copied.regressor, copied.regressor_ = DummyRegressor(), rest
        return copied, estimator
    if hasattr(model, "best_estimator_"):
        return take_apart(model.best_estimator_)
    raise TypeError(
        f"The `model` must be an estimator of vebnn, or a Pipeline, TransformedTargetRegressor or "
        f"fitted search that ends in one. Got {type(model).__name__}."
    )


def put_together(rest: Any, estimator: Predicting) -> Any:
    """Return the composition of :func:`take_apart`."""
    if isinstance(rest, DummyRegressor):
        return estimator
    if isinstance(rest, Pipeline):
        *before, (name, last) = rest.steps
        rest.steps = [*before, (name, put_together(last, estimator))]
        return rest
    if isinstance(rest, TransformedTargetRegressor):
        rest.regressor_ = put_together(rest.regressor_, estimator)
        rest.regressor = clone(rest.regressor_)
        return rest
    raise TypeError(f"a composition of {type(rest).__name__}")


def to_bytes(model: Any) -> bytes:
    """Return the content of a file with a composition, less its estimator."""
    rest, _ = take_apart(model)
    try:
        content: bytes = _skops().dumps(rest)
    except Exception as error:  # of any type inside
        raise _not_saved(error) from error
    return content


def reread(model: Any) -> Any:
    """Return a composition as it is read from its own file, whose types are trusted.

    Raises:
      ValueError: if that cannot be done, as with a lambda.
    """
    io, (_, estimator) = _skops(), take_apart(model)
    content = to_bytes(model)
    try:
        rest = io.loads(content, trusted=io.get_untrusted_types(data=content))
    except Exception as error:
        raise _not_saved(error) from error
    return put_together(rest, estimator)


def from_bytes(content: bytes, path: Path, estimator: Predicting, trusted: Sequence[str]) -> Any:
    """Return the composition of a file and its estimator.

    Raises:
      ValueError: if it is no file of skops, or asks for types that neither skops nor the user trusts.
        These are not imported.
    """
    io, trusted = _skops(), [*_HARMLESS, *trusted]
    try:
        unknown = sorted({*io.get_untrusted_types(data=content)} - {*trusted})
    except Exception as error:  # a hostile file may be anything
        raise _unreadable(path, error) from error
    if unknown:
        raise ValueError(
            f"The file {path} asks for code that is not trusted: {', '.join(unknown)}. If you know it "
            f"to be harmless, load the pipeline in Python: load_pipeline(folder, trusted={unknown!r})."
        )
    try:
        return put_together(io.loads(content, trusted=trusted), estimator)
    except Exception as error:
        raise _unreadable(path, error) from error


def _not_saved(error: Exception) -> ValueError:
    return ValueError(
        f"The `model` must hold nothing but what can be read again, such as transformers and functions "
        f"that a module defines by name. Got {type(error).__name__}: {error}."
    )


def _unreadable(path: Path, error: Exception) -> ValueError:
    found = f"{type(error).__name__}: {error}"
    return ValueError(f"The file {path} cannot be read ({found}). Save the pipeline again.")


def _skops() -> Any:
    try:
        import skops.io
    except ImportError as error:
        raise ImportError("A saved pipeline needs skops: pip install 'vebnn[pipelines]'.") from error
    return skops.io
