import os
import pickle
from pathlib import Path

import numpy as np
import pandas
import pytest

from vebnn.datasets.plasticity import (
    SAMPLE_FOLDER,
    Plasticity,
    load_original_plasticity,
    load_plasticity,
)

# Read before any test changes it.
REAL_FOLDER = os.environ.get("VEBNN_DATA", "")


@pytest.fixture(autouse=True)
def _nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("VEBNN_DATA", raising=False)


@pytest.fixture
def arrays(rng: np.random.Generator) -> dict[str, np.ndarray]:
    return {
        "strain": rng.standard_normal((4, 5, 3)).astype(np.float32),
        "stress": rng.standard_normal((4, 5, 3)).astype(np.float32),
        "test_strain": rng.standard_normal((2, 5, 3)).astype(np.float32),
        "test_stress": rng.standard_normal((2, 3, 5, 3)).astype(np.float32),
    }


def save(folder: Path, arrays: dict[str, np.ndarray], material: int = 1) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    np.savez(folder / f"material_{material}.npz", **arrays)
    return folder


def test_truth_is_mean_and_std_over_elements(arrays: dict[str, np.ndarray], tmp_path: Path) -> None:
    data = load_plasticity(2, save(tmp_path, arrays, 2))
    np.testing.assert_array_equal(data.strain, arrays["strain"])
    np.testing.assert_array_equal(data.stress, arrays["stress"])
    np.testing.assert_array_equal(data.test_strain, arrays["test_strain"])
    three = arrays["test_stress"][1, :, 4, 2].astype(float)
    mean = three.sum() / 3
    assert data.test_mean[1, 4, 2] == pytest.approx(mean)
    assert data.test_std[1, 4, 2] == pytest.approx(np.sqrt(((three - mean) ** 2).sum() / 2))
    assert data.units == {"strain": "1", "stress": "MPa"}
    assert data.source == tmp_path / "material_2.npz"


