"""Raw sources, as tiny files of the same formats."""

import sys
from pathlib import Path

import numpy as np
import pandas
import pytest
from PIL import Image

from vebnn.datasets import uci
from vebnn.datasets.images import Images, cells, load_images
from vebnn.datasets.images.masks import read_mask


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(uci, "cache_folder", lambda: tmp_path / "cache")
    return tmp_path / "cache"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "images").mkdir()
    return tmp_path / "images"


def level(y: np.ndarray) -> np.ndarray:
    """The grey level of the picture of a target, in tests where every picture is uniform."""
    return np.asarray(y).astype(np.uint8)


def check_pictures(part: Images, channels: int = 1) -> None:
    assert part.x.shape[1:] == (64, 64, channels)
    np.testing.assert_array_equal(part.x[:, 5, 7, 0], level(part.y))


def write_cell_files(folder: Path, counts: np.ndarray) -> None:
    (folder / "Cell200").mkdir()
    for number, count in enumerate(counts):
        picture = Image.fromarray(np.full((64, 64), level(count)))
        picture.save(folder / "Cell200" / f"{number}_{count}.0.png")
    (folder / "Cell200" / "Thumbs.db").write_bytes(b"")


def write_cell_hdf5(folder: Path, counts: np.ndarray) -> None:
    h5py = pytest.importorskip("h5py")
    with h5py.File(folder / "Cell200_64x64.h5", "w") as file:
        file["IMGs_grey"] = np.broadcast_to(
            level(counts)[:, None, None, None], (len(counts), 1, 64, 64)
        )
        file["CellCounts"] = counts.astype(float)


@pytest.mark.parametrize("write", [write_cell_files, write_cell_hdf5])
def test_cells(write, folder: Path) -> None:
    write(folder, np.arange(1, 201))
    data = load_images("cells", folder)
    # 200 pictures are divided as 10,000, 2,000 and 10,000.
    assert [len(part.y) for part in data[1:]] == [90, 18, 90]
    for part in data[1:]:
        check_pictures(part)
        assert part.shifted is None
    everything = np.concatenate([part.y for part in data[1:]])
    assert len(set(everything)) == 198  # no picture is in two splits


