"""Parts of interrupted work: a changed bit is refused, and so is other work."""

import numpy as np
import pytest

from vebnn.serialization.arrays import checksum, pack_arrays, read_part, write_part
from vebnn.serialization.files import write_bytes

ARRAYS = {
    "weights": np.arange(6, dtype=np.float32).reshape(2, 3),
    "count": np.array(3),
    "none": np.zeros((0, 2)),
}


@pytest.fixture
def path(tmp_path):
    write_part(tmp_path / "one.part", ARRAYS, "mine")
    return tmp_path / "one.part"


def test_arrays_come_back(path) -> None:
    again = read_part(path, "mine", "part")
    assert again.keys() == ARRAYS.keys()
    for name, array in ARRAYS.items():
        np.testing.assert_array_equal(again[name], array)
        assert (again[name].dtype, again[name].shape) == (array.dtype, array.shape)


def test_any_flipped_bit_is_refused(path) -> None:
    whole = path.read_bytes()
    for position in range(8 * len(whole)):
        content = bytearray(whole)
        content[position // 8] ^= 1 << position % 8
        path.write_bytes(content)
        try:
            again = read_part(path, "mine", "part")
        except ValueError as error:
            assert "Delete the f" in str(error)  # noqa: PT017
        else:
            # Spaces at the end of the header carry no content.
            assert all(np.array_equal(again[name], array) for name, array in ARRAYS.items())
            assert again.keys() == ARRAYS.keys()


def test_a_flipped_bit_in_the_data_is_named(path) -> None:
    content = bytearray(path.read_bytes())
    content[-3] ^= 1
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"one.part is damaged. Delete the file to compute it again"):
        read_part(path, "mine", "part")


@pytest.mark.parametrize("size", [0, 5, 100, -1])
def test_truncated_files_are_refused(path, size) -> None:
    path.write_bytes(path.read_bytes()[:size])
    with pytest.raises(ValueError, match="is damaged"):
        read_part(path, "mine", "part")


def test_other_work_is_refused(path) -> None:
    with pytest.raises(ValueError, match=r"one.part was made with other data.* Delete the folder"):
        read_part(path, "yours", "part")


def test_files_of_the_version_before_are_refused_in_one_sentence(path) -> None:
    write_bytes(path, pack_arrays(ARRAYS, {"fingerprint": "mine"}))
    with pytest.raises(ValueError, match=r"or version of vebnn. Delete the folder"):
        read_part(path, "mine", "part")


@pytest.mark.parametrize(
    "other",
    [
        {"a": np.zeros(2, np.int32)},
        {"a": np.zeros((2, 1), np.float32)},
        {"b": np.zeros(2, np.float32)},
        {"a": np.array([0, -0.0], np.float32)},
        {},
    ],
)
def test_checksum_sees_names_shapes_dtypes_and_bits(other) -> None:
    assert checksum("", other) != checksum("", {"a": np.zeros(2, np.float32)})
    assert checksum("", other) != checksum("x", other)