def test_folder_of_the_variable_comes_before_the_sample(
    arrays: dict[str, np.ndarray], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save(tmp_path / "plasticity", arrays)
    monkeypatch.setenv("VEBNN_DATA", str(tmp_path))
    assert load_plasticity(1).source == tmp_path / "plasticity" / "material_1.npz"
    assert load_plasticity(2).source.parent == SAMPLE_FOLDER
    assert load_plasticity(1, SAMPLE_FOLDER).source.parent == SAMPLE_FOLDER


def relative_noise(data: Plasticity) -> float:
    return float(np.sqrt(np.mean(data.test_std**2) / np.mean(data.test_mean**2)))


def test_sample_in_the_package() -> None:
    sizes = [path.stat().st_size for path in SAMPLE_FOLDER.glob("*.npz")]
    assert len(sizes) == 2
    assert sum(sizes) <= 2_000_000
    one, two = load_plasticity(1), load_plasticity(2)
    for data in (one, two):
        assert data.strain.shape == data.stress.shape == (100, 100, 3)
        assert data.test_strain.shape == (10, 100, 3)
        assert np.abs(data.strain).max() < 0.06
    # Smaller elements scatter more; both had the same paths.
    np.testing.assert_array_equal(one.strain, two.strain)
    assert 1.3 < relative_noise(two) / relative_noise(one) < 2.1


@pytest.mark.parametrize(("material", "noise"), [(1, 0.079), (2, 0.131)])
def test_the_real_files(material: int, noise: float) -> None:
    folder = Path(REAL_FOLDER) / "plasticity"
    if not REAL_FOLDER or not (folder / f"material_{material}.npz").is_file():
        pytest.skip("VEBNN_DATA has no plasticity data")
    data = load_plasticity(material, folder)
    assert data.strain.shape == (1000, 100, 3)
    assert data.test_std.shape == (100, 100, 3)
    assert relative_noise(data) == pytest.approx(noise, rel=0.02)


@pytest.mark.parametrize("material", [0, 3, "1", None])
def test_unknown_material(material: object) -> None:
    with pytest.raises(ValueError, match=r"`material` must be 1 or 2. Got"):
        load_plasticity(material)


def test_missing_file_says_how_to_make_it(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="vebnn simulate plasticity --material 2 --out"):
        load_plasticity(2, tmp_path)


def test_damaged_files(arrays: dict[str, np.ndarray], tmp_path: Path) -> None:
    path = save(tmp_path, arrays) / "material_1.npz"
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(ValueError, match=r"material_1.npz is damaged"):
        load_plasticity(1, tmp_path)
    del arrays["stress"]
    save(tmp_path, arrays)
    with pytest.raises(ValueError, match="is damaged or not from"):
        load_plasticity(1, tmp_path)


def test_arrays_of_objects_are_not_unpickled(arrays: dict[str, np.ndarray], tmp_path: Path) -> None:
    arrays["stress"] = np.array([os.system], object)
    with pytest.raises(ValueError, match="is damaged"):
        load_plasticity(1, save(tmp_path, arrays))


@pytest.mark.parametrize(
    ("name", "change", "words"),
    [
        ("stress", lambda a: a[:, :-1], r"The stress in .* \(4, 4, 3\) and \(4, 5, 3\)"),
        ("test_stress", lambda a: a[..., :2], "The mean of the test stress"),
        ("test_stress", lambda a: a[:, :1], "at least 2 elements"),
        ("test_stress", lambda a: a[:, 0], "at least 2 elements"),
        ("strain", lambda a: a * np.float32(np.nan), "must be finite everywhere"),
    ],
)
def test_wrong_contents(
    name: str, change, words: str, arrays: dict[str, np.ndarray], tmp_path: Path
) -> None:
    arrays[name] = change(arrays[name])
    with pytest.raises(ValueError, match=words):
        load_plasticity(1, save(tmp_path, arrays))


def tensors(components: np.ndarray) -> list[np.ndarray]:
    """Return what the original files hold, (steps, 2, 2) each, from components 11, 22, 12."""
    xx, yy, xy = np.moveaxis(components, -1, 0)
    return list(np.stack([np.stack([xx, xy], -1), np.stack([xy, yy], -1)], -2))


def pickled(path: Path, **columns: list[np.ndarray]) -> Path:
    frame = pandas.DataFrame(
        {name: pandas.Series(cells, dtype=object) for name, cells in columns.items()}
    )
    frame["path_seed"] = np.arange(len(frame))
    frame.columns = pandas.Index(list(frame.columns), dtype=object)
    frame.index = pandas.Index(np.arange(len(frame)) * 3)
    path.write_bytes(pickle.dumps(frame, 4))
    return path


@pytest.mark.parametrize("spread", ["stress_std", "stress_var"])
@pytest.mark.parametrize("unloaded_start", [False, True])
def test_original_files(
    spread: str, unloaded_start: bool, arrays: dict[str, np.ndarray], tmp_path: Path
) -> None:
    strain, stress = arrays["strain"].astype(float), arrays["stress"].astype(float)
    std = stress**2 + 0.1

    def cells(values: np.ndarray) -> list[np.ndarray]:
        start = np.zeros_like(values[:, :1])
        return tensors(np.concatenate([start, values], 1) if unloaded_start else values)

    train = pickled(tmp_path / "train.pickle", strain=cells(strain), stress=cells(stress))
    spreads = {spread: cells(std if spread == "stress_std" else std**2)}
    truth = pickled(
        tmp_path / "truth.pickle", strain_mean=cells(strain), stress_mean=cells(stress), **spreads
    )
    data = load_original_plasticity(train, truth)
    np.testing.assert_array_equal(data.strain, strain)
    np.testing.assert_array_equal(data.stress, stress)
    np.testing.assert_array_equal(data.test_strain, strain)
    np.testing.assert_array_equal(data.test_mean, stress)
    np.testing.assert_allclose(data.test_std, std)


def test_a_folder_may_have_the_original_files(arrays: dict[str, np.ndarray], tmp_path: Path) -> None:
    strain, stress = tensors(arrays["strain"]), tensors(arrays["stress"])
    with pytest.raises(FileNotFoundError, match=r"material_2_training_dataset\.pickle and mat"):
        load_plasticity(2, tmp_path)
    pickled(tmp_path / "material_2_training_dataset.pickle", strain=strain, stress=stress)
    spread = {"stress_std": [abs(one) for one in stress]}
    truth = tmp_path / "material_2_testing_dataset.pickle"
    pickled(truth, strain_mean=strain, stress_mean=stress, **spread)
    data = load_plasticity(2, tmp_path)
    np.testing.assert_array_equal(data.stress, arrays["stress"])
    assert data.source.name == "material_2_training_dataset.pickle"


def test_original_files_without_their_columns(arrays: dict[str, np.ndarray], tmp_path: Path) -> None:
    cells = tensors(arrays["strain"])
    train = pickled(tmp_path / "train.pickle", strain=cells, stress=cells)
    with pytest.raises(ValueError, match=r"has no column 'strain_mean'; it has strain, stress"):
        load_original_plasticity(train, train)
    flat = pickled(tmp_path / "flat.pickle", strain=[one[:, 0] for one in cells], stress=cells)
    with pytest.raises(ValueError, match=r"'strain' of .* must hold arrays of shape \(steps, 2, 2\)"):
        load_original_plasticity(flat, train)
