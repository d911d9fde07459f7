"""Measured data with repeats."""

import os
from pathlib import Path

import numpy as np
import pytest

from vebnn.datasets.replicates import SOURCES, load_replicates


@pytest.mark.parametrize(
    ("name", "rows", "inputs", "conditions"),
    [("crossed-barrel", 1_800, 4, 600), ("p3ht", 233, 5, 178), ("perovskite", 139, 3, 94)],
)
def test_files_are_read_and_repeats_are_found(
    name: str, rows: int, inputs: int, conditions: int
) -> None:
    if not Path(os.environ.get("VEBNN_DATA", ""), "replicates").is_dir():
        pytest.skip("VEBNN_DATA has no replicates")
    data = load_replicates(name)
    assert data.X.shape == (rows, inputs)
    assert data.y.shape == data.condition.shape == (rows,)
    assert len(data.feature_names) == inputs
    assert not data.feature_names[0].startswith("\ufeff")
    assert data.condition.max() + 1 == conditions
    for one in range(0, conditions, 7):
        inside = data.X[data.condition == one]
        assert (inside == inside[0]).all()
        assert (inside[0] == data.X).all(axis=1).sum() == len(inside)
    assert np.isfinite(data.X).all()


def test_a_missing_file_is_said_in_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VEBNN_DATA", str(tmp_path))
    with pytest.raises(FileNotFoundError, match=r"p3ht.csv does not exist: save .*P3HT_dataset.csv"):
        load_replicates("p3ht")
    monkeypatch.delenv("VEBNN_DATA")
    with pytest.raises(FileNotFoundError, match="because VEBNN_DATA is not set"):
        load_replicates("p3ht")


def test_another_file_and_an_unknown_name_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VEBNN_DATA", str(tmp_path))
    (tmp_path / "replicates").mkdir()
    (tmp_path / "replicates" / "p3ht.csv").write_text("a,b\n1,2\n")
    with pytest.raises(
        ValueError, match=f"has been changed: its SHA-256 must be {SOURCES['p3ht'].sha256}"
    ):
        load_replicates("p3ht")
    with pytest.raises(ValueError, match="The `name` must be one of 'crossed-barrel'"):
        load_replicates("barrel")
