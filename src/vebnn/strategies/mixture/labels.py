"""Labels of modes that agree between networks."""

import numpy as np
from scipy.optimize import linear_sum_assignment

from vebnn.likelihoods.mixture import Mixture


def match_labels(mean: np.ndarray, reference: Mixture) -> np.ndarray:
    """Assign the modes of each network to those of a reference, for every output on its own.

    The modes of a mixture have no order: two networks may predict the same with labels exchanged. The
    assignment minimises Σ π (μ − μ')², with π and μ' those of the reference.

    Args:
      mean: ``(networks, rows, ..., outputs, modes)``.
      reference: one network's mixture on the same rows.

    Returns:
      ``(networks, outputs, modes)``: position j has the mode that is the reference's j-th.
    """
    num_networks, (num_outputs, num_modes) = len(mean), mean.shape[-2:]
    if num_modes == 1:
        return np.zeros((num_networks, num_outputs, 1), np.int32)
    mine = mean.reshape(num_networks, -1, num_outputs, num_modes).astype(float)
    theirs = np.asarray(reference.mean, float).reshape(-1, num_outputs, num_modes)
    weight = np.exp(np.asarray(reference.log_weight, float)).reshape(theirs.shape)
    # The squares, multiplied out, without the term that does not depend on the assignment.
    cost = np.einsum("roj,nrok->nojk", weight, mine**2)
    cost -= 2 * np.einsum("roj,nrok->nojk", weight * theirs, mine)
    pairs = [linear_sum_assignment(one)[1] for one in cost.reshape(-1, num_modes, num_modes)]
    return np.reshape(pairs, (num_networks, num_outputs, num_modes)).astype(np.int32)


def relabel(values: np.ndarray, order: np.ndarray) -> np.ndarray:
    """Put ``(networks, rows, ..., outputs, modes)`` in the order of the labels."""
    between = (1,) * (values.ndim - order.ndim)
    order = order.reshape(order.shape[0], *between, *order.shape[1:])
    return np.take_along_axis(values, order, axis=-1)
