"""The file of ``vebnn suggest --space``, filled in, has all columns that ``vebnn add`` asks for."""

import shlex
from pathlib import Path

import numpy as np
import pandas

from vebnn import Ensemble, Training, VeBNNRegressor
from vebnn.tabular.additions.adding import find_new_rows
from vebnn.tabular.model import TableModel
from vebnn.tabular.plan import plan_table


def test_facts_of_measurements_are_columns_to_fill_in(call, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    rows = pandas.DataFrame(
        {
            "load": rng.uniform(0, 4, 60),
            "force": rng.normal(size=60),
            "error": 0.1,
            "repeats": 2,
            "specimen": np.repeat(np.arange(20), 3),
        }
    )
    facts = {"y_std": ["error"], "weight": "repeats", "group": "specimen"}
    short = Training(num_epochs=5)
    estimator = VeBNNRegressor(
        inference=Ensemble(2, short), mean_training=short, variance_training=short, random_state=0
    )
    model, space, out = (str(tmp_path / name) for name in ("m", "space.toml", "next.csv"))
    TableModel.fit(estimator, plan_table(rows, ["force"], **facts)).save(model)

    assert call("suggest", model, "--write-space", space).returncode == 0
    finished = call("suggest", model, "--space", space, "-n", "2", "--out", out, COLUMNS="160")
    assert finished.returncode == 0, finished.stderr
    wanted = "Fill in 'force', 'error', 'repeats', 'specimen' there, then:  "
    (line,) = (line for line in finished.stdout.splitlines() if line.startswith(wanted))
    assert shlex.split(line.removeprefix(wanted)) == ["vebnn", "add", model, out]

    table = pandas.read_csv(out)
    names = ["force", "error", "repeats", "specimen"]
    assert list(table.columns[:6]) == ["row", "load", *names]
    assert table[names].isna().all(axis=None)
    filled = table.assign(force=[0.5, 0.7], error=0.1, repeats=1, specimen=[20, 21])
    assert len(find_new_rows(TableModel.load(model), filled).rows) == 2
