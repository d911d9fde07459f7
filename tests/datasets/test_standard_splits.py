"""The splits that the literature shares."""

import os
from pathlib import Path

import numpy as np
import pytest

from vebnn.datasets.standard_splits import NUM_SPLITS, SHA256, load_standard


@pytest.mark.parametrize("name", SHA256)
def test_a_tenth_of_the_rows_is_tested_in_each_of_twenty_splits(name: str) -> None:
    if not Path(os.environ.get("VEBNN_DATA", ""), "standard-splits").is_dir():
        pytest.skip("VEBNN_DATA has no standard splits")
    data, splits = load_standard(name)
    assert data.y.shape == (len(data.X),)
    assert len(data.target_names) == 1
    assert len(splits) == NUM_SPLITS
    for tested in splits:
        assert len(set(tested)) == len(tested) == len(data.X) - round(0.9 * len(data.X))
        assert tested.min() >= 0
        assert tested.max() < len(data.X)
    assert not np.array_equal(splits[0], splits[1])


def test_missing_files_and_unknown_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VEBNN_DATA", str(tmp_path))
    sentence = (
        r"splits of yacht were not found, because .*yacht.txt does not exist: save .*index_test_0"
    )
    with pytest.raises(FileNotFoundError, match=sentence):
        load_standard("yacht")
    with pytest.raises(ValueError, match=r"The `name` must be one of 'boston'.*Got 'carbon'"):
        load_standard("carbon")
