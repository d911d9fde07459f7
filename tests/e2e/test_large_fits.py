"""``vebnn fit`` of a table that stays in a file."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas
import pytest

from tests.support.commands import Finished, one_sentence
from vebnn.cli import fit_large
from vebnn.tabular.model import TableModel

Call = Callable[..., Finished]
ROWS = 6_000


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("large") / "rows.csv"
    rng = np.random.default_rng(0)
    x = rng.uniform(size=(ROWS, 3))
    noise = (0.1 + 0.2 * x[:, 0]) * rng.normal(size=ROWS)
    frame = pandas.DataFrame(x.round(5), columns=["a", "b", "c"])
    frame.assign(kind=rng.choice(["u", "v"], ROWS), y=np.sin(3 * x[:, 0]) + x[:, 1] + noise).to_csv(
        path, index=False
    )
    return path


def test_a_fit_from_a_file_learns_mean_and_noise(call: Call, rows: Path, tmp_path: Path) -> None:
    words = ["fit", str(rows), "--target", "y", "--effort", "quick", "--out", str(tmp_path / "m.model")]
    finished = call(*words, "--work-folder", str(tmp_path / "work"), "--calibrate", "common")
    assert finished.returncode == 0, finished.stderr
    assert f"Rows are encoded into {tmp_path / 'work'}." in finished.stdout
    assert not (tmp_path / "work").exists()
    assert not (tmp_path / "m.model.checkpoint").exists()
    model = TableModel.load(tmp_path / "m.model")
    (score,) = model.facts.scores
    assert score.rmse < 1.15 * np.sqrt(np.mean((0.1 + 0.2 * np.linspace(0, 1, 100)) ** 2))
    assert 0.92 < score.coverage < 0.98
    low, high = (pandas.DataFrame({"a": [a], "b": 0.5, "c": 0.5, "kind": "u"}) for a in (0.05, 0.95))
    ratio = model.predict(high).prediction.aleatoric_std / model.predict(low).prediction.aleatoric_std
    assert 1.6 < ratio[0] < 4  # the truth is 2.6


def test_options_that_need_memory_are_refused(call: Call, rows: Path, tmp_path: Path) -> None:
    words = ["fit", str(rows), "--target", "y", "--work-folder", str(tmp_path / "work")]
    assert "--group need" in one_sentence(call(*words, "--group", "kind"))
    assert "--inference need" in one_sentence(call(*words, "--inference", "map"))
    assert "no column 'z'" in one_sentence(call(*words[:2], "--target", "z", *words[4:]))
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "mine.txt").touch()
    assert "holds other files" in one_sentence(call(*words))


def test_large_tables_stay_in_a_file_by_themselves(
    call: Call, rows: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fit_large, "LARGE", ROWS - 1)
    words = ["fit", str(rows), "--target", "y", "--dry-run", "--out", str(tmp_path / "m.model")]
    assert "Kinds of columns are those of a sample" in call(*words).stdout
    # What needs all rows in memory is fitted there, as before.
    assert "What would be trained" in call(*words, "--inference", "map").stdout
    monkeypatch.setattr(fit_large, "LARGE", ROWS)
    assert "What would be trained" in call(*words).stdout
