"""``vebnn bench images`` at a size that takes seconds."""

import io
import json
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console
from typer.testing import CliRunner

from tests.datasets.images.test_raw_sources import write_appa_real
from tests.support.small_images import TINY
from vebnn.bench.experiments import images, images_settings
from vebnn.bench.experiments.images_settings import ImageSizes
from vebnn.cli.main import commands
from vebnn.datasets import uci
from vebnn.datasets.images import ImageDataset, Images


@pytest.fixture(autouse=True)
def tiny(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(images_settings, "SMALL", TINY)
    monkeypatch.setattr(uci, "cache_folder", lambda: tmp_path / "cache")
    monkeypatch.delenv("VEBNN_DATA", raising=False)


def run(datasets: list[str], methods: list[str], path: Path, **settings: object) -> list[dict]:
    console = Console(file=io.StringIO(), width=200)
    return images.bench_images(datasets, methods, 1, path, console, jobs=1, **settings)


def test_images_are_averaged_over_squares() -> None:
    x = np.arange(32, dtype=np.uint8).reshape(2, 4, 4, 1)
    small = images.shrink(x, 2)
    assert small.dtype == np.uint8
    assert small.shape == (2, 2, 2, 1)
    # (0 + 1 + 4 + 5) / 4 = 2.5 is rounded to even.
    assert small[0, :, :, 0].tolist() == [[2, 4], [10, 12]]
    assert images.shrink(x, 4) is x
    assert images.shrink(x[:, :3], 3).shape == (2, 1, 2, 1)


def test_a_choice_of_images_keeps_rows_together() -> None:
    y = np.arange(10.0)
    x = np.zeros((10, 2, 2, 1), np.uint8) + y.astype(np.uint8)[:, None, None, None]
    part = Images(x, y, mean=y, noise_std=y + 1, shifted=y > 5)
    chosen = images.choose_images(
        ImageDataset("mine", part, part, part), ImageSizes(4, None, 6, side=1), seed=0
    )
    assert [len(one.y) for one in (chosen.train, chosen.validation, chosen.test)] == [4, 10, 6]
    test = chosen.test
    assert test.x.shape == (6, 1, 1, 1)
    assert test.x[:, 0, 0, 0].tolist() == test.y.tolist() == np.asarray(test.mean).tolist()
    assert (test.shifted == (test.y > 5)).all()
    again = images.choose_images(ImageDataset("mine", part, part, part), ImageSizes(4), seed=1)
    assert again.train.y.tolist() != chosen.train.y.tolist()


def test_the_command_generates_cells_fits_resumes_and_writes_its_page(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    methods = ["--methods", "MVE (NLL),Evidential", "--datasets", "cells-gap,skin"]
    command = ["bench", "images", *methods, "--jobs", "1", "--out", str(path)]
    ran = CliRunner().invoke(commands, command)
    assert ran.exit_code == 0, ran.output
    assert "skin is skipped" in ran.output
    assert "TLL (↑)" in ran.output
    assert (tmp_path / "images" / "cells.npz").is_file()
    rows = {
        (row["dataset"], row["method"]): row for row in map(json.loads, path.read_text().splitlines())
    }
    assert len(rows) == 4
    assert "skin images were not found" in rows["skin", "Evidential"]["skipped"]
    row = rows["cells-gap", "MVE (NLL)"]
    assert row["num_train"] <= 32
    assert row["settings"]["preset"] == "small"
    assert "num_epochs=1" in row["settings"]["training"]
    assert sum(row["curve"]["num_images"]) == 24
    assert row["aleatoric_ratio"] > 0
    assert row["epistemic_ratio"] is None
    assert rows["cells-gap", "Evidential"]["epistemic_ratio"] > 0
    assert row["seconds"] >= row["fit_seconds"] > 0
    # Nothing is left to do.
    assert CliRunner().invoke(commands, command).exit_code == 0
    assert len(path.read_text().splitlines()) == 4
    table = CliRunner().invoke(commands, ["bench", "table", str(path), "--metric", "raw_tll"])
    assert "raw TLL (↑)" in table.output
    page = tmp_path / "images.md"
    written = CliRunner().invoke(commands, ["bench", "page", str(path), "--out", str(page)])
    assert written.exit_code == 0, written.output
    assert "paper -5.73" in page.read_text()


def test_appa_real_from_its_files_to_the_papers_numbers(tmp_path: Path) -> None:
    (tmp_path / "images").mkdir()
    write_appa_real(tmp_path / "images")
    path, folder = tmp_path / "rows.jsonl", tmp_path / "images"
    (row,) = run(["appa-real"], ["VeBNN (pSGLD)"], path, folder=folder)
    for field in ("rmse", "wasserstein", "epistemic_coverage", "epistemic_interval_length"):
        assert np.isfinite(row[field])
    assert row["epistemic_log_likelihood"] < 0
    assert len(row["noise_levels"]["truth"]) == 5
    assert row["num_train"] == 30


@pytest.mark.parametrize(
    ("changes", "error", "sentence"),
    [
        ({"datasets": ["mnist"]}, ValueError, "The `dataset` must be one of 'cells', .*Got 'mnist'"),
        ({"methods": ["NGBoost"]}, ValueError, "no method 'NGBoost'"),
        ({"preset": "standard"}, ValueError, "The `preset` must be one of 'small', 'paper'. Got 'stan"),
        ({"num_seeds": 0}, ValueError, "The `seeds` must be a whole number of at least 1. Got 0."),
        ({"datasets": ["aerial"]}, FileNotFoundError, "The aerial images were not found"),
        ({"preset": "paper"}, FileNotFoundError, "The cells images were not found"),
    ],
)
def test_wrong_arguments_get_a_sentence(
    changes: dict, error: type, sentence: str, tmp_path: Path
) -> None:
    usual = {"datasets": ["cells"], "methods": ["MVE (NLL)"], "num_seeds": 1}
    console = Console(file=io.StringIO())
    with pytest.raises(error, match=sentence):
        images.bench_images(path=tmp_path / "rows", console=console, **(usual | changes))
