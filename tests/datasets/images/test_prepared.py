"""The prepared pickles: read without executing anything, converted once, cut for gaps and tails."""

import os
import pickle
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from vebnn.datasets import uci
from vebnn.datasets.images import IMAGE_DATASETS, load_images
from vebnn.datasets.pickled_arrays import read_array


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(uci, "cache_folder", lambda: tmp_path / "cache")
    return tmp_path / "cache"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "images"


def write_pickles(folder: Path, y: np.ndarray, shape: tuple[int, ...] = (64, 64), protocol: int = 4):
    """Write the six files of a set; every split has the same targets and its own pictures."""
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(0)
    images = {}
    for split in ("train", "val", "test"):
        images[split] = rng.integers(0, 256, (len(y), *shape), dtype=np.uint8)
        pairs = {"images": images[split], "labels": y.astype(np.float32)}
        for kind, array in pairs.items():
            (folder / f"{kind}_{split}.pkl").write_bytes(pickle.dumps(array, protocol))
    return images


def test_the_names() -> None:
    names = "cells cells-gap cells-tail chair-angle chair-angle-gap chair-angle-tail skin aerial"
    assert [*names.split(), "appa-real", "rotated-digits"] == list(IMAGE_DATASETS)
    with pytest.raises(ValueError, match="The `name` must be one of 'cells', 'cells-gap'"):
        load_images("Cells")


@pytest.mark.parametrize("protocol", [3, 4, 5])
def test_arrays_come_back(protocol: int, folder: Path) -> None:
    images = write_pickles(folder / "Cells", np.arange(1.0, 201.0), protocol=protocol)
    data = load_images("cells", folder)
    assert data.name == "cells"
    for split, part in zip(("train", "val", "test"), data[1:], strict=True):
        assert isinstance(part.x, np.memmap)
        np.testing.assert_array_equal(part.x, images[split][..., None])
        np.testing.assert_array_equal(part.y, np.arange(1, 201))
        assert part.y.dtype == np.float64
        assert part.mean is part.noise_std is part.shifted is None


def test_channels_become_the_last_axis_and_red_the_first(folder: Path) -> None:
    first = write_pickles(folder / "ChairAngle", np.array([10.1, 20.3]), (3, 64, 64))
    chairs = load_images("chair-angle", folder)
    np.testing.assert_array_equal(chairs.train.x, first["train"].transpose(0, 2, 3, 1))
    np.testing.assert_allclose(chairs.train.y, [10.1, 20.3], rtol=1e-6)
    last = write_pickles(folder / "SkinLesionPixels", np.array([5.0, 6.0]), (64, 64, 3))
    skin = load_images("skin", folder)
    np.testing.assert_array_equal(skin.test.x, last["test"][..., [2, 1, 0]])
    np.testing.assert_array_equal(skin.test.shifted, [True, True])  # from another hospital
    assert skin.train.shifted is None


@pytest.mark.parametrize(
    ("name", "base", "targets", "trained"),
    [
        ("cells-gap", "Cells", [1, 49, 50, 100, 149, 150, 200], [1, 49, 150, 200]),
        ("cells-tail", "Cells", [1, 50, 51, 100, 150, 151, 200], [51, 100, 150]),
        ("chair-angle-gap", "ChairAngle", [0.1, 29.9, 30.1, 59.9, 60.1, 89.9], [0.1, 29.9, 60.1, 89.9]),
        ("chair-angle-tail", "ChairAngle", [0.1, 14.9, 15.1, 74.9, 75.1, 89.9], [15.1, 74.9]),
    ],
)
def test_gaps_and_tails_are_cut_out_of_the_base_set(
    name: str, base: str, targets: list[float], trained: list[float], folder: Path
) -> None:
    images = write_pickles(folder / base, np.array(targets))
    data = load_images(name, folder)
    kept = np.isin(targets, trained)
    for split, part in (("train", data.train), ("val", data.validation)):
        np.testing.assert_allclose(part.y, trained, rtol=1e-6)
        np.testing.assert_array_equal(part.x[..., 0], images[split][kept])
    np.testing.assert_allclose(data.test.y, targets, rtol=1e-6)
    np.testing.assert_array_equal(data.test.shifted, ~kept)


def test_a_prepared_gap_comes_before_the_base_set(folder: Path) -> None:
    write_pickles(folder / "Cells", np.array([1.0, 2.0]))
    write_pickles(folder / "Cells-Gap", np.array([10.0, 100.0, 190.0]))
    data = load_images("cells-gap", folder)
    assert len(data.train.y) == 3
    np.testing.assert_array_equal(data.test.shifted, [False, True, False])


