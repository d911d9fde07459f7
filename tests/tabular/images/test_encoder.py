"""Rows that name image files become bytes, all of one size, and nothing else."""

import json
from pathlib import Path

import numpy as np
import pandas
import pytest
from PIL import Image

from tests.support.discs import SIDE, disc, write_discs
from vebnn.tabular.encoder import TableEncoder
from vebnn.tabular.errors import TableError
from vebnn.tabular.images.encoder import ImageEncoder
from vebnn.tabular.images.folder import ImageFolder
from vebnn.tabular.plan import plan_table


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "discs"


@pytest.fixture
def labels(folder: Path) -> pandas.DataFrame:
    return write_discs(folder, 12)


def learn(labels: pandas.DataFrame, folder: Path, *targets: str, **options) -> ImageEncoder:
    return ImageEncoder.fit(labels, targets or ["radius"], ImageFolder(folder, **options))[0]


def save(folder: Path, name: str, height: int, width: int, *, colour: bool = False) -> None:
    shape = (height, width, 3) if colour else (height, width)
    Image.fromarray(np.full(shape, 200, np.uint8)).save(folder / name)


def test_bytes_are_those_of_the_files(labels: pandas.DataFrame, folder: Path) -> None:
    encoder, notices = ImageEncoder.fit(labels, ["radius"], ImageFolder(folder))
    assert notices == ("Left out, because only images are used: 'operator'.",)
    assert encoder.column.summary == "16 × 16 pixels, grey"
    assert encoder.identifiers == ("file",)
    encoded = encoder.encode(labels)
    assert encoded.notices == ()
    assert encoded.matrix.dtype == np.uint8
    assert encoded.matrix.shape == (12, SIDE, SIDE, 1)
    for name, pixels in zip(labels["file"], encoded.matrix, strict=True):
        np.testing.assert_array_equal(pixels[..., 0], np.asarray(Image.open(folder / name)))
    np.testing.assert_array_equal(encoded.observed[:, 0], labels["radius"])
    mask = np.arange(12) % 2 == 0
    np.testing.assert_array_equal(encoded.take(mask), encoded.matrix[::2])


def test_equal_images_have_equal_fingerprints(labels: pandas.DataFrame, folder: Path) -> None:
    for name in labels["file"][:2]:
        Image.fromarray(disc(4, 250)).save(folder / name)
    encoded = learn(labels, folder).encode(labels)
    inputs, rows = encoded.input_fingerprints(), encoded.fingerprints()
    assert inputs[0] == inputs[1]
    assert rows[0] != rows[1]  # another radius
    assert len(set(rows)) == 12


def test_equal_images_stay_together(labels: pandas.DataFrame, folder: Path) -> None:
    for name in labels["file"][3:6]:
        Image.fromarray(disc(4, 250)).save(folder / name)
    plan = plan_table(labels, ["radius"], images=ImageFolder(folder))
    assert len(set(plan.groups.of_rows[3:6])) == 1
    assert plan.groups.num_repeats == 3
    assert any("3 rows have the inputs of another row" in one for one in plan.notices)
    held_out = np.isin([3, 4, 5], plan.held_out)
    assert held_out.all() or not held_out.any()


def test_groups_of_images(labels: pandas.DataFrame, folder: Path) -> None:
    labels["plate"] = np.repeat(["a", "b", "c"], 4)
    plan = plan_table(labels, ["radius"], images=ImageFolder(folder), group="plate")
    assert len(set(labels["plate"].iloc[plan.held_out])) == 1
    assert not any("'plate'" in one for one in plan.notices)  # it is used, though it is no input
    with pytest.raises(TableError, match="Images are the only inputs"):
        plan_table(labels, ["radius"], images=ImageFolder(folder), categorical=["plate"])


def test_several_targets(labels: pandas.DataFrame, folder: Path) -> None:
    labels["area"] = np.pi * labels["radius"] ** 2
    encoded = learn(labels, folder, "radius", "area").encode(labels)
    np.testing.assert_array_equal(encoded.observed, labels[["radius", "area"]])


@pytest.mark.parametrize(
    ("sizes", "asked", "found"),
    [
        ([(20, 30), (20, 30)], None, (20, 30)),  # one size that is small stays
        ([(20, 30), (16, 16)], None, (30, 30)),  # several sizes: the longer side of the first
        ([(90, 70), (90, 70)], None, (64, 64)),  # large
        ([(90, 70), (16, 16)], 80, (80, 80)),  # as asked
    ],
)
def test_common_size(sizes, asked, found, tmp_path: Path) -> None:
    names = [f"{number}.png" for number in range(len(sizes))]
    for name, size in zip(names, sizes, strict=True):
        save(tmp_path, name, *size)
    table = pandas.DataFrame({"name": names, "y": [1.0, 2.0]})
    encoder = learn(table, tmp_path, "y", size=asked)
    encoded = encoder.encode(table)
    assert encoded.matrix.shape == (2, *found, 1)
    assert (encoded.matrix == 200).all()  # resizing keeps what is the same everywhere
    assert bool(encoded.notices) == (set(sizes) != {found})


