"""Fits of rows that stay in a file: encoded, standardised and in random order."""

from collections.abc import Callable, Sequence

import numpy as np

from vebnn.core.types import Dataset
from vebnn.estimators.gaps import Gaps
from vebnn.estimators.preprocessing import Standardiser
from vebnn.estimators.rows import all_at_once
from vebnn.estimators.target_kinds import kinds_of
from vebnn.estimators.vebnn import VeBNNRegressor
from vebnn.strategies.contract import Rows
from vebnn.training.streaming import HostRows

ENOUGH_ROWS = 2**20  # for the units of the targets


def fit_mapped(
    model: VeBNNRegressor,
    x: np.ndarray,
    read_targets: Callable[[], np.ndarray],
    *,
    units: Standardiser,
    names: Sequence[str],
    target_names: Sequence[str],
) -> None:
    """Fit an estimator as ``fit`` would, without a copy of the inputs.

    Args:
      model: the estimator.
      x: ``(rows, features)`` in single precision, standardised and without gaps; mapped from a file.
      read_targets: returns y, ``(rows,)`` or ``(rows, outputs)``, in the user's units. A function: y in
        double precision need not be in memory while networks train.
      units: of the inputs.
      names: of the features.
      target_names: of the outputs; of one, none are kept.
    """
    model.check_arguments()
    with all_at_once(model) as new:
        y = read_targets()
        new.n_features_in_, new.in_shape_ = x.shape[1], x.shape[1:]
        new.feature_names_in_ = np.array(names, object)
        new.one_output_ = y.ndim == 1
        new.target_names_ = None if new.one_output_ else tuple(target_names)
        new.gaps_, new.x_units_ = Gaps(tuple(units.centre.tolist())), units
        new.target_kinds_ = kinds_of(new.target, 1 if new.one_output_ else y.shape[1])
        y, _ = new._transform("y", y)
        target = new._columns(y)
        new.y_units_ = Standardiser.learn(target[:ENOUGH_ROWS])  # rows are in random order
        target = new.y_units_.standardise(target).astype(np.float32)
        del y
        rows = HostRows(x, shuffled=True)
        # Without the memory of millions of equal numbers.
        one, zero = (np.broadcast_to(np.float32(each), target.shape) for each in (1, 0))
        data = Dataset(rows, target, one, zero)
        new.fitted_ = new._learn(Rows(data))
        new._publish()
        new.calibration_ = None
    model._warn_of_slow_chains()
