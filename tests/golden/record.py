"""Record what the fits predict, or compare it with what they predicted before.

``python -m tests.golden.record FOLDER`` writes predictions and saved models to a new folder; called
again, it compares, bit for bit, on the same machine. ``python -m tests.golden.record --cheap`` writes
the few numbers that ``make test`` holds every machine to.
"""

import json
import sys
import warnings
from pathlib import Path

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from tests.golden.cases import CASES, CHEAP, Case
from vebnn import Prediction

NUMBERS = Path(__file__).with_name("predictions.json")


def predictions(prediction: Prediction) -> dict[str, np.ndarray]:
    """Return what a prediction says, in all ways that have code of their own."""
    parts = {
        name: getattr(prediction, name)
        for name in ("mean", "aleatoric_variance", "epistemic_variance", "draws")
    }
    lower, upper = prediction.interval(0.8)
    modes = prediction.modes
    return {
        **parts,
        "lower": lower,
        "upper": upper,
        "mode means": modes.mean,
        "mode noise": modes.aleatoric_std,
        "mode weights": modes.weight,
    }


def fit(case: Case) -> object:
    """Return the fitted estimator of a case."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return case.make().fit(**case.data(), **case.arguments)


def rows_of(case: Case) -> np.ndarray:
    """Return the rows at which a case predicts."""
    return case.data()["X"][:6]


def compare(folder: Path) -> list[str]:
    """Return what differs from the folder, which is filled if it is new."""
    different = []
    for name, case in CASES.items():
        path = folder / f"{name.replace(' ', '-').replace(',', '')}.npz"
        model = fit(case)
        now = predictions(model.predict_distribution(rows_of(case)))
        if not path.exists():
            folder.mkdir(parents=True, exist_ok=True)
            np.savez(path, **now)
            model.save(path.with_suffix(".model"))
            print("recorded", name, flush=True)
            continue
        loaded = type(model).load(path.with_suffix(".model"), **case.again())
        again = predictions(loaded.predict_distribution(rows_of(case)))
        with np.load(path) as then:
            wrong = [part for part in then if not same_bits(then[part], now[part])]
            wrong += [f"saved {part}" for part in then if not same_bits(then[part], again[part])]
        print("DIFFERENT" if wrong else "the same", name, *wrong, flush=True)
        different += [name] if wrong else []
    return different


def same_bits(one: np.ndarray, other: np.ndarray) -> bool:
    """Compare bit for bit, where NaN equals NaN."""
    return np.array_equal(one, other, equal_nan=True)


def numbers(name: str) -> dict[str, list[float]]:
    """Return mean and the two stds of a cheap case, one number per row."""
    case = CASES[name]
    prediction = fit(case).predict_distribution(rows_of(case))
    parts = (prediction.mean, prediction.aleatoric_std, prediction.epistemic_std)
    return {
        part: np.nanmean(values.reshape(len(values), -1), axis=1).tolist()
        for part, values in zip(("mean", "aleatoric_std", "epistemic_std"), parts, strict=True)
    }


if __name__ == "__main__":
    if sys.argv[1] == "--cheap":
        NUMBERS.write_text(json.dumps({name: numbers(name) for name in CHEAP}, indent=1) + "\n")
    else:
        sys.exit(len(compare(Path(sys.argv[1]))))
