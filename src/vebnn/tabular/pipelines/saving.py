"""Save a fitted scikit-learn pipeline, and load it again."""

from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas

from vebnn.serialization.folders import MODEL, PIPELINE, TABLE, SavedFolder, understanding
from vebnn.tabular.columns import NumberColumn
from vebnn.tabular.encoded import EncodedTable, check_names
from vebnn.tabular.errors import quoted_list
from vebnn.tabular.known_rows import KnownRows
from vebnn.tabular.model import TableModel, TrainingFacts, sample_places, target_facts
from vebnn.tabular.pipelines.encoder import PipelineEncoder
from vebnn.tabular.pipelines.fitted import FittedPipeline, read_composition
from vebnn.tabular.saving import ESTIMATORS, check_can_save
from vebnn.tabular.scores import columns_of

if TYPE_CHECKING:
    from vebnn.prediction import Prediction

TOLERANCE = 1e-3  # stds between predictions of the same rows, which rounding explains


def save_pipeline(model: Any, folder: str | PathLike[str], X: Any, y: Any) -> None:
    """Save a fitted pipeline to a folder, for ``load_pipeline`` and for the command ``vebnn``.

    Transformers are written by skops, the estimator in its own format; no file holds code. A saved
    model that is there is replaced as a whole.

    Args:
      model: an estimator of vebnn inside of ``Pipeline``, ``TransformedTargetRegressor`` and searches,
        nested in any way. Of a search, only the best pipeline is saved.
      folder: one that is new, empty, or holds a saved model.
      X: the rows of ``fit``, a frame of pandas or an array, with columns of numbers or texts. The
        folder keeps ranges, texts and fingerprints of all, and up to 1,000 rows.
      y: their targets, ``(rows,)`` or ``(rows, targets)``; a series or a frame names them.

    Raises:
      FileExistsError: if the folder holds something that is not a saved model.
      ImportError: without the extra ``vebnn[pipelines]``.
      TypeError: if there is no estimator of vebnn inside.
      ValueError: if the pipeline could not be loaded again, or predicts otherwise for rows as they are
        read from files.

    Example:
      >>> save_pipeline(pipeline, "strength.model", X, y)
      >>> load_pipeline("strength.model").predict(X_new)
    """
    from vebnn.estimators import predict_distribution
    from vebnn.estimators.compositions import reread

    check_can_save(Path(folder))
    estimator = _estimator_inside(model)
    rows, targets = _frame_of(X), _targets_of(y)
    if len(rows) != len(targets):
        raise ValueError(f"The `y` must have the {len(rows)} rows of `X`. Got {len(targets)}.")
    table = _table_of(rows, targets, as_array=rows is not X)
    some = sample_places(len(table), table.encoder.sample_rows)
    encoder: Any = table.encoder
    fitted = FittedPipeline(reread(model), estimator, encoder, np.asarray(table.take(some)))
    places = table.frame.index[some]
    direct = predict_distribution(model, X[places] if encoder.as_array else X.iloc[places])
    _check_same(fitted, direct)
    facts = TrainingFacts(
        source="",
        num_rows=len(rows),
        num_trained=len(table),
        num_held_out=0,
        seed=0,
        targets=target_facts(encoder.targets, table.observed),
        notices=(),
        scores=(),
    )
    known = KnownRows(
        np.sort(table.fingerprints()), trained_inputs=np.unique(table.input_fingerprints())
    )
    TableModel(encoder, fitted, facts, known, fitted.sample, table.observed[some]).save(Path(folder))


def load_pipeline(folder: str | PathLike[str], *, trusted: Sequence[str] = ()) -> Any:
    """Load a saved pipeline; it predicts as the one that was saved.

    Args:
      folder: one that ``save_pipeline`` has written.
      trusted: names of types that the pipeline may use beyond those that skops trusts, which are most
        of scikit-learn, SciPy, NumPy and Python, such as ``["mine.Transformer"]``. Their code is
        imported and run.

    Raises:
      ImportError: without the extra ``vebnn[pipelines]``.
      ValueError: if there is no saved pipeline, if a file is damaged or edited, or if the pipeline
        asks for types that are not trusted; they are named.
    """
    from vebnn import estimators

    saved = SavedFolder(folder)
    for each in (PIPELINE, TABLE):  # models without the first have other ways to be loaded
        each.read(saved)
    with understanding(saved):
        body, _ = MODEL.read(saved)
        if (kind := body["estimator"]) not in ESTIMATORS:
            raise ValueError(f"The estimator in {saved.path} is an unknown {kind}. Upgrade vebnn.")
        return read_composition(saved, getattr(estimators, kind).load(saved), trusted)