@pytest.mark.parametrize("write", [write_cell_files, write_cell_hdf5])
def test_gap_and_tail_of_raw_cells(write, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, size in (("NUM_TRAIN", 40), ("NUM_VALIDATION", 10), ("NUM_TEST", 60)):
        monkeypatch.setattr(cells, name, size)
    write(folder, np.arange(1, 201))
    for name, outside in (
        ("cells-gap", lambda y: (y >= 50) & (y < 150)),
        ("cells-tail", lambda y: (y <= 50) | (y > 150)),
    ):
        data = load_images(name, folder)
        assert [len(part.y) for part in data[1:]] == [40, 10, 60]
        for part in data[1:]:
            check_pictures(part)
        assert not outside(data.train.y).any()
        assert not outside(data.validation.y).any()
        np.testing.assert_array_equal(data.test.shifted, outside(data.test.y))
        assert data.test.shifted.sum() == 30
        assert len({*data.train.y, *data.validation.y, *data.test.y}) == 110


def test_chair_angles(folder: Path) -> None:
    h5py = pytest.importorskip("h5py")
    angles = np.repeat(np.round(np.arange(0, 900) / 10, 1), 2)
    angles = np.concatenate([angles, np.full(40, 10.2), [90.0, 120.0]])
    images = np.zeros((len(angles), 3, 64, 64), np.uint8)
    images[:, 0] = level(angles)[:, None, None]
    images[:, 2] = 7
    odd = np.rint(angles * 10) % 2 == 1
    rng = np.random.default_rng(0)
    with h5py.File(folder / "RC-49_64x64.h5", "w") as file:
        file["images"], file["labels"] = images, angles
        file["indx_train"] = rng.permutation(np.flatnonzero(odd))
    data = load_images("chair-angle", folder)
    for part in data[1:]:
        check_pictures(part, 3)
        assert (part.x[..., 2] == 7).all()
        assert 0 < part.y.min() < part.y.max() < 90
    assert [len(part.y) for part in data[1:3]] == [720, 180]
    assert (np.rint(data.train.y * 10) % 2 == 1).all()
    assert (np.rint(data.test.y * 10) % 2 == 0).all()
    assert (np.unique(data.test.y, return_counts=True)[1] <= 25).all()
    assert (data.test.y == 10.2).sum() == 25
    for name, inside in (
        ("chair-angle-gap", lambda y: (y < 30) | (y > 60)),
        ("chair-angle-tail", lambda y: (y > 15) & (y < 75)),
    ):
        shifted = load_images(name, folder)
        assert inside(shifted.train.y).all()
        assert inside(shifted.validation.y).all()
        np.testing.assert_array_equal(np.sort(shifted.test.y), np.sort(data.test.y))
        np.testing.assert_array_equal(shifted.test.shifted, ~inside(shifted.test.y))


def test_hdf5_that_cannot_be_read(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    h5py = pytest.importorskip("h5py")
    path = folder / "RC-49_64x64.h5"
    path.write_bytes(b"nothing")
    with pytest.raises(ValueError, match=r"RC-49_64x64.h5 is damaged or not an HDF5 file"):
        load_images("chair-angle", folder)
    with h5py.File(path, "w") as file:
        file["labels"] = np.zeros(3)
    with pytest.raises(ValueError, match=r"must hold images, labels.* It lacks images"):
        load_images("chair-angle", folder)
    with h5py.File(path, "w") as file:
        file["labels"], file["indx_train"] = np.linspace(1, 80, 40), np.arange(20)
        file["images"] = np.zeros((40, 3, 64, 64), np.float32)
    with pytest.raises(ValueError, match=r"Images must be bytes .* Got float32"):
        load_images("chair-angle", folder)
    monkeypatch.setitem(sys.modules, "h5py", None)
    with pytest.raises(ImportError, match=r"HDF5 files need h5py: pip install 'vebnn\[images\]'"):
        load_images("chair-angle", folder)


def write_skin(folder: Path, num: int) -> pandas.DataFrame:
    """Lesions of known size: the mask of picture i marks i + 1 columns of 128."""
    ham = folder / "ham10000"
    for inside in ("HAM10000_images_part_1", "HAM10000_segmentations_lesion_tschandl"):
        (ham / inside).mkdir(parents=True)
    names = [f"ISIC_{number:07d}" for number in range(num)]
    for number, name in enumerate(names):
        picture = np.zeros((96, 128, 3), np.uint8)
        picture[..., 0] = 5 * number
        place = ham if number % 2 else ham / "HAM10000_images_part_1"
        Image.fromarray(picture).save(place / f"{name}.jpg", quality=100, subsampling=0)
        mask = np.zeros((96, 128), np.uint8)
        mask[:, : 2 * number + 2] = 255
        masks = ham / "HAM10000_segmentations_lesion_tschandl"
        Image.fromarray(mask).save(masks / f"{name}_segmentation.png")
    table = pandas.DataFrame({"lesion_id": "HAM", "image_id": names, "dx": "nv", "sex": "male"})
    table["dataset"] = ["rosendahl" if number % 4 == 0 else "vidir_modern" for number in range(num)]
    table.to_csv(ham / "HAM10000_metadata", index=False)
    return table


def test_skin(folder: Path) -> None:
    write_skin(folder, 24)
    data = load_images("skin", folder)
    assert [len(part.y) for part in data[1:]] == [15, 3, 6]
    for part in data[1:]:
        number = part.y / 64 - 1  # as many columns of 64 pixels are marked
        np.testing.assert_allclose(part.x[:, 3, 3, 0], 5 * number, atol=3)
        assert part.x.shape[1:] == (64, 64, 3)
    np.testing.assert_array_equal(data.test.y, 64 * (1 + np.arange(0, 24, 4)))
    assert data.test.shifted is not None
    assert data.test.shifted.all()


def test_a_missing_mask_is_named(folder: Path, cache: Path) -> None:
    write_skin(folder, 8)
    masks = folder / "ham10000" / "HAM10000_segmentations_lesion_tschandl"
    (masks / "ISIC_0000003_segmentation.png").unlink()
    with pytest.raises(FileNotFoundError, match=r"ISIC_0000003_segmentation.png does not exist"):
        load_images("skin", folder)


def test_masks_take_the_nearest_pixel_without_averaging(tmp_path: Path) -> None:
    mask = np.zeros((6, 4), np.uint8)
    mask[2, 0] = mask[5, 3] = 255
    Image.fromarray(mask).save(tmp_path / "mask.png")
    np.testing.assert_array_equal(read_mask(tmp_path / "mask.png", 2), [[False, False], [False, False]])
    np.testing.assert_array_equal(read_mask(tmp_path / "mask.png", 3)[1], [True, False, False])


def test_aerial(folder: Path) -> None:
    train = folder / "AerialImageDataset" / "train"
    for inside in ("images", "gt"):
        (train / inside).mkdir(parents=True)
    for number, city in enumerate(("austin1", "chicago2", "tyrol-w3", "vienna4")):
        tile, mask = np.zeros((1000, 1000, 3), np.uint8), np.zeros((1000, 1000), np.uint8)
        for patch in range(10):  # patch k of the second row has k rows of buildings, the first none
            start = 64 * patch
            tile[64:128, start : start + 64] = 50 * number + patch
            mask[64 : 64 + patch, start : start + 64] = 255
        Image.fromarray(tile).save(train / "images" / f"{city}.tif")
        Image.fromarray(mask).save(train / "gt" / f"{city}.tif")
    data = load_images("aerial", folder)
    assert [len(part.y) for part in data[1:]] == [14, 4, 9]
    np.testing.assert_array_equal(data.test.y, 64 * np.arange(1, 10))
    np.testing.assert_array_equal(data.test.x[:, 30, 30], 100 + np.arange(1, 10)[:, None].repeat(3, 1))
    np.testing.assert_array_equal(data.train.x[:, 30, 30, 0] % 50, data.train.y / 64)
    both = np.sort(np.concatenate([data.train.y, data.validation.y]))
    np.testing.assert_array_equal(both, np.repeat(64 * np.arange(1, 10), 2))
    assert data.test.shifted is not None
    assert data.test.shifted.all()


def write_appa_real(folder: Path) -> dict[str, pandas.DataFrame]:
    release = folder / "appa-real-release"
    rng = np.random.default_rng(0)
    votes = {}
    for split, num in (("train", 30), ("valid", 4), ("test", 5)):
        (release / split).mkdir(parents=True)
        names = [f"{number:06d}.jpg" for number in range(num)]
        rows = [(name, age) for name in names for age in rng.integers(20, 60, 38)]
        votes[split] = table = pandas.DataFrame(rows, columns=["file_name", "apparent_age"])
        table["real_age"], table["worker_age"], table["worker_gender"] = 30, 40, "female"
        table.to_csv(release / f"gt_{split}.csv", index=False)
        groups = table.groupby("file_name")["apparent_age"]
        summary = groups.agg(num_ratings="size", apparent_age_avg="mean", apparent_age_std="std")
        summary.assign(real_age=30).reset_index().to_csv(release / f"gt_avg_{split}.csv", index=False)
        for number, name in enumerate(names):
            face = np.full((90, 70, 3), 4 * number, np.uint8)
            Image.fromarray(face).save(release / split / f"{name}_face.jpg")
    return votes


def test_appa_real(folder: Path) -> None:
    votes = write_appa_real(folder)
    data = load_images("appa-real", folder)
    assert data.test.shifted is None
    for split, part in zip(("train", "valid", "test"), data[1:], strict=True):
        assert part.x.shape == (len(part.y), 128, 128, 3)
        np.testing.assert_allclose(part.x[:, 60, 60, 0], 4 * np.arange(len(part.y)), atol=1)
        ages = votes[split]["apparent_age"].to_numpy().reshape(-1, 38)
        np.testing.assert_allclose(part.mean, ages.mean(axis=1))
        np.testing.assert_allclose(part.noise_std, ages.std(axis=1, ddof=1))
        assert (ages == part.y[:, None]).any(axis=1).all()  # the target is one of the guesses
    assert data.train.mean is not None
    standard = (data.train.y - data.train.mean) / data.train.noise_std
    assert 0.6 < standard.std() < 1.4


def test_a_table_without_a_column(folder: Path) -> None:
    write_appa_real(folder)
    path = folder / "appa-real-release" / "gt_avg_test.csv"
    path.write_text("file_name,real_age\n000000.jpg,30\n")
    with pytest.raises(ValueError, match=r"gt_avg_test.csv must be a CSV file with the columns file_n"):
        load_images("appa-real", folder)


def test_a_picture_without_a_guess(folder: Path) -> None:
    votes = write_appa_real(folder)["valid"]
    path = folder / "appa-real-release" / "gt_valid.csv"
    votes[votes["file_name"] != "000002.jpg"].to_csv(path, index=False)
    with pytest.raises(ValueError, match=r"gt_valid.csv must have a guess .* It lacks 000002.jpg"):
        load_images("appa-real", folder)
