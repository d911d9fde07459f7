"""Noise that goes together along a sequence or within a group: what share of the targets it is worth.

Derivation and references: docs/dependent-noise.md.
"""

from typing import Literal, NamedTuple

import jax
import numpy as np

from vebnn.core.types import Dataset
from vebnn.inference.evaluation import evaluate_draws
from vebnn.networks import Network
from vebnn.strategies.cooperative.mean import out_of_fold
from vebnn.strategies.fit_data import FitData

NoiseWithin = Literal["independent", "correlated"]


class Dependence(NamedTuple):
    """The noise within the sequences or groups of a data set."""

    share: float  # what a target counts in Step 3: their effective number over their number
    # Correlation of the noise at two steps of a sequence, by their distance, if it is known.
    autocorrelation: tuple[float, ...] | None

    def weigh(self, data: Dataset) -> Dataset:
        """Return the rows as Step 3 counts them."""
        if self.share == 1:
            return data  # which may be larger than memory
        return data._replace(weight=data.weight * np.float32(self.share))


INDEPENDENT = Dependence(1.0, None)


class Products(NamedTuple):
    """Mean products of all outputs with all others."""

    same: np.ndarray  # (outputs, outputs): of one target, or of targets of one row or step
    others: np.ndarray  # (..., outputs, outputs): with other steps of a sequence, rows of a group
    multiplicity: float  # how many such others there are for each target


def require_repeats(rows: FitData) -> None:
    """Refuse a table in which no two rows belong together."""
    if not rows.shapes.steps and (rows.groups is None or np.bincount(rows.groups).max() == 1):
        raise ValueError(
            'The noise_within="correlated" needs sequences, or rows in groups. Got a table in which no '
            "two rows belong together; pass `groups` to fit, or leave the argument out."
        )


def find_dependence(
    wanted: NoiseWithin | None,
    rows: FitData,
    variance: np.ndarray,
    networks: Network,
    *,
    follows: bool,
) -> Dependence:
    """Return how the noise goes together, as the fold networks of Step 1 see it, if it may.

    Args:
      wanted: None stands for correlated noise of sequences.
      variance: of the noise of every target.
      networks: of Step 1, stacked: the mean network, and one for each fold.
      follows: whether the engine's spread follows the likelihood. If not, as in an ensemble, targets
        count in full unless correlated noise was asked for.
    """
    correlated = wanted == "correlated" or (wanted is None and len(rows.shapes.steps) == 1)
    if not correlated or rows.num_folds < 2:
        return INDEPENDENT
    data, folds = rows.data, jax.tree.map(lambda leaf: leaf[1:], networks)
    std = np.sqrt(variance + data.known_variance)
    every = evaluate_draws(folds, data.x)
    errors = (np.asarray(data.target) - out_of_fold(folds, rows.split, data.x).mean) / std
    group = None if rows.shapes.steps else rows.groups
    found = dependence_of(errors, (every - every.mean(0)) / std, np.asarray(data.weight), group)
    return found if follows or wanted == "correlated" else found._replace(share=1.0)


def dependence_of(
    errors: np.ndarray, deviations: np.ndarray, weight: np.ndarray, group: np.ndarray | None
) -> Dependence:
    """Return the dependence of the noise from errors and from changes of the mean.

    The likelihood's slope along a change u of the mean, in stds of the noise, is Σ u z. Its variance is
    Σ_ij E[u_i u_j] E[z_i z_j] over all pairs of a sequence or group, and Σ_i E[u_i²] E[z_i²] if noise
    is independent. The share is the second over the first.

    Args:
      errors: z, of networks that have not seen the targets, ``(rows, ..., outputs)``.
      deviations: u, of several networks from their mean, ``(networks, rows, ..., outputs)``.
      weight: of the targets; those of weight 0 do not count.
      group: ``(rows,)``, for tables; None for sequences.
    """
    z, u = (np.where(weight > 0, part, 0.0) for part in (errors, deviations))
    if group is None:
        of_z, of_u = _along(z), _along(u.reshape(-1, *u.shape[2:]))
    else:
        of_z, of_u = _within(z[None], group), _within(u, group)
    independent = np.sum(np.diag(of_z.same) * np.diag(of_u.same))
    others = of_z.multiplicity * np.sum(of_z.others * of_u.others)
    pairs = np.sum(of_z.same * of_u.same) + others
    # Chance must not make the targets worth more than their number.
    share = float(min(independent / pairs, 1)) if pairs > 0 else 1.0
    return Dependence(share, None if group is not None else _autocorrelation(of_z))


def _along(values: np.ndarray) -> Products:
    """Return products along sequences, ``(rows, time, outputs)``, by distance.

    They are divided by the number of steps, not of pairs: distant steps, of which there are few pairs,
    count less, and the correlations belong to a stationary process, whatever the data.
    """
    time = values.shape[1]
    spectrum = np.fft.rfft(values, 2 * time, axis=1)
    power = np.einsum("nfo,nfp->fop", spectrum.conj(), spectrum)
    products = np.fft.irfft(power, 2 * time, axis=0) / (len(values) * time)
    return Products(products[0], products[1:], 1)


def _within(values: np.ndarray, group: np.ndarray) -> Products:
    """Return products within groups of rows, ``(networks, rows, outputs)``."""
    size, by_row = np.bincount(group), np.moveaxis(values, 1, 0)
    sums = np.zeros((len(size), *by_row.shape[1:]))
    np.add.at(sums, group, by_row)
    same = np.einsum("nro,nrp->op", values, values)
    others = np.einsum("gno,gnp->op", sums, sums) - same
    rows, pairs = len(group), np.sum(size * (size - 1))
    return Products(same / (len(values) * rows), others / (len(values) * max(pairs, 1)), pairs / rows)


def _autocorrelation(products: Products) -> tuple[float, ...]:
    """Return the correlation by distance, from 0 on; a mixture over outputs."""
    time = (len(products.others) + 1) // 2
    beyond = np.trace(products.others[: time - 1], axis1=1, axis2=2)
    variance = max(np.trace(products.same), np.finfo(float).tiny)
    return (1.0, *(beyond / variance).tolist())
