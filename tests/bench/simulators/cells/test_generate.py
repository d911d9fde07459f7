import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from vebnn.bench.simulators.cells import draw_image
from vebnn.bench.simulators.cells import generate as module
from vebnn.bench.simulators.cells.generate import generate, mean_intensity
from vebnn.bench.simulators.cells.plan import Plan, draw_counts, list_requests

SMALL = Plan(train=5, validation=2, test=4, size=16, seed=3)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A set of images made in one go, by this process."""
    return generate(SMALL, tmp_path_factory.mktemp("whole"), num_workers=1)


def contents(path: Path) -> tuple[bytes, bytes]:
    return path.read_bytes(), path.with_suffix(".json").read_bytes()


def test_file_has_the_documented_arrays(whole: Path) -> None:
    with np.load(whole) as file:
        arrays = dict(file)
    assert {name: (array.shape, array.dtype) for name, array in arrays.items()} == {
        "train_images": ((5, 16, 16, 1), np.uint8),
        "train_counts": ((5,), np.int64),
        "validation_images": ((2, 16, 16, 1), np.uint8),
        "validation_counts": ((2,), np.int64),
        "test_images": ((4, 16, 16, 1), np.uint8),
        "test_counts": ((4,), np.int64),
    }
    assert sorted(path.name for path in whole.parent.iterdir()) == ["cells.json", "cells.npz"]
    stream, nuclei, size = list_requests(SMALL)[5 + 2 + 3]
    assert nuclei == arrays["test_counts"][3]
    again = draw_image(np.random.default_rng(stream), nuclei, size)
    np.testing.assert_array_equal(arrays["test_images"][3], again)


def test_description(whole: Path) -> None:
    document = json.loads(whole.with_suffix(".json").read_bytes())
    assert document["plan"]["sizes"] == {"train": 5, "validation": 2, "test": 4, "size": 16}
    assert document["plan"]["counts"] == {"distribution": "uniform", "fewest": 1, "most": 200}
    assert document["plan"]["seed"] == 3
    assert set(document["versions"]) == {"vebnn", "numpy", "scipy"}
    assert document["found"]["mean_intensity"]


def test_mean_intensity_of_groups() -> None:
    images = np.array([10, 20, 30, 40], np.uint8).reshape(4, 1, 1, 1) * np.ones((1, 2, 2, 1), np.uint8)
    found = mean_intensity(images, np.array([1, 50, 51, 200]))
    assert found == {"1-50": 15.0, "51-100": 30.0, "151-200": 40.0}


def test_files_do_not_depend_on_parts_interruptions_and_workers(
    whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_IMAGES_PER_PART", 2)
    reports: list[tuple[int, int]] = []

    def stop(done: int, total: int) -> None:
        reports.append((done, total))
        if done == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        generate(SMALL, tmp_path, num_workers=1, report=stop)
    assert reports == [(0, 11), (2, 11), (4, 11)]
    assert len(list((tmp_path / "cells.parts").iterdir())) == 2
    assert not (tmp_path / "cells.npz").exists()
    reports.clear()
    resumed = generate(SMALL, tmp_path, num_workers=2, report=lambda *some: reports.append(some))
    assert reports[0] == (4, 11)
    assert reports[-1] == (11, 11)
    assert contents(resumed) == contents(whole)
    assert not (tmp_path / "cells.parts").exists()


def test_finished_images_are_left_alone(whole: Path) -> None:
    before = whole.stat().st_mtime_ns
    generate(SMALL, whole.parent)
    assert whole.stat().st_mtime_ns == before
    with pytest.raises(ValueError, match=r"cells.json describes .* other settings"):
        generate(replace(SMALL, seed=4), whole.parent)


def test_arrays_can_be_mapped_into_memory(whole: Path) -> None:
    content = whole.read_bytes()
    with np.load(whole) as file:
        assert file["train_images"].tobytes() in content  # not compressed


def test_counts_are_uniform_from_1_to_200() -> None:
    counts = draw_counts(Plan(train=20_000, validation=1, test=1))["train"]
    assert (counts.min(), counts.max()) == (1, 200)
    assert len(np.unique(counts)) == 200
    assert counts.mean() == pytest.approx(100.5, abs=4 * np.sqrt((200**2 - 1) / 12 / 20_000))


def test_larger_plans_begin_with_smaller_ones() -> None:
    small, large = list_requests(SMALL), list_requests(replace(SMALL, train=9, test=6))
    assert small[:5] == large[:5]
    assert small[5:7] == large[9:11]
    assert small[7:] == large[11:15]
    assert len({request.stream for request in large}) == len(large)


def test_seeds_and_splits_have_random_numbers_of_their_own() -> None:
    counts = draw_counts(Plan(train=50, validation=50, test=50))
    other = draw_counts(Plan(train=50, validation=50, test=50, seed=1))
    drawn = [tuple(some) for some in (*counts.values(), *other.values())]
    assert len(set(drawn)) == 6


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"train": 0}, "`train` must be a whole number of at least 1"),
        ({"validation": 0}, "`validation`"),
        ({"test": -1}, "`test`"),
        ({"size": 0}, "`size`"),
        ({"size": 257}, "`size` must be at most 256 pixels. Got 257"),
        ({"seed": -1}, "`seed`"),
    ],
)
def test_wrong_plans(changes: dict[str, int], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        Plan(**changes)
