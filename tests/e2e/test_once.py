"""Commands read, encode and predict each row of a table once."""

from collections import Counter
from pathlib import Path

import numpy as np
import pandas
import pytest

from alloys import TARGETS, alloys
from vebnn import VeBNNRegressor
from vebnn.tabular.encoder import TableEncoder
from vebnn.tabular.plan import plan_table

HELD_OUT = alloys().iloc[plan_table(alloys(), TARGETS).held_out[0]]


@pytest.fixture
def times(monkeypatch: pytest.MonkeyPatch) -> Counter:
    """Count how often a held-out row, known by its temperature, passes through each function."""
    counts: Counter = Counter()
    for owner, name in (
        (TableEncoder, "encode"),
        (TableEncoder, "target_values"),
        (VeBNNRegressor, "predict_distribution"),
    ):
        original = getattr(owner, name)

        def counting(self, rows: pandas.DataFrame, *, _name=name, _original=original, **more):
            counts[_name] += np.any(rows["temperature"] == HELD_OUT["temperature"])
            return _original(self, rows, **more)

        monkeypatch.setattr(owner, name, counting)
    return counts


@pytest.mark.parametrize("command", ["report", "evaluate"])
def test_scored_rows_are_encoded_predicted_and_read_once(
    call, times: Counter, command: str, alloys_model: Path, alloys_csv: Path, tmp_path: Path
) -> None:
    out = ["--out", str(tmp_path / "report.html")] if command == "report" else []
    finished = call(command, str(alloys_model), str(alloys_csv), *out)
    assert finished.returncode == 0, finished.stderr
    assert times == {"encode": 1, "target_values": 1, "predict_distribution": 1}


@pytest.mark.parametrize("command", ["predict", "suggest"])
def test_rows_to_predict_are_encoded_once_and_need_no_targets(
    call, times: Counter, command: str, alloys_model: Path, alloys_csv: Path
) -> None:
    finished = call(command, str(alloys_model), str(alloys_csv))
    assert finished.returncode == 0, finished.stderr
    assert (times["encode"], times["target_values"]) == (1, 0)
