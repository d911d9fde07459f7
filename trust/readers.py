"""Whole files of every kind, how to change them, and how to read them."""

import json
import pickle
import random
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from trust.damage import arm_pickle, damage_one, reseal, spoil_table, swap


class Kind(NamedTuple):
    """Files of one kind."""

    name: str  # that of their folder, too
    share: float  # of the count
    change: Callable[[random.Random, Path], None]  # changes a fresh copy
    read: Callable[[Path], Any]  # what the reader gives, comparable
    raw: bool  # whether a change must never give another result


def prepare(folder: Path) -> list[Kind]:
    """Make whole files of every kind in folders of their names."""
    rows = folder / "rows.csv"
    model = partial(read_model, rows)
    kinds = [
        Kind("raw model", 0.6, damage_one, model, raw=True),
        Kind("swapped model", 0.1, partial(swap, folder / "other"), model, raw=True),
        Kind("re-sealed model", 0.1, reseal, model, raw=False),
        Kind("checkpoint", 0.1, damage_one, read_checkpoint, raw=True),
        Kind("results", 0.1, damage_one, read_results, raw=False),
        Kind("pickle", 1.0, arm_pickle, read_pickle, raw=False),
        Kind("table to predict", 0.06, spoil_table, partial(encode, folder / "raw model"), raw=False),
        Kind("table to fit", 0.06, spoil_table, plan, raw=False),
    ]
    for name in (*(kind.name for kind in kinds), "other"):
        (folder / name).mkdir()
    _make_models(folder, rows)
    _make_arrays(folder)
    return kinds


def _make_models(folder: Path, rows: Path) -> None:
    from examples.alloys import TARGETS, alloys
    from vebnn import Ensemble, JointRegressor, Training
    from vebnn.tabular.files import write_table
    from vebnn.tabular.model import TableModel
    from vebnn.tabular.plan import plan_table

    for seed, name in enumerate(("raw model", "other")):
        engine = Ensemble(num_members=2, training=Training(num_epochs=20))
        estimator = JointRegressor(inference=engine, random_state=seed)
        TableModel.fit(estimator, plan_table(alloys(), TARGETS, seed=seed)).save(folder / name)
    for name in ("swapped model", "re-sealed model"):
        shutil.copytree(folder / "raw model", folder / name, dirs_exist_ok=True)
    new = alloys(20, seed=1).drop(columns=list(TARGETS))
    write_table(new, rows)
    for suffix in ("csv", "parquet", "feather"):
        write_table(new, folder / "table to predict" / f"t.{suffix}")
        write_table(alloys(), folder / "table to fit" / f"t.{suffix}")


def _make_arrays(folder: Path) -> None:
    import numpy as np
    import pandas

    from vebnn.serialization.arrays import write_part

    rng = np.random.default_rng(0)
    write_part(folder / "checkpoint" / "part", {"a": rng.normal(size=300), "b": np.arange(7)}, "mine")
    rows = [{"results_version": 1, "seed": seed, "rmse": rng.random()} for seed in range(9)]
    (folder / "results" / "rows.jsonl").write_text("\n".join(map(json.dumps, rows)) + "\n")
    cells = pandas.Series([rng.normal(size=(3, 2)) for _ in range(3)], dtype=object)
    frame = pandas.DataFrame({"strain": cells, "seed": [1, 2, 3]})
    frame = frame.set_axis(frame.columns.astype(object), axis=1).set_axis(pandas.Index([0, 2, 4]))
    (folder / "pickle" / "f").write_bytes(pickle.dumps(frame))


def read_model(rows: Path, folder: Path) -> bytes:
    """Return the predictions of a model."""
    from vebnn.tabular.files import read_table
    from vebnn.tabular.model import TableModel

    model = TableModel.load(folder)
    return model.predict(read_table(rows)).prediction.to_frame().to_numpy().tobytes()


def read_checkpoint(folder: Path) -> dict[str, bytes]:
    """Return the arrays of a checkpoint."""
    from vebnn.serialization.arrays import read_part

    return {name: one.tobytes() for name, one in read_part(folder / "part", "mine", "part").items()}


def read_results(folder: Path) -> list[str]:
    """Return rows of results. They have no checksum: a changed digit is another number."""
    from vebnn.bench.results import read_rows

    return [json.dumps(row, sort_keys=True) for row in read_rows(folder / "rows.jsonl")]


def read_pickle(folder: Path) -> str:
    """Return the columns of a pickled table."""
    from vebnn.datasets.pickled_frames import read_frame

    columns = read_frame(folder / "f")
    return repr({name: [repr(cell) for cell in columns[name]] for name in columns})


def encode(model: Path, folder: Path) -> list[bytes]:
    """Return tables as a model would predict them."""
    from vebnn.tabular.files import read_table
    from vebnn.tabular.saving import SavedTableModel

    encoder = SavedTableModel.open(model).encoder
    tables = [read_table(path, encoder.label_names) for path in sorted(folder.iterdir())]
    return [encoder.encode(table).matrix.to_numpy().tobytes() for table in tables]


def plan(folder: Path) -> list[bytes]:
    """Return tables as a model would be fitted to them."""
    from examples.alloys import TARGETS
    from vebnn.tabular.files import read_table
    from vebnn.tabular.plan import plan_table

    plans = [plan_table(read_table(path), TARGETS) for path in sorted(folder.iterdir())]
    return [one.table.matrix.to_numpy().tobytes() for one in plans]
