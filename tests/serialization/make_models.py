"""Make the small saved models that later versions must read: ``python make_models.py FOLDER``.

Run it with the version of the package whose format is to be kept. Every folder holds a model and
``predictions.npz``: some rows, and what the model predicted for them when it was saved.
"""

import subprocess
import sys
from pathlib import Path

import numpy as np

from alloys import TARGETS, alloys
from vebnn import (
    GRU,
    MLP,
    NUTS,
    PSGLD,
    BayesByBackprop,
    JointRegressor,
    MCDropout,
    MixtureRegressor,
    Training,
    VeBNNRegressor,
)
from vebnn.tabular.files import read_table
from vebnn.tabular.model import TableModel

SHORT = Training(num_epochs=6, learning_rate=1e-2)
CHAINS = PSGLD(num_samples=3, burn_in=6, thinning=2, num_chains=2)
STEPS = {"mean_training": SHORT, "variance_training": SHORT, "num_folds": 2, "random_state": 0}
SMALL = {"network": MLP((4,)), "variance_network": MLP((3,)), "inference": CHAINS} | STEPS


def models() -> dict:
    """Return estimators by the names of their folders."""
    joint = {"network": MLP((4,)), "training": SHORT, "random_state": 0}
    return {
        "cooperative": VeBNNRegressor(**SMALL, rounds=2),
        "joint": JointRegressor(**joint, inference=CHAINS),
        "mixture": MixtureRegressor(2, **SMALL, num_starts=2),
        "mc_dropout": JointRegressor(
            **joint | {"network": MLP((4,), dropout_rate=0.3)}, inference=MCDropout(4, SHORT)
        ),
        "bbb": JointRegressor(**joint, inference=BayesByBackprop(3, 2, training=SHORT)),
        "nuts": VeBNNRegressor(
            **SMALL
            | {"inference": NUTS(num_samples=3, burn_in=10, thinning=1, num_chains=2, max_tree_depth=3)}
        ),
        "gru": VeBNNRegressor(**SMALL | {"network": GRU((3,)), "variance_network": GRU((2,))}),
    }


def rows(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return inputs and targets: two outputs, or sequences for a recurrent network."""
    rng = np.random.default_rng(3)
    X = rng.uniform(-2, 2, (40, 4, 2) if name == "gru" else (40, 2))
    y = np.stack([np.sin(X[..., 0]), X[..., 1] ** 2], -1)
    y += 0.2 * rng.standard_normal(y.shape)
    return X, y[..., 0] if name == "mixture" else y


def main(folder: Path) -> None:
    """Fit, save and predict every model, and one of a table by the command line."""
    for name, model in models().items():
        X, y = rows(name)
        model.fit(X, y).save(folder / name)
        if name == "joint":
            model.calibrate(X, y, "separate").save(folder / name)
        keep(folder / name, X[:5], model.predict_distribution(X[:5]))
    table, target = folder / "alloys.csv", folder / "table"
    alloys().to_csv(table, index=False)
    command = ["fit", str(table), "--target", TARGETS[0], "--inference", "map", "--effort", "quick"]
    subprocess.run(["vebnn", *command, "--calibrate", "common", "--out", str(target)], check=True)
    alloys(5, seed=1).to_csv(target / "new.csv", index=False)
    prediction = TableModel.load(target).predict(read_table(target / "new.csv")).prediction
    keep(target, np.zeros(0), prediction)
    table.unlink()


def keep(folder: Path, X: np.ndarray, prediction) -> None:
    """Write the rows and their prediction beside the model."""
    parts = ("mean", "aleatoric_std", "epistemic_std")
    expected = {part: getattr(prediction, part) for part in parts}
    np.savez(folder / "predictions.npz", X=X, **expected, interval=prediction.interval(0.9))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
