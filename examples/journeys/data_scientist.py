"""A data scientist: a messy file, skewed amounts of money, counts, and 100,000 rows.

Only the command line, on CSV files that nobody prepared: python data_scientist.py FOLDER.
"""

import sys
from pathlib import Path

import pandas
import public_tables
from command import check_coverage, fit, shares_of, vebnn

LEAKS = ("nvisits", "ovisits", "novisits", "emergency")  # other counts of the same visits
# Known only after the flight, or another name of what is known before.
NOT_BEFORE = (
    *("dep_time", "dep_delay", "arr_time", "sched_arr_time", "arr_delay", "tailnum", "flight", "dest"),
    *("year", "month", "day", "hour", "minute"),
)


def penguins(folder: Path) -> None:
    """Fit a messy file as it is: dates, identifiers, comments, gaps, and two targets with gaps."""
    file, model = str(folder / "penguins.csv"), str(folder / "penguins.model")
    targets = ("--target", "Body Mass (g)", "--target", "Flipper Length (mm)")
    shares = []
    for seed in range(3):  # 69 rows are too few to judge the ranges by
        found = fit(file, *targets, "--out", model, "--seed", str(seed))
        shares += shares_of(found)
    kinds = {column["name"]: column["kind"] for column in found["columns"]}
    assert kinds["Date Egg"] == "date"
    assert kinds["Sex"] == "category"
    assert kinds["Delta 15 N (o/oo)"] == "number"
    assert found["identifiers"] == ["Individual ID"]
    assert any(notice.startswith("2 rows without all of the targets") for notice in found["notices"])
    assert all(score["rmse"] < 0.6 * score["baseline_rmse"] for score in found["scores"])
    check_coverage("penguins", shares)
    vebnn("predict", model, file, "--out", str(folder / "penguins-predicted.csv"))
    predicted = pandas.read_csv(folder / "penguins-predicted.csv")
    assert len(predicted) == 344  # also those whose mass is not known
    assert "Individual ID" in predicted


def budgets(folder: Path) -> None:
    """Take the advice of the command line about a skewed target, in place of impossible ranges."""
    films = pandas.read_csv(folder / "movies.csv")
    films = films[films["budget"] > 0]  # 32 budgets are 0, which stands for unknown
    file, model = str(folder / "budgets.csv"), str(folder / "budgets.model")
    films.to_csv(file, index=False)
    advice = vebnn("fit", file, "--target", "budget", "--dry-run")
    assert "All values of budget are positive and skewed: try --target-kind positive." in advice
    found = fit(file, "--target", "budget", "--target-kind", "positive", "--out", model)
    (score,) = found["scores"]
    assert score["below_zero"] == 0
    check_coverage("film budgets", shares_of(found))


def visits(folder: Path) -> None:
    """Predict counts: every range has whole numbers from 0 on."""
    file, model = str(folder / "visits.csv"), str(folder / "visits.model")
    options = ("--target", "visits", *(part for name in LEAKS for part in ("--drop", name)))
    advice = vebnn("fit", file, *options, "--dry-run")
    assert "many are near 0: try --target-kind count." in advice
    found = fit(file, *options, "--target-kind", "count", "--out", model)
    check_coverage("visits of doctors", shares_of(found))
    vebnn("predict", model, file, "--out", str(folder / "visits-predicted.csv"))
    predicted = pandas.read_csv(folder / "visits-predicted.csv")
    ends = predicted[["lower", "upper"]].to_numpy()
    assert len(ends) == 4406
    assert (ends >= 0).all()
    assert (ends % 1 == 0).all()


def flights(folder: Path) -> None:
    """Learn from more than 100,000 rows, in a quarter of the usual time."""
    file, model = str(folder / "flights.csv"), str(folder / "flights.model")
    dropped = tuple(part for name in NOT_BEFORE for part in ("--drop", name))
    options = ("--target", "air_time", "--target-kind", "positive", "--effort", "quick")
    found = fit(file, *options, *dropped, "--out", model)
    assert found["trained"] > 100_000
    (score,) = found["scores"]
    assert score["below_zero"] == 0
    assert score["rmse"] < 0.2 * score["baseline_rmse"]
    check_coverage("flights", shares_of(found))


JOURNEY = {"penguins": penguins, "movies": budgets, "visits": visits, "flights": flights}

if __name__ == "__main__":
    place, *names = sys.argv[1:]
    for name in names or JOURNEY:
        public_tables.write(Path(place), [name])
        JOURNEY[name](Path(place))
