"""A researcher: an own method against others on own tables, and sequences of unequal length.

The command line for the comparison, Python for the sequences: python researcher.py FOLDER.
"""

import json
import sys
from pathlib import Path

import numpy as np
import pandas
import public_tables
from command import check_coverage, vebnn

from vebnn import GRU, Ensemble, Training, VeBNNRegressor, pad_sequences

OWN_METHOD = '''"""Bayesian ridge regression of log y, back-transformed by moments."""
import numpy as np
from sklearn.linear_model import BayesianRidge

from vebnn.bench.forecasts import Forecast
from vebnn.prediction.targets import TARGETS


def ridge(X, y, X_new, seed):
    mean, std = BayesianRidge().fit(X, np.log(y)).predict(X_new, return_std=True)
    return Forecast(mean, std**2).in_units_of(TARGETS["positive"])
'''


def comparison(folder: Path) -> None:
    """Compare an own method with two others, replicates always on one side; make LaTeX."""
    method, rows, tables = folder / "mine.py", folder / "assay.jsonl", folder / "tables"
    method.write_text(OWN_METHOD)
    vebnn(
        *("bench", "run", "--data", str(folder / "assay.csv"), "--target", "density"),
        *("--categorical", "Run", "--splits", "3", "--jobs", "1", "--out", str(rows)),
        *("--methods", f"{method}:ridge,VeBNN (pSGHMC),CatBoost"),
    )
    scores = pandas.DataFrame(json.loads(line) for line in rows.read_text().splitlines())
    ours = scores[scores["method"] == "VeBNN (pSGHMC)"]
    for metric in ("rmse", "crps"):
        means = scores.groupby("method")[metric].mean()
        assert means["VeBNN (pSGHMC)"] == means.min(), means
    check_coverage("assay", list(zip(ours["coverage"], ours["tested"], strict=True)))
    vebnn("bench", "table", str(rows), "--metric", "tll,crps,coverage", "--out", str(tables))
    assert "mine.py:ridge" in (tables / "tables.tex").read_text()


def sequences(folder: Path) -> None:
    """Forecast the protein in the milk of unseen cows, a week ahead, from 11 to 18 weeks of history."""
    milk = pandas.read_csv(folder / "milk.csv")
    histories, following = [], []
    for _, cow in milk.groupby("Cow"):
        diet = [cow["Diet"].iloc[0] == name for name in ("barley", "lupins")]
        protein, week = cow["protein"].to_numpy(), cow["Time"].to_numpy()
        known = [protein[:-1], week[1:], *(np.full(len(cow) - 1, one) for one in diet)]
        histories.append(np.column_stack(known))
        following.append(protein[1:])
    assert len({len(one) for one in following}) > 1
    X, y = pad_sequences(histories), pad_sequences(following)
    held_out = np.random.default_rng(0).permutation(len(X))[:20]
    trained = np.setdiff1d(np.arange(len(X)), held_out)
    training = Training(num_epochs=600, learning_rate=1e-2, patience=150)
    model = VeBNNRegressor(
        GRU((16,)),
        variance_network=GRU((8,)),
        inference=Ensemble(num_members=5, training=training),
        mean_training=training,
        variance_training=training,
        random_state=0,
    ).fit(X[trained], y[trained])
    there = ~np.isnan(y[held_out])
    prediction = model.predict_distribution(X[held_out])
    lower, upper = prediction.interval(0.95)
    inside = (lower <= y[held_out]) & (y[held_out] <= upper)
    check_coverage("milk", [(float(inside[there].mean()), int(there.sum()))])
    error = np.sqrt(np.mean((prediction.mean - y[held_out])[there] ** 2))
    # Always predicting the last week's protein.
    repeated = np.sqrt(np.mean((X[held_out][..., :1] - y[held_out])[there] ** 2))
    print(f"RMSE {error:.3f}, of last week's value {repeated:.3f}")
    assert error < repeated


JOURNEY = {"assay": comparison, "milk": sequences}

if __name__ == "__main__":
    place, *names = sys.argv[1:]
    for name in names or JOURNEY:
        public_tables.write(Path(place), [name])
        JOURNEY[name](Path(place))