def test_resizing_is_said_aloud(labels: pandas.DataFrame, folder: Path) -> None:
    plan = plan_table(labels, ["radius"], images=ImageFolder(folder, size=8))
    assert "file: 12 images resized from 16 × 16 to 8 × 8 pixels." in plan.notices
    save(folder, "disc_00.png", 20, 20)
    (said,) = learn(labels, folder, size=8).encode(labels).notices
    assert said == "file: 12 images resized from various sizes to 8 × 8 pixels."


def test_grey_images_for_a_model_of_colours(labels: pandas.DataFrame, folder: Path) -> None:
    grey = learn(labels, folder)
    save(folder, "disc_00.png", SIDE, SIDE, colour=True)
    colours = learn(labels, folder)
    assert colours.column.summary == "16 × 16 pixels, colour"
    pixels = colours.encode(labels.iloc[1:]).matrix
    assert pixels.shape == (11, SIDE, SIDE, 3)
    np.testing.assert_array_equal(pixels[..., :1], grey.encode(labels.iloc[1:]).matrix)
    np.testing.assert_array_equal(pixels[..., 0], pixels[..., 2])
    with pytest.raises(
        TableError, match=r"grey images, but 1 image of 12 have colours, first .*00.png"
    ):
        grey.encode(labels)


def test_description_does_not_name_the_folder(labels: pandas.DataFrame, folder: Path) -> None:
    encoder = learn(labels, folder)
    text = json.dumps(encoder.describe())
    assert str(folder) not in text
    again = ImageEncoder.from_description(json.loads(text))
    assert again == encoder
    moved = folder.rename(folder.with_name("moved"))
    there = again.reading(moved).encode(labels)
    assert there.matrix.shape == (12, SIDE, SIDE, 1)
    with pytest.raises(KeyError):
        TableEncoder.from_description(json.loads(text))


def test_names_may_have_folders_and_look_like_numbers(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    for name in ("a/1.png", "a/2.png"):
        save(tmp_path, name, 8, 8)
    (tmp_path / "a" / "1.png").rename(tmp_path / "007")
    table = pandas.DataFrame({"image": ["007", "a/2.png"], "y": [1.0, 2.0]})
    assert learn(table, tmp_path, "y").encode(table).matrix.shape == (2, 8, 8, 1)


def test_table_of_a_folder(labels: pandas.DataFrame, folder: Path) -> None:
    (folder / "notes.txt").write_text("no image")
    save(folder, "b.TIF", 8, 8)
    names = list(ImageFolder(folder).table_of_files("file")["file"])
    assert names == ["b.TIF", *labels["file"]]
    empty = folder / "empty"
    empty.mkdir()
    with pytest.raises(TableError, match=r"holds no image: no file ends in \.png"):
        ImageFolder(empty).table_of_files("file")


def complaint(labels: pandas.DataFrame, folder: Path, *targets: str, **options) -> str:
    with pytest.raises(TableError) as caught:
        plan_table(labels, targets or ["radius"], images=ImageFolder(folder, **options))
    return str(caught.value)


def test_missing_files_are_counted(labels: pandas.DataFrame, folder: Path) -> None:
    for name in labels["file"][4:7]:
        (folder / name).unlink()
    assert complaint(labels, folder) == (
        f"The folder {folder} lacks 3 images of 12, first 'disc_04.png' of row 5. Add the files, or "
        f"delete the rows."
    )


def test_broken_files_are_counted(labels: pandas.DataFrame, folder: Path) -> None:
    (folder / "disc_02.png").write_bytes(b"\x89PNG")
    (folder / "disc_07.png").write_text("text")
    said = complaint(labels, folder)
    assert said.startswith("2 images of 12 cannot be used; this is the first. The image ")
    assert "disc_02.png" in said


def test_truncated_file(labels: pandas.DataFrame, folder: Path) -> None:
    path = folder / "disc_03.png"
    path.write_bytes(path.read_bytes()[:60])
    with pytest.raises(ValueError, match=r"disc_03\.png is broken"):
        plan_table(labels, ["radius"], images=ImageFolder(folder))


def test_row_without_a_name(labels: pandas.DataFrame, folder: Path) -> None:
    labels.loc[2, "file"] = None
    assert "names no image in 1 row, first in row 3" in complaint(labels, folder)


def test_column_of_file_names(labels: pandas.DataFrame, folder: Path) -> None:
    other = folder.with_name("other")
    other.mkdir()
    said = complaint(labels, other)
    assert said.startswith(f"No column names files in {other}. The columns are 'file', 'radius'")
    labels["second"] = labels["file"]
    said = complaint(labels, folder)
    assert said.startswith(f"The columns 'file', 'second' all name files in {folder}. Choose one")
    assert learn(labels, folder, column="second").identifiers == ("second",)
    assert "no column 'third' for --image-column" in complaint(labels, folder, column="third")
    assert "is a target" in complaint(labels, folder, column="radius")


def test_folder_size_and_targets_are_checked(labels: pandas.DataFrame, folder: Path) -> None:
    with pytest.raises(TableError, match=r"There is no folder .*nowhere of images"):
        ImageFolder(folder / "nowhere")
    with pytest.raises(ValueError, match="--image-size"):
        ImageFolder(folder, size=0)
    assert "must hold numbers" in complaint(labels, folder, "operator")
    with pytest.raises(TableError, match="At least one target"):
        plan_table(labels, [], images=ImageFolder(folder))
