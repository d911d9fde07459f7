import hashlib
import os
from pathlib import Path

import numpy as np
import pytest

from vebnn.datasets import uci
from vebnn.datasets.uci import load_uci
from vebnn.datasets.uci_catalogue import SOURCES, Source

# Read before any test changes it.
REAL_FOLDER = os.environ.get("VEBNN_DATA", "")

# (rows, inputs, targets) as in the headings of the paper's tables.
SHAPES = {
    "boston": (506, 13, 1),
    "carbon": (10721, 5, 3),
    "concrete": (1030, 8, 1),
    "energy": (768, 8, 2),
    "power": (9568, 4, 1),
    "superconduct": (21263, 81, 1),
    "wine-red": (1599, 11, 1),
    "yacht": (308, 6, 1),
}


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the path of a file that stands for a data set of three rows, two inputs, two targets."""
    content = b"1 2 3 4\n5 6 7 8\n9 10 11 12 \n\n"
    digest = hashlib.sha256(content).hexdigest()
    source = Source("small", 3, ("a", "b"), ("c", "d"), digest)
    monkeypatch.setitem(uci.SOURCES, "small", source)
    monkeypatch.setenv("VEBNN_DATA", str(tmp_path))
    path = tmp_path / "uci" / "small" / "data.txt"
    path.parent.mkdir(parents=True)
    path.write_bytes(content)
    return path


def test_sizes_are_those_of_the_paper() -> None:
    known = {
        name: (source.num_rows, len(source.feature_names), len(source.target_names))
        for name, source in SOURCES.items()
    }
    assert known == SHAPES


@pytest.mark.parametrize("name", SHAPES)
def test_every_file_has_a_checksum(name: str) -> None:
    assert len(bytes.fromhex(SOURCES[name].sha256)) == 32


@pytest.mark.parametrize("name", SHAPES)
def test_names_are_unique(name: str) -> None:
    names = SOURCES[name].feature_names + SOURCES[name].target_names
    assert len(set(names)) == len(names)


def test_two_targets_stay_two(small: Path) -> None:
    data = load_uci("small")
    np.testing.assert_array_equal(data.X, [[1, 2], [5, 6], [9, 10]])
    np.testing.assert_array_equal(data.y, [[3, 4], [7, 8], [11, 12]])
    assert data.feature_names == ("a", "b")
    assert data.target_names == ("c", "d")


def test_one_target_is_one_dimensional(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one = SOURCES["small"]._replace(feature_names=("a", "b", "c"), target_names=("d",))
    monkeypatch.setitem(uci.SOURCES, "small", one)
    np.testing.assert_array_equal(load_uci("small").y, [4, 8, 12])


def test_another_file_is_refused(small: Path) -> None:
    small.write_bytes(b"1 2 3 4\n5 6 7 8\n9 10 11 13\n")
    with pytest.raises(ValueError, match=r"is not the small set .* SHA-256"):
        load_uci("small")


def test_a_file_must_have_the_size_of_the_catalogue(
    small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(uci.SOURCES, "small", SOURCES["small"]._replace(num_rows=4))
    with pytest.raises(ValueError, match=r"must hold 4 rows of 4 numbers\. Got a table of 3 by 4"):
        load_uci("small")


def test_without_the_variable_the_sentence_says_what_to_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("VEBNN_DATA", raising=False)
    with pytest.raises(FileNotFoundError) as caught:
        load_uci("power")
    sentence = str(caught.value)
    assert "VEBNN_DATA is not set" in sentence
    assert "data/UCI_Datasets/power-plant/data/data.txt" in sentence
    assert str(Path("uci/power/data.txt")) in sentence
    assert "\n" not in sentence


def test_without_the_file_the_sentence_says_where_it_was_looked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VEBNN_DATA", str(tmp_path))
    with pytest.raises(FileNotFoundError, match="does not exist") as caught:
        load_uci("yacht")
    assert str(tmp_path / "uci" / "yacht" / "data.txt") in str(caught.value)


def test_unknown_names_are_refused() -> None:
    with pytest.raises(ValueError, match=r"The `name` must be one of 'boston'.* Got 'iris'"):
        load_uci("iris")


@pytest.mark.parametrize("name", SHAPES)
def test_the_real_files(name: str) -> None:
    if not (Path(REAL_FOLDER) / "uci" / name / "data.txt").is_file() or not REAL_FOLDER:
        pytest.skip(f"VEBNN_DATA has no uci/{name}/data.txt")
    data = load_uci(name)
    rows, inputs, targets = SHAPES[name]
    assert data.X.shape == (rows, inputs)
    assert data.y.shape == ((rows,) if targets == 1 else (rows, targets))
    assert np.isfinite(data.X).all()
    assert np.isfinite(data.y).all()


@pytest.mark.parametrize(
    ("name", "column", "low", "high"),
    [
        ("boston", "rooms", 3, 9),
        ("boston", "charles_river", 0, 1),
        ("carbon", "chiral_index_n", 2, 12),
        ("concrete", "age", 1, 365),
        ("concrete", "water", 100, 260),
        ("energy", "orientation", 2, 5),
        ("energy", "overall_height", 3.5, 7),
        ("power", "ambient_pressure", 990, 1040),
        ("wine-red", "ph", 2.5, 4.1),
        ("wine-red", "alcohol", 8, 15),
        ("yacht", "froude_number", 0.12, 0.46),
    ],
)
def test_columns_mean_what_they_are_called(name: str, column: str, low: float, high: float) -> None:
    if not Path(REAL_FOLDER, "uci", name, "data.txt").exists():
        pytest.skip(f"VEBNN_DATA has no uci/{name}/data.txt")
    data = load_uci(name)
    values = data.X[:, data.feature_names.index(column)]
    assert low <= values.min() < values.max() <= high