def test_conversion_is_done_once_and_again_for_changed_files(
    folder: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_pickles(folder / "Cells", np.array([1.0, 2.0]))
    load_images("cells", folder)
    monkeypatch.setattr("vebnn.datasets.images.prepared.read_array", None)  # not read again
    assert len(load_images("cells", folder).train.y) == 2
    monkeypatch.undo()
    monkeypatch.setattr(uci, "cache_folder", lambda: cache)
    write_pickles(folder / "Cells", np.array([1.0, 2.0, 3.0]))
    assert len(load_images("cells", folder).train.y) == 3
    assert len(list((cache / "images").iterdir())) == 1


def test_nothing_is_left_of_a_conversion_that_fails(folder: Path, cache: Path) -> None:
    write_pickles(folder / "Cells", np.array([1.0, 2.0]))
    (folder / "Cells" / "labels_test.pkl").write_bytes(pickle.dumps(np.zeros(5, np.float32)))
    with pytest.raises(ValueError, match=r"images_test.pkl must hold .* targets of shape \(5,\)"):
        load_images("cells", folder)
    assert not list((cache / "images").iterdir())


def test_a_set_that_leaves_nothing_for_training(folder: Path) -> None:
    write_pickles(folder / "Cells", np.array([100.0, 120.0]))
    with pytest.raises(ValueError, match="too few images: none is left for train"):
        load_images("cells-gap", folder)


class Evil:
    """An object whose unpickling runs a command."""

    def __init__(self, function: Any, *arguments: Any) -> None:
        self.call = function, arguments

    def __reduce__(self) -> Any:
        return self.call


@pytest.mark.parametrize("protocol", [0, 2, 4, 5])
@pytest.mark.parametrize("function", [os.system, eval, np.load])
def test_commands_in_a_pickle_are_not_run(function: Any, protocol: int, folder: Path) -> None:
    write_pickles(folder / "Cells", np.array([1.0, 2.0]))
    trace = folder / "trace"
    command = f"touch {trace}" if function is os.system else f"open({str(trace)!r}, 'w')"
    evil = pickle.dumps(Evil(function, command), protocol)
    (folder / "Cells" / "images_train.pkl").write_bytes(evil)
    with pytest.raises(ValueError, match=r"images_train.pkl (asks for|is damaged)"):
        load_images("cells", folder)
    assert not trace.exists()


def test_only_arrays_of_numbers_are_read(tmp_path: Path) -> None:
    path = tmp_path / "a.pkl"
    for wrong in ([1, 2], None, {"a": 1}, np.array([1, "a", None], object), np.array(["a"])):
        path.write_bytes(pickle.dumps(wrong, 4))
        with pytest.raises(ValueError, match="is damaged or not an array of numbers"):
            read_array(path)
    path.write_bytes(pickle.dumps(Evil(os.system, "true"), 4))
    with pytest.raises(ValueError, match="which an array of numbers does not need: it was not read"):
        read_array(path)


def test_simulated_cells(folder: Path) -> None:
    folder.mkdir()
    rng = np.random.default_rng(0)
    arrays = {}
    for split, shape in (("train", (64, 64)), ("validation", (64, 64)), ("test", (64, 64, 1))):
        arrays[f"{split}_images"] = rng.integers(0, 256, (8, *shape), dtype=np.uint8)
        arrays[f"{split}_counts"] = np.array([10, 50, 51, 100, 149, 150, 151, 200])
    np.savez(folder / "cells.npz", **arrays)
    data = load_images("cells", folder)
    np.testing.assert_array_equal(data.train.x[..., 0], arrays["train_images"])
    np.testing.assert_array_equal(data.test.x, arrays["test_images"])
    np.testing.assert_array_equal(load_images("cells-gap", folder).train.y, [10, 150, 151, 200])
    tail = load_images("cells-tail", folder)
    np.testing.assert_array_equal(tail.validation.y, [51, 100, 149, 150])
    np.testing.assert_array_equal(tail.test.y[tail.test.shifted], [10, 50, 151, 200])
    del arrays["test_counts"]
    np.savez(folder / "cells.npz", **arrays)
    with pytest.raises(ValueError, match=r"test_counts: make it again with `vebnn simulate cells"):
        load_images("cells", folder)


@pytest.mark.parametrize("name", IMAGE_DATASETS)
def test_missing_files_are_said_in_one_sentence(
    name: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(
        FileNotFoundError, match=rf"The {name} images were not found, because {folder} does not hold"
    ) as caught:
        load_images(name, folder)
    sentence = str(caught.value)
    assert re.search(r"https://|mnist-digits", sentence)
    assert "FOLDER" not in sentence
    if name.startswith("cells"):
        assert f"made by `vebnn simulate cells --out {folder}`" in sentence
        assert "Cell200_64x64.h5" in sentence
    monkeypatch.setenv("VEBNN_DATA", str(folder.parent))
    with pytest.raises(FileNotFoundError, match=f"because {folder} does not hold"):
        load_images(name)
    monkeypatch.delenv("VEBNN_DATA")
    with pytest.raises(FileNotFoundError, match="VEBNN_DATA is not set: in its folder images, save"):
        load_images(name)
