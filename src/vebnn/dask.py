"""Predictions of Dask collections: lazy, partition by partition, on any scheduler."""

from typing import Any

import numpy as np
import pandas
from sklearn.compose import TransformedTargetRegressor
from sklearn.pipeline import Pipeline

from vebnn import estimators
from vebnn.tabular.model import TableModel

PARTS = ("mean", "aleatoric_std", "epistemic_std", "std")


def predict_distribution(model: Any, X: Any, *, calibrated: bool = True) -> Any:
    """Return a lazy Dask DataFrame with mean, aleatoric, epistemic and total std of every row.

    Nothing is computed before ``compute()``, ``to_parquet()`` and the like. The partitions, and the
    index of a DataFrame, are those of ``X``. With several targets, the columns begin with their names.

    Args:
      model: a fitted estimator, a scikit-learn composition that ends in one, or a
        :class:`~vebnn.tabular.model.TableModel`, which takes columns as ``vebnn fit`` has seen them.
      X: a Dask DataFrame, or a Dask Array whose first axis are the rows.
      calibrated: with the corrections of ``calibrate``, if there are any; always for a table model.

    Raises:
      ImportError: without the extra ``vebnn[dask]``.
      TypeError: if ``X`` is no Dask collection.

    Example:
      >>> rows = dask.dataframe.read_parquet("big/*.parquet")
      >>> vebnn.dask.predict_distribution(model, rows).to_parquet("predictions/")
    """
    try:
        import dask
        from dask import array, dataframe
    except ImportError as error:
        raise ImportError("Dask collections need dask: pip install 'vebnn[dask]'.") from error
    columns = _columns(model)
    # One node of the graph: workers get the model once, not with every partition.
    held = dask.delayed(model, traverse=False)
    if isinstance(X, dataframe.DataFrame):
        meta = pandas.DataFrame(columns=columns, dtype=float, index=X._meta.index)
        return X.map_partitions(_of_frame, held, columns, calibrated, meta=meta)
    if not isinstance(X, array.Array) or X.ndim < 2:
        raise TypeError(
            f"The `X` must be a Dask DataFrame, or a Dask Array of rows. Got {type(X).__name__}; use "
            f"vebnn.predict_distribution for data in memory."
        )
    whole_rows = X.rechunk(dict.fromkeys(range(1, X.ndim), -1))
    numbers = whole_rows.map_blocks(
        _of_array,
        held,
        calibrated,
        dtype=float,
        drop_axis=list(range(1, X.ndim)),
        new_axis=[1],
        chunks=(whole_rows.chunks[0], (len(columns),)),
        meta=np.zeros((0, 0)),
    )
    return dataframe.from_dask_array(numbers, columns=columns)


def _columns(model: Any) -> list[str]:
    names: Any
    if isinstance(model, TableModel):
        names = model.targets if len(model.targets) > 1 else None
    else:
        inner = _estimator_of(model)
        number = len(inner.y_units_.scale)
        names = None if inner.one_output_ else inner.target_names_ or [f"y{at}" for at in range(number)]
    return [*PARTS] if names is None else [f"{name}_{part}" for name in names for part in PARTS]


def _estimator_of(model: Any) -> Any:
    """Return the fitted estimator inside of a composition, as ``vebnn.predict_distribution`` does."""
    while not hasattr(model, "y_units_"):
        if isinstance(model, Pipeline):
            model = model.steps[-1][1]
        elif isinstance(model, TransformedTargetRegressor):
            model = model.regressor_
        elif hasattr(model, "best_estimator_"):
            model = model.best_estimator_
        else:
            raise TypeError(f"The `model` must be fitted, and of vebnn. Got {type(model).__name__}.")
    return model


def _of_frame(
    rows: pandas.DataFrame, model: Any, columns: list[str], calibrated: bool
) -> pandas.DataFrame:
    return pandas.DataFrame(_of_array(rows, model, calibrated), columns=columns, index=rows.index)


def _of_array(rows: Any, model: Any, calibrated: bool) -> np.ndarray:
    if not len(rows):
        return np.zeros((0, len(_columns(model))))
    if isinstance(model, TableModel):
        found = model.predict(rows).prediction
    else:
        found = estimators.predict_distribution(model, rows, calibrated=calibrated)
    parts = [getattr(found, name) for name in PARTS]
    return np.stack(parts, axis=-1).reshape(len(rows), -1)