def _estimator_inside(model: Any) -> Any:
    from sklearn.utils.validation import check_is_fitted

    from vebnn.estimators.compositions import take_apart
    from vebnn.estimators.saving import own_parameters

    check_is_fitted(model)
    _, estimator = take_apart(model)
    if (kind := type(estimator).__name__) not in ESTIMATORS:
        raise TypeError(f"The estimator inside must be a {' or a '.join(ESTIMATORS)}. Got a {kind}.")
    if own := own_parameters(estimator):
        raise ValueError(
            f"The estimator inside must be made of vebnn's own parts, because load_pipeline could not "
            f"make others. Got another {quoted_list(own)}."
        )
    return estimator


def _frame_of(X: Any) -> pandas.DataFrame:
    """Return the frame itself, or one with names for the columns of an array."""
    if isinstance(X, pandas.DataFrame):
        if not all(isinstance(name, str) for name in X.columns):
            raise ValueError(f"The columns of `X` must have names. Got {quoted_list(X.columns)}.")
        return X
    if not isinstance(X, np.ndarray) or X.ndim != 2 or X.dtype.kind not in "biuf":
        found = f"{X.dtype} of shape {X.shape}" if isinstance(X, np.ndarray) else type(X).__name__
        raise ValueError(f"The `X` must be a DataFrame or an array (rows, columns). Got {found}.")
    return pandas.DataFrame(X, columns=_numbered("x", X.shape[1]))


def _targets_of(y: Any) -> pandas.DataFrame:
    if isinstance(y, pandas.DataFrame):
        return y.rename(columns=str)
    if isinstance(y, pandas.Series):
        return y.to_frame("y" if y.name is None else str(y.name))
    values = np.asarray(y, float)
    if values.ndim not in (1, 2):
        raise ValueError(f"The `y` must have one or two axes. Got shape {values.shape}.")
    columns = values.reshape(len(values), -1)
    number = columns.shape[1]
    return pandas.DataFrame(columns, columns=["y"] if number == 1 else _numbered("y", number))


def _numbered(name: str, number: int) -> list[str]:
    return [f"{name}{at}" for at in range(number)]


def _table_of(rows: pandas.DataFrame, targets: pandas.DataFrame, *, as_array: bool) -> EncodedTable:
    """Return the rows that have all targets, as a table's encoder sees them."""
    if both := [name for name in targets.columns if name in rows.columns]:
        raise ValueError(
            f"A target must have another name than a column of `X`. Got {quoted_list(both)} twice."
        )
    whole = pandas.concat([rows.reset_index(drop=True), targets.reset_index(drop=True)], axis="columns")
    names = tuple(map(str, targets.columns))
    check_names(whole, names)
    encoder = PipelineEncoder.of(whole[list(rows.columns)], names, as_array=as_array)
    return encoder.encode(whole).with_targets()


def _check_same(fitted: FittedPipeline, direct: "Prediction") -> None:
    """Refuse a pipeline that depends on more than numbers and texts, such as the type of a number."""
    wanted = (
        "The pipeline must predict the same for rows as they are read from files, with numbers as "
        "floats and all else as text, None as NaN."
    )
    try:
        found = fitted.predict_distribution(fitted.sample)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{wanted} Got {type(error).__name__}: {error}") from error
    difference = np.abs(columns_of(found.mean) - columns_of(direct.mean)) / columns_of(direct.std)
    if not (worst := float(difference.max())) <= TOLERANCE:
        raise ValueError(f"{wanted} Got means that differ by {worst:.2g} std; convert X before fit.")
    try:
        fitted.predict_distribution(_between(fitted))
    except ValueError as error:
        raise ValueError(
            f"The pipeline must take every number in a column of numbers, because reports draw curves: "
            f"give codes as text, or let OneHotEncoder ignore unknown ones. Got ValueError: {error}"
        ) from error


def _between(fitted: FittedPipeline) -> np.ndarray:
    """Return rows with numbers that are not those of training, one column at a time."""
    names = fitted.encoder.encoded_names
    numbers = [one for one in fitted.encoder.columns if isinstance(one, NumberColumn)]
    rows = np.repeat(fitted.sample[:1], 1 + len(numbers), axis=0)
    for row, column in enumerate(numbers):
        rows[row, names.index(column.name)] = column.low + (column.high - column.low) / np.pi
    return rows
