"""How long to train on a large table: few epochs of large batches."""

from typing import Any

from vebnn.core.arguments import require_one_of
from vebnn.estimators import VeBNNRegressor
from vebnn.inference import PSGHMC
from vebnn.tabular.effort import EFFORTS
from vebnn.training import Training

ROW_VISITS = 8e7  # of Step 1: 20 epochs of four million rows
FEWEST_EPOCHS, MOST_EPOCHS = 2, 100
MOST_BATCH, BATCHES = 4_096, 40  # rows of a batch, and how many batches an epoch has at least
NUM_CHAINS, MOST_SAMPLES = 4, 40
WATCHED = 100_000  # most rows for early stopping


def mapped_estimator(num_rows: int, effort: str, **settings: Any) -> VeBNNRegressor:
    """Return an estimator for rows that stay in a file.

    So many rows outweigh the parameters: residuals of a network are as large for rows it was trained on
    as for others, so there are no fold networks, and one round is enough.
    """
    require_one_of("effort", effort, tuple(EFFORTS))
    visits = ROW_VISITS * EFFORTS[effort] / num_rows
    epochs = min(max(round(visits), FEWEST_EPOCHS), MOST_EPOCHS)
    batch = min(max(num_rows // BATCHES, 1), MOST_BATCH)
    burn_in, samples = max(1, epochs // 4), min(epochs, MOST_SAMPLES)
    chains = PSGHMC(
        num_samples=samples, burn_in=burn_in, thinning=1, num_chains=NUM_CHAINS, batch_size=batch
    )
    return VeBNNRegressor(
        inference=chains,
        variance_inference=chains,
        mean_training=Training(
            epochs, learning_rate=3e-3, batch_size=batch, patience=max(1, epochs // 4)
        ),
        residuals="posterior",
        num_folds=1,
        rounds=1,
        validation_fraction=min(0.2, WATCHED / num_rows),
        **settings,
    )
