"""Disentanglement of aleatoric and epistemic uncertainty."""

import numpy as np
from scipy import stats

from vebnn.metrics.arrays import by_output, matched, numbers


def uncertainty_correlation(aleatoric: np.ndarray, epistemic: np.ndarray) -> float:
    """Spearman's rank correlation of the two uncertainties per output, averaged over outputs.

    1 means that both rank all rows alike; disentangled estimates need not (Mucsányi et al. 2024, for
    classifiers). Stds and variances have the same ranks. NaN if either is constant.
    """
    aleatoric, epistemic = matched(aleatoric=aleatoric, epistemic=epistemic)
    columns = list(zip(by_output(aleatoric).T, by_output(epistemic).T, strict=True))
    if any(np.ptp(column) == 0 for pair in columns for column in pair):
        return float("nan")
    return float(np.mean([stats.spearmanr(*pair).statistic for pair in columns]))


def out_of_distribution_auroc(inside: np.ndarray, outside: np.ndarray) -> float:
    """Probability that a row outside the data has more epistemic uncertainty than one inside.

    The area under the ROC curve of a threshold on the uncertainty: 1 for perfect separation, ½ for
    none. It is the Mann–Whitney statistic over the number of pairs, ties counting half (Hanley and
    McNeil 1982), averaged over outputs.

    Args:
      inside: epistemic stds or variances of rows like the training data, ``(rows, ..., outputs)``.
      outside: those of rows unlike them; the number of rows may differ.
    """
    inside, outside = numbers("inside", inside), numbers("outside", outside)
    if inside.shape[1:] != outside.shape[1:]:
        raise ValueError(
            f"The `outside` must have the shape of the `inside`, {inside.shape}, but for the number of "
            f"rows. Got {outside.shape}."
        )
    inside, outside = by_output(inside), by_output(outside)
    wins = stats.mannwhitneyu(outside, inside, method="asymptotic").statistic
    return float(np.mean(wins / (len(outside) * len(inside))))
