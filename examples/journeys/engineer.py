"""An engineer: rates with known standard errors, and an assay with replicates.

The command line, then a check of the noise in Python: python engineer.py FOLDER.
"""

import sys
from pathlib import Path

import numpy as np
import pandas
import public_tables
from command import check_coverage, fit, shares_of, vebnn

from vebnn.tabular.files import read_table
from vebnn.tabular.model import TableModel


def mortality(folder: Path) -> None:
    """Pass the standard error of each rate; the model learns only the scatter beyond it."""
    file, model = str(folder / "mortality.csv"), str(folder / "mortality.model")
    options = ("--target", "Rate", "--y-std", "SE")
    advice = vebnn("fit", file, *options, "--dry-run")
    assert "All values of Rate are positive and skewed: try --target-kind positive." in advice
    shares = []
    for seed in range(3):  # 80 rows are too few to judge the ranges by
        found = fit(file, *options, "--target-kind", "positive", "--out", model, "--seed", str(seed))
        (score,) = found["scores"]
        assert score["below_zero"] == 0
        assert score["rmse"] < 0.2 * score["baseline_rmse"]
        shares += shares_of(found)
    check_coverage("death rates", shares)


def assay(folder: Path) -> None:
    """Compare the noise with the scatter of replicates, which the fit has never been told."""
    file, model = str(folder / "assay.csv"), str(folder / "assay.model")
    shares = []
    for seed in range(3):  # 36 rows are too few to judge the ranges by
        found = fit(
            file,
            *("--target", "density", "--categorical", "Run"),
            *("--out", model, "--seed", str(seed)),
        )
        shares += shares_of(found)
    check_coverage("assay", shares)
    # Two measurements of one concentration in one run differ by √2 noise stds.
    rows = read_table(file, ["Run"])
    pairs = rows.groupby(["Run", "conc"])["density"]
    scatter = np.sqrt(np.mean(pairs.var()))
    noise = TableModel.load(model).predict(rows).prediction.aleatoric_variance
    ratio = np.sqrt(noise.mean()) / scatter
    print(f"noise std over the scatter of replicates: {ratio:.2f}")
    assert 0.5 < ratio < 2
    # Which of these concentrations should be measured next in run 1?
    candidates = pandas.DataFrame({"Run": "1", "conc": np.geomspace(0.05, 50, 30)})
    candidates.to_csv(folder / "candidates.csv", index=False)
    chosen = folder / "next.csv"
    vebnn("suggest", model, str(folder / "candidates.csv"), "--n", "3", "--out", str(chosen))
    assert len(pandas.read_csv(chosen)) == 3


JOURNEY = {"mortality": mortality, "assay": assay}

if __name__ == "__main__":
    place, *names = sys.argv[1:]
    for name in names or JOURNEY:
        public_tables.write(Path(place), [name])
        JOURNEY[name](Path(place))
